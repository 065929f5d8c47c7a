#include "retrace/jobs/tracked_baseline.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "retrace/character/kinematics.h"
#include "retrace/math/filter.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/planning/viability/replayed_control.h"

namespace retrace::runs {
namespace {

constexpr double kBeforeFall = 0.3;  // [s]
/// Standard deviation of the Gaussian over what targets differ from the reference by: torques jump where feet come and
/// go, and the targets would with them.
constexpr double kSmoothing = 0.03;    // [s]
constexpr double kLargestAngle = 0.8;  // between a target and its pose [rad]

/// The rotation from a joint's pose to the target at which its servo gives a torque, in the parent's axes.
Vec3 Lead(const character::Joint& joint, const Vec3& torque, const Vec3& rate) {
  Vec3 lead = Vec3::Zero();
  for (int a = 0; a < 3; ++a) {
    const double strength = joint.strength_scale[a];
    if (joint.UsesAxis(a) && joint.kp * strength > 0) lead[a] = (torque[a] / strength + joint.kd * rate[a]) / joint.kp;
  }
  const double angle = lead.norm();
  return joint.FromAxes(angle > kLargestAngle ? Vec3(lead * (kLargestAngle / angle)) : lead);
}

/// For how long the torques of a tracked motion are worth something [s].
double Usable(const Tracking& tracked) {
  const metrics::Gate* const left = tracked.evaluation.FirstViolated();
  double usable = tracked.summary.control.duration();
  if (left != nullptr) usable = std::min(usable, left->first_violation);
  return tracked.success() ? usable : usable - kBeforeFall;
}

/// The rotations from the joints' poses to the targets at which servos give what inverse dynamics of the recording
/// requires, with contacts of the whole body, in the parent's axes. (poses, joints)
std::vector<std::vector<Vec3>> RequiredLeads(const Job& job) {
  const character::Character& character = job.character();
  const character::ReferenceMotion& reference = job.reference();
  std::vector<std::vector<Vec3>> leads(reference.poses().size(),
                                       std::vector<Vec3>(character.joints.size(), Vec3::Zero()));
  metrics::RequiredForcesOptions options;
  options.gravity = job.configuration.task.world.gravity;
  options.environment = job.configuration.task.world.environment;
  const std::vector<metrics::RequiredForces> required = metrics::RequiredForcesOf(reference, options);
  if (required.empty()) return leads;
  character::State state;
  for (size_t f = 0; f < leads.size(); ++f) {
    const metrics::RequiredForces& instant = required[std::min(f == 0 ? 0 : f - 1, required.size() - 1)];
    reference.StateAt(static_cast<double>(f) * reference.frame_time(), state);
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const character::Joint& joint = character.joints[j];
      leads[f][j] =
          Lead(joint, joint.PerAxis(instant.torques[j]), joint.PerAxis(character::RelativeRate(joint, state)));
    }
  }
  return leads;
}

}  // namespace

character::ReferenceMotion BaselineOf(const Job& job, const control::OpenLoopControl& control, double usable) {
  const character::Character& character = job.character();
  std::vector<character::Pose> poses = job.reference().poses();
  const double frame_time = job.reference().frame_time();
  const size_t joints = character.joints.size();
  std::vector<std::vector<Vec3>> leads(poses.size(), std::vector<Vec3>(joints, Vec3::Zero()));
  std::vector<character::Pose> tracked_poses = poses;
  std::vector<double> counts(poses.size(), 0);
  ReplayInParts(*job.prepared, control, {}, [&](const control::Trajectory& part) {
    for (size_t i = 0; i < part.num_steps(); ++i) {
      const double time = part.TimeOf(i + 1);
      const auto frame = static_cast<size_t>(std::lround(time / frame_time));
      if (time > usable || frame >= poses.size()) continue;
      const character::State& state = part.states[i + 1];
      for (size_t j = 0; j < character.joints.size(); ++j) {
        const character::Joint& joint = character.joints[j];
        leads[frame][j] += Lead(joint, part.torques[i][j], joint.PerAxis(character::RelativeRate(joint, state)));
      }
      character::PoseOf(character, state, tracked_poses[frame]);
      ++counts[frame];
    }
  });
  const std::vector<std::vector<Vec3>> required = RequiredLeads(job);
  Eigen::MatrixXd turns =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(poses.size()), static_cast<Eigen::Index>(3 * joints));
  const auto turn = [&](size_t f, size_t j) {
    return turns.block<1, 3>(static_cast<Eigen::Index>(f), static_cast<Eigen::Index>(3 * j));
  };
  for (size_t f = 0; f < poses.size(); ++f) {
    for (size_t j = 0; j < joints; ++j) {
      const Vec3 lead = counts[f] == 0 ? required[f][j] : Vec3(leads[f][j] / counts[f]);
      const Quat target = FromRotationVector(lead) * tracked_poses[f].joint_rotations[j];
      turn(f, j) = RotationVector(target * poses[f].joint_rotations[j].conjugate());
    }
  }
  turns = GaussianSmooth(turns, kSmoothing / frame_time);
  for (size_t f = 0; f < poses.size(); ++f) {
    for (size_t j = 0; j < joints; ++j) {
      Quat& target = poses[f].joint_rotations[j];
      target = (FromRotationVector(Vec3(turn(f, j).transpose())) * target).normalized();
    }
  }
  return job.reference().WithPoses(std::move(poses));
}

Job WithBaseline(Job job, int threads, const HybridHooks& hooks) {
  if (!job.LacksBaseline()) return job;
  job.tracked = std::make_shared<const Tracking>(Track(job, {}, {}, threads));
  if (job.configuration.run.method == Method::kAuto && job.tracked->suffices()) return job;
  const double tracked = Usable(*job.tracked);
  if (!job.tracked->suffices() && CanBeHybrid(*job.prepared, job.configuration)) {
    job.hybrid = std::make_shared<const HybridControl>(FindHybrid(*job.prepared, job.configuration, threads, hooks));
    const double found = job.hybrid->control.duration() - (job.hybrid->reached_end ? 0 : kBeforeFall);
    if (found > tracked) {
      job.SetBaseline(BaselineOf(job, job.hybrid->control, found));
      return job;
    }
  }
  job.SetBaseline(BaselineOf(job, job.tracked->summary.control, tracked));
  return job;
}

}  // namespace retrace::runs
