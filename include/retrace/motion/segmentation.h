/// Where a motion falls into parts: swings of a limb, contacts made and broken. The boundaries place the knots of a
/// control schedule. Inputs are plain samples at a constant rate, the first one at time 0; every result is a list of
/// times [s], sorted ascending. All functions throw UsageError for options or inputs that make no sense.
#pragma once

#include <Eigen/Core>
#include <vector>

namespace retrace::motion {

/// Options of the kinematic centroid segmentation.
struct CentroidSegmentationOptions {
  /// A limb that strays less than this from where its segment began has not swung at all: noise and sway. [m], > 0.
  double min_distance = 0.05;
  /// A maximum of the distance counts once the distance has fallen this much below it; a smaller dip on the way out
  /// is noise. 0 takes every local maximum, as the paper does. [m], >= 0.
  double min_drop = 0.01;
};

/// Kinematic centroid segmentation (Jenkins and Mataric, "Automated derivation of behavior vocabularies for autonomous
/// humanoid motion", AAMAS 2003, section 3): a limb is taken for a pendulum, and a segment is one of its swings.
///
///   1. A segment starts at frame s (at first, s = 0).
///   2. d(t) = | c(t) - c(s) | is how far the centroid has gone at each later frame t.
///   3. The segment ends at the first local maximum of d that is at least `min_distance` and from which d then falls by
///      `min_drop`. (d is zero at s, so that the first extremum that matters is a maximum; where several frames share
///      the maximum, it is the first of them.)
///   4. The next segment starts there, until no such maximum is left.
///
/// `centroid` (frames x 3) is the path of the limb's centroid relative to its base [m]: the mean of the positions of
/// the limb's joints minus the position of the shoulder or hip, best in the frame of the trunk. The result holds the
/// inner boundaries only, neither the start of the motion nor its end.
std::vector<double> CentroidBoundaries(const Eigen::MatrixX3d& centroid, double frame_time,
                                       const CentroidSegmentationOptions& options = {});

/// Options of the detection of contacts. Thresholds on height and speed are those of Lee et al. 2002 ("Interactive
/// control of avatars animated with human motion data", section 3.1), with hysteresis (a Schmitt trigger) against
/// flicker about one threshold.
struct ContactOptions {
  double enter_height = 0.04;  ///< contact begins below this height above the floor [m]
  double leave_height = 0.07;  ///< and ends above this one [m], >= enter_height
  double enter_speed = 0.4;    ///< contact begins below this speed [m/s], > 0
  double leave_speed = 0.8;    ///< and ends above this one [m/s], >= enter_speed
  double min_duration = 0.05;  ///< contacts and gaps shorter than this are flicker and are filled in [s], >= 0
};

/// Whether a point of the body is in contact at each frame: it enters contact when it is both low and slow, and leaves
/// it when it is either high or fast. `height` [m] and `speed` [m/s] have one value for each frame.
std::vector<bool> DetectContact(const Eigen::VectorXd& height, const Eigen::VectorXd& speed, double frame_time,
                                const ContactOptions& options = {});

/// Flips the runs of equal flags that last less than `min_duration` [s], the shortest first and of equally short ones
/// the earliest. The runs at both ends stay: how long they last is not known.
std::vector<bool> FillShortRuns(const std::vector<bool>& flags, double frame_time, double min_duration);

/// Times at which a flag changes: halfway between the two frames.
std::vector<double> SwitchTimes(const std::vector<bool>& flags, double frame_time);

/// Options of the merge of boundaries from several sources.
struct MergeOptions {
  double min_gap = 0.1;  ///< no two boundaries, nor a boundary and an end of the motion, are closer than this [s], > 0
  double start = 0;      ///< of the motion [s]
  double end = 0;        ///< of the motion [s], >= start
};

/// One list from several, in which boundaries closer than the minimum gap have become one. The most reliable
/// source comes first: a boundary is kept, unchanged, unless an earlier source, or an earlier time of the same one, or
/// an end of the motion, already has one closer than `min_gap`. The ends themselves are not in the result.
std::vector<double> MergeBoundaries(const std::vector<std::vector<double>>& sources, const MergeOptions& options);

}  // namespace retrace::motion
