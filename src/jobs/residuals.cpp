#include "residuals.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "retrace/character/builder.h"
#include "retrace/character/segments.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/filter.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/gait_cycles.h"
#include "retrace/recordings/bvh.h"

namespace retrace::runs {
namespace {

using Supports = std::vector<std::vector<metrics::SupportForce>>;

/// Residuals that a simulation can do with, by Hicks et al. 2015: the force as a share of the largest one from outside,
/// and the moment as a share of that times the height of the center of mass.
constexpr double kGoodForce = 0.05;
constexpr double kGoodMoment = 0.01;

/// Poses at which nothing presses but what was measured.
std::vector<bool> KnownPoses(const Job& job, const ForceEstimate& estimate, bool measured) {
  const size_t poses = job.reference().poses().size();
  std::vector<bool> known(poses, true);
  if (!measured) return known;
  const double carries = metrics::kFootLoaded * job.character().total_mass() * kStandardGravity;
  const int feet[] = {character::BodyOfSegment(job.character(), "left_foot"),
                      character::BodyOfSegment(job.character(), "right_foot")};
  for (size_t i = 0; i < poses; ++i) {
    known[i] = i < estimate.measured->valid.size() && estimate.measured->valid[i];
    const auto at = std::min(i == 0 ? 0 : i - 1, estimate.motion.size() - 1);
    for (const metrics::SupportForce& support : estimate.motion[at].support) {
      const bool foot = support.body == feet[0] || support.body == feet[1];
      if (!foot && support.force.y() > carries) known[i] = false;
    }
  }
  return known;
}

std::string Sizes(const kinetics::ResidualSizes& sizes, double weight) {
  return io::Fixed(sizes.force, 1) + " N (" + io::Fixed(100 * sizes.force / weight, 1) + " % of body weight) and " +
         io::Fixed(sizes.moment, 1) + " N m";
}

/// "12 mm forward, 3 mm up": a shift along axes to the left, up and to the front.
std::string Shift(const Vec3& shift) {
  constexpr const char* kNames[3][2] = {{"to the left", "to the right"}, {"up", "down"}, {"forward", "back"}};
  std::string text;
  for (const int axis : {2, 1, 0}) {
    const double millimeters = 1000 * shift[axis];
    if (std::abs(millimeters) < 0.5) continue;
    text.append(text.empty() ? "" : ", ").append(io::Fixed(std::abs(millimeters), 0)).append(" mm ");
    text.append(kNames[axis][millimeters > 0 ? 0 : 1]);
  }
  return text.empty() ? "not" : text;
}

void AddNotes(const Job& job, const kinetics::ReducedResiduals& reduced, const Supports& supports, bool measured,
              ForceEstimate& estimate) {
  const double weight = job.character().total_mass() * kStandardGravity;
  estimate.notes.push_back(
      "residuals of " + Sizes(reduced.before, weight) + " are reduced to " + Sizes(reduced.after, weight) +
      ", root mean square; the largest of " + io::Fixed(reduced.before.most_force, 0) + " N and " +
      io::Fixed(reduced.before.most_moment, 0) + " N m to " + io::Fixed(reduced.after.most_force, 0) + " N and " +
      io::Fixed(reduced.after.most_moment, 0) + " N m");
  const kinetics::BodyChange largest = reduced.Largest();
  std::string changes = "for that, no body moves by more than " + io::Fixed(1000 * largest.most_place, 1) + " mm and " +
                        io::Fixed(Degrees(largest.most_turn), 1) + " degrees";
  if (measured) {
    changes += "; the mass becomes " + io::Fixed(reduced.character->total_mass(), 1) + " instead of " +
               io::Fixed(job.character().total_mass(), 1) + " kg, and the center of the trunk moves " +
               Shift(reduced.trunk);
  }
  estimate.notes.push_back(std::move(changes));
  double most = 0, height = 0;
  for (size_t i = 0; i < supports.size(); ++i) {
    Vec3 sum = Vec3::Zero();
    for (const metrics::SupportForce& support : supports[i]) sum += support.force;
    most = std::max(most, sum.norm());
  }
  for (const metrics::RequiredForces& instant : estimate.motion) {
    height += instant.center_of_mass.y() / static_cast<double>(estimate.motion.size());
  }
  const bool small =
      reduced.after.most_force <= kGoodForce * most && reduced.after.most_moment <= kGoodMoment * most * height;
  if (!small) {
    estimate.notes.push_back(
        "what is left exceeds what Hicks et al. (2015) allow at some instant: " + io::Fixed(kGoodForce * most, 0) +
        " N and " + io::Fixed(kGoodMoment * most * height, 0) + " N m here");
  }
  if (!reduced.bounded) return;
  if (small) {
    estimate.notes.emplace_back("some of these changes are at their bounds");
  } else {
    estimate.warnings.emplace_back(
        "residuals could be smaller only by changes beyond their bounds: motion and forces do not fit, by more than "
        "errors of markers and masses explain");
  }
}

io::Json SizesToJson(const kinetics::ResidualSizes& sizes) {
  return {{"force", sizes.force},
          {"moment", sizes.moment},
          {"largest_force", sizes.most_force},
          {"largest_moment", sizes.most_moment}};
}

}  // namespace

Supports Smoothed(const Supports& supports, double deviation, double frame_time) {
  constexpr double kLeast = 20;  // less has no center [N]
  const auto poses = static_cast<Eigen::Index>(supports.size());
  std::vector<int> bodies;
  for (const auto& of_pose : supports) {
    for (const metrics::SupportForce& support : of_pose) {
      if (std::find(bodies.begin(), bodies.end(), support.body) == bodies.end()) bodies.push_back(support.body);
    }
  }
  Supports smoothed(supports.size());
  for (const int body : bodies) {
    // Force, height and x and z of the center times the vertical force, and the moment about the vertical axis.
    Eigen::MatrixXd loads = Eigen::MatrixXd::Zero(poses, 7);
    for (Eigen::Index i = 0; i < poses; ++i) {
      for (const metrics::SupportForce& support : supports[static_cast<size_t>(i)]) {
        if (support.body != body) continue;
        const double up = support.force.y();
        loads.row(i) += (Eigen::Matrix<double, 1, 7>() << support.force.transpose(), up * support.center.transpose(),
                         support.free_moment + support.center.cross(support.force).y())
                            .finished();
      }
    }
    loads = GaussianSmooth(loads, deviation / frame_time);
    for (Eigen::Index i = 0; i < poses; ++i) {
      if (!(loads(i, 1) > kLeast)) continue;
      metrics::SupportForce support;
      support.body = body;
      support.force = loads.row(i).head<3>().transpose();
      support.center = loads.row(i).segment<3>(3).transpose() / loads(i, 1);
      support.free_moment = loads(i, 6) - support.center.cross(support.force).y();
      smoothed[static_cast<size_t>(i)].push_back(support);
    }
  }
  return smoothed;
}

void ReduceResiduals(const Job& job, const Supports& supports, bool measured, ForceEstimate& estimate) {
  kinetics::ResidualReductionOptions how;
  how.gravity = job.configuration.task.world.gravity;
  how.masses = measured;
  const std::vector<bool> known = KnownPoses(job, estimate, measured);
  constexpr std::ptrdiff_t kFewest = 5;
  if (std::count(known.begin(), known.end(), true) < kFewest) {
    throw InputError(job.options.measured.string(), "no time at which all that carries is on plates",
                     "some, to reduce residuals");
  }
  estimate.reduced = kinetics::ReduceResiduals(job.reference(), supports, known, how);
  AddNotes(job, *estimate.reduced, supports, measured, estimate);
}

void WriteResiduals(results::RunFolder& folder, const Job& job, const ForceEstimate& estimate) {
  if (!estimate.reduced) return;
  const kinetics::ReducedResiduals& reduced = *estimate.reduced;
  io::CsvWriter over_time;
  over_time.Text("time");
  for (const char* kind : {"force", "moment"}) {
    for (const char* axis : {"x", "y", "z"}) over_time.Text(std::string(kind) + "_" + axis);
  }
  for (const char* kind : {"reduced_force", "reduced_moment"}) {
    for (const char* axis : {"x", "y", "z"}) over_time.Text(std::string(kind) + "_" + axis);
  }
  over_time.EndRow();
  for (Eigen::Index i = 0; i < reduced.residuals.rows(); ++i) {
    const auto row = reduced.residuals.row(i);
    if (row.isZero(0)) continue;
    over_time.Short(static_cast<double>(i) * job.reference().frame_time());
    for (const double value : row) over_time.Short(value);
    over_time.EndRow();
  }
  folder.Write(results::kResidualsFile, over_time.Take());
  io::CsvWriter changes;
  for (const char* name : {"body", "place", "largest_place", "turn", "largest_turn"}) changes.Text(name);
  changes.EndRow();
  for (size_t b = 0; b < reduced.bodies.size(); ++b) {
    const kinetics::BodyChange& change = reduced.bodies[b];
    changes.Text(job.character().bodies[b].name);
    for (const double value : {change.place, change.most_place, change.turn, change.most_turn}) changes.Short(value);
    changes.EndRow();
  }
  folder.Write(results::kResidualChangesFile, changes.Take());
  folder.Write(
      results::kReducedMotionFile,
      motion::FormatBvh(character::ClipOf(*reduced.character, reduced.motion->poses(), reduced.motion->frame_time())));
  folder.Write(results::kReducedCharacterFile, character::FormatCharacter(*reduced.character));
}

io::Json ResidualsToJson(const kinetics::ReducedResiduals& reduced) {
  const kinetics::BodyChange largest = reduced.Largest();
  return {{"before", SizesToJson(reduced.before)},
          {"after", SizesToJson(reduced.after)},
          {"mass", reduced.character->total_mass()},
          {"trunk_shift", {reduced.trunk.x(), reduced.trunk.y(), reduced.trunk.z()}},
          {"largest_place", largest.most_place},
          {"largest_turn", largest.most_turn},
          {"bounded", reduced.bounded}};
}

}  // namespace retrace::runs
