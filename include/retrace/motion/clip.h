/// A recorded motion as it is in its file: a tree of joints and a pose per frame. Nothing is interpreted here: lengths
/// are in the file's unit and axes are the file's axes.
#pragma once

#include <string>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::motion {

/// A joint, or the end of a chain. Parents come before children; the root's parent is -1.
struct Joint {
  std::string name;
  int parent = -1;
  Vec3 offset = Vec3::Zero();  ///< from the parent joint, in the parent's frame at rest [file units]
  bool end_site = false;       ///< the tip of a chain: it has a position but no rotation of its own
};

struct Skeleton {
  std::vector<Joint> joints;

  /// Index of the joint of that name (end sites excluded), or -1.
  int Find(const std::string& name) const;
};

/// Local transforms of one frame: joint j of the skeleton is at `translations[j]` in its parent's frame, and turned by
/// `rotations[j]` relative to it. At rest every rotation is the identity and every translation the joint's offset.
struct Frame {
  std::vector<Vec3> translations;  ///< (joints) [file units]
  std::vector<Quat> rotations;     ///< (joints)
};

/// The mass that a file states for what a joint moves.
struct StatedMass {
  double mass = 0;              ///< [kg]; 0: none
  Vec3 center = Vec3::Zero();   ///< from the joint, in its frame [file units]
  Mat3 inertia = Mat3::Zero();  ///< about the center, in the joint's frame [kg file units^2]
};

struct Clip {
  Skeleton skeleton;
  double frame_time = 0;         ///< [s]
  bool frame_time_known = true;  ///< false when the format has no rate and the default was taken (AMC: 1/120 s)
  double unit = 0;               ///< meters per file unit where the file states it (ASF), 0 where it does not (BVH)
  std::vector<Frame> frames;
  double start_time = 0;            ///< of the first frame, by the clock of the file [s]
  std::vector<StatedMass> masses;   ///< (joints) where the file states them (OpenSim), else empty
  std::vector<std::string> notes;   ///< what was chosen or added in reading, as sentences
  std::vector<std::string> doubts;  ///< what in the file is doubtful or contradicts itself, as sentences
  /// Names of the people in the file where there are several; else none. Of what has a name of its own, people are
  /// those with at least a third as many joints or markers as the largest.
  std::vector<std::string> performers;

  double duration() const { return frames.empty() ? 0.0 : static_cast<double>(frames.size() - 1) * frame_time; }
};

/// World positions and orientations of all joints in one frame.
struct GlobalPose {
  std::vector<Vec3> positions;     ///< (joints) [file units]
  std::vector<Quat> orientations;  ///< (joints)
};
void ForwardKinematics(const Skeleton& skeleton, const Frame& frame, GlobalPose& pose);

/// The mirror image of a recording, in which all is named as before: the file's x axis is reversed. It corrects one
/// that was written in left-handed axes.
Clip Mirrored(Clip clip);

}  // namespace retrace::motion
