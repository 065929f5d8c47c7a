/// Motions of the body models SMPL, SMPL-H and SMPL-X as archives of arrays (NPZ): AMASS, and tools that turn video
/// into motion.
///
/// Arrays by name, the first that is there; T frames, J joints:
///  - all joints: `poses`, `pose`, `smpl_poses`, `fullpose`, `full_pose`, `pose_world`, `poses_world`; or apart, the
///  root:
///    `root_orient`, `global_orient`, `smpl_root`, and the others: `pose_body`, `body_pose`. J with the root is 22, 24
///    (SMPL), 52 (SMPL-H) or 55 (SMPL-X). Rotations relative to the parent joint: T x 3J or T x J x 3 are rotation
///    vectors; T x J x 3 x 3 or T x 9J matrices, row by row; T x J x 6 or T x 6J the first two columns of a matrix, one
///    column after the other or row by row (told apart by which columns are of length 1 and square). A dimension before
///    T is of several people, named 1, 2, ...; one of a length of 1 does not matter.
///  - position of the body: `trans`, `transl`, `translation`, `trans_world`, `smpl_trans`, `root_trans` (T x 3) [m];
///  may be
///    missing, then the body stays in one place
///  - frames per second: `mocap_framerate`, `mocap_frame_rate`, `fps`, `frame_rate`, `framerate`; else 30
///  - joints at rest: `rest_joints`, `joints_rest` (J x 3) [m]; may be missing
/// Other arrays are not looked at. One of these names that is not of numbers, or damaged, is an error, and so are two
/// rates that differ.
///
/// An archive with `mocap_framerate` or `mocap_frame_rate` is one of AMASS, whose z axis points up. In others that axis
/// does along which the trunk lies in the mean. What is returned has y up.
///
/// The bones are those between the joints at rest. Without these the skeleton is the mean one of SMPL, whatever shape
/// (`betas`) the archive gives: the model that turns shapes into joints is not ours to copy. Fingers, jaw and eyes are
/// left out.
#pragma once

#include <string>
#include <string_view>

#include "retrace/motion/clip.h"
#include "retrace/recordings/choice.h"

namespace retrace::recordings {

/// The skeleton: meters, x to the left, y up, z forward, arms stretched out to the sides.
/// @param has_hands whether the hands turn (SMPL), or are ends (the other models, and 22 joints)
motion::Skeleton SmplSkeleton(bool has_hands);

/// `name` stands for the archive in messages. Throws InputError with the array, what was found and what was expected;
/// UsageError for a performer that is not there.
/// @param names of arrays that the archive calls otherwise
motion::Clip ParseSmpl(std::string_view bytes, const std::string& name, const Choice& choice = {},
                       const NameMap& names = {});

}  // namespace retrace::recordings
