/// Files of key poses, between which `idle` moves.
///
///     {"format": "retrace-keys", "version": 1,
///      "keys": [{"name": "upright",
///                "root": {"position": [0, 0.51, 0], "turns": [["x", -8]]},
///                "joints": {"left_hip": [["x", -84]], "left_knee": 82}},
///               {"name": "as_recorded", "clip": "sitting.bvh@2.5"}]}
///
/// A hinge has its angle, a ball joint its turns one after the other, each about an axis of the parent body, all in
/// degrees; joints that are not named are as at rest. A clip's pose is the recorded one on this character, at the
/// height that it was recorded at, its root over the origin, facing along z.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/methods/idling/key_pose.h"
#include "retrace/runs/inputs/inputs.h"

namespace retrace::runs {

inline constexpr size_t kMostKeyPoses = 100;  ///< of a file

/// Key poses, and the recordings that some of them are taken from.
struct KeyPoses {
  std::string description;
  std::vector<idling::KeyPose> poses;
  std::vector<InputRecord> clips;  ///< that were read, with the roles "key clip 1", "key clip 2" and so on
};

/// The roles of the file of key poses and of its recordings, counted from 1.
inline constexpr const char* kKeysRole = "keys";
std::string KeyClipRole(size_t number);

/// Recordings are looked for beside the file. Throws InputError with the position for what is no pose of the character,
/// and for an instant that a clip has not.
KeyPoses ParseKeyPoses(const InputFile& file, const character::Character& character);

}  // namespace retrace::runs
