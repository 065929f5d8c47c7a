#include "changes.h"

#include <algorithm>
#include <cmath>

#include "retrace/character/kinematics.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/required_forces.h"

namespace retrace::repair {
namespace {

// What is less counts as no change.
constexpr double kNoTime = 0.02;    // logarithm of the speed of play
constexpr double kNoShift = 0.005;  // [m]
const double kNoTurn = Radians(1);

Change ChangeOf(const std::vector<double>& sizes, double frame_time) {
  Change change;
  double sum = 0;
  for (size_t k = 0; k < sizes.size(); ++k) {
    sum += sizes[k] * sizes[k];
    if (sizes[k] <= change.largest) continue;
    change.largest = sizes[k];
    change.at = static_cast<double>(k) * frame_time;
  }
  if (!sizes.empty()) change.rms = std::sqrt(sum / static_cast<double>(sizes.size()));
  return change;
}

double LargestTurn(const character::Pose& a, const character::Pose& b) {
  double largest = 0;
  for (size_t j = 0; j < a.joint_rotations.size(); ++j) {
    largest = std::max(largest, AngleBetween(a.joint_rotations[j], b.joint_rotations[j]));
  }
  return largest;
}

/// Speeds of play (poses).
std::vector<double> SpeedsOf(const std::vector<double>& instants, double frame_time) {
  std::vector<double> speeds(instants.size(), 1);
  for (size_t k = 0; k < instants.size() && instants.size() > 1; ++k) {
    const size_t before = k > 0 ? k - 1 : k, after = std::min(k + 1, instants.size() - 1);
    speeds[k] = (instants[after] - instants[before]) / (static_cast<double>(after - before) * frame_time);
  }
  return speeds;
}

/// The pose of the repaired motion that shows an instant of the reference.
size_t PoseOfInstant(const std::vector<double>& instants, double instant) {
  const auto next = std::lower_bound(instants.begin(), instants.end(), instant);
  return std::min(static_cast<size_t>(next - instants.begin()), instants.size() - 1);
}

FlightMomentum MomentumOf(const Course& course, size_t first, size_t last) {
  const auto part =
      course.momentum.middleRows(static_cast<Eigen::Index>(first), static_cast<Eigen::Index>(last - first + 1));
  const Eigen::RowVector3d mean = part.colwise().mean();
  const double h = course.frame_time;
  return {{static_cast<double>(first) * h, static_cast<double>(last) * h},
          mean.norm(),
          (part.rowwise() - mean).rowwise().norm().maxCoeff()};
}

std::string TextOf(const Missing& missing) {
  return io::Fixed(missing.force, 2) + " of the weight and a moment of " + io::Fixed(missing.moment, 3) + " m by it";
}

io::Json ToJson(const Missing& missing) {
  return {{"force", missing.force}, {"moment", missing.moment}};
}

std::string Seconds(double time) {
  return io::Fixed(time, 2) + " s";
}

io::Json ToJson(const Change& change) {
  return {{"largest", change.largest}, {"at", change.at}, {"rms", change.rms}};
}

io::Json ListOf(const std::vector<Finding>& findings) {
  io::Json list = io::Json::array();
  for (const Finding& finding : findings) list.push_back(finding.ToJson());
  return list;
}

}  // namespace

Missing MissingOf(const character::ReferenceMotion& reference, double gravity) {
  Missing missing;
  if (gravity <= 0) return missing;
  const std::vector<metrics::RequiredForces> required = metrics::RequiredForcesOf(reference, {.gravity = gravity});
  const double share = 1 / (reference.character().total_mass() * gravity * static_cast<double>(required.size()));
  for (const metrics::RequiredForces& forces : required) {
    missing.force += share * forces.missing_force.norm();
    missing.moment += share * forces.missing_moment.norm();
  }
  return missing;
}

void MeasureChanges(const character::ReferenceMotion& reference, const std::vector<Flight>& flights, double gravity,
                    Repair& repair) {
  const double h = reference.frame_time();
  const size_t count = repair.poses.size();
  repair.duration = static_cast<double>(count - 1) * h;
  std::vector<double> times, shifts, turns;
  const std::vector<double> speeds = SpeedsOf(repair.instants, h);
  const auto [slowest, fastest] = std::minmax_element(speeds.begin(), speeds.end());
  repair.slowest = *slowest;
  repair.fastest = *fastest;
  for (const double speed : speeds) times.push_back(std::abs(std::log(speed)));
  std::vector<bool> changed;
  for (size_t k = 0; k < count; ++k) {
    shifts.push_back((repair.poses[k].root_position - repair.recorded[k].root_position).norm());
    turns.push_back(LargestTurn(repair.poses[k], repair.recorded[k]));
    changed.push_back(times[k] > kNoTime || shifts[k] > kNoShift || turns[k] > kNoTurn);
  }
  repair.time = ChangeOf(times, h);
  repair.root = ChangeOf(shifts, h);
  repair.joint = ChangeOf(turns, h);
  repair.intervals = metrics::Stretches(changed, h);
  const Course after = MeasureCourse(reference.character(), repair.poses, h);
  character::State recorded;
  for (size_t k = 0; k < count; ++k) {
    repair.heights.push_back(after.center(static_cast<Eigen::Index>(k), 1));
    character::ForwardKinematics(reference.character(), repair.recorded[k], recorded);
    repair.recorded_heights.push_back(character::CenterOfMass(reference.character(), recorded).y());
  }
  for (const Flight& flight : flights) {
    if (!FallsOtherwise(flight, gravity, h)) continue;
    const size_t first = PoseOfInstant(repair.instants, static_cast<double>(flight.first) * h);
    const size_t last = PoseOfInstant(repair.instants, static_cast<double>(flight.last) * h);
    repair.flights.push_back(MomentumOf(after, first, std::max(first, last)));
  }
  repair.missing_before = MissingOf(reference, gravity);
}

std::vector<std::string> Repair::Notes() const {
  std::vector<std::string> notes;
  if (found.empty()) {
    notes.emplace_back("nothing to repair: the motion stays as recorded");
    return notes;
  }
  for (const Finding& finding : found) notes.push_back("as recorded, " + finding.Text());
  std::string note = "repaired: " + io::Fixed(duration, 2);
  note.append(" s of ").append(io::Fixed(duration_before, 2)).append(" s, played at ");
  note.append(io::Fixed(slowest, 2)).append(" to ").append(io::Fixed(fastest, 2)).append(" times its speed (RMS ");
  note.append(io::Fixed(100 * (std::exp(time.rms) - 1), 1)).append(" %)");
  notes.push_back(note);
  note = "the body is shifted by up to " + io::Fixed(root.largest, 3);
  note.append(" m (at ").append(Seconds(root.at)).append("; RMS ").append(io::Fixed(root.rms, 3));
  note.append(" m), joints are turned by up to ").append(io::Fixed(Degrees(joint.largest), 1));
  note.append(" degrees (at ").append(Seconds(joint.at)).append("; RMS ");
  notes.push_back(note.append(io::Fixed(Degrees(joint.rms), 1)).append(")"));
  if (!intervals.empty()) {
    note = "changed:";
    for (const metrics::Interval& interval : intervals) {
      note.append(&interval == &intervals.front() ? " " : ", ").append(io::Fixed(interval.start, 2));
      note.append(" to ").append(Seconds(interval.end));
    }
    notes.push_back(note);
  }
  for (const FlightMomentum& flight : flights) {
    note = "in the flight from " + io::Fixed(flight.interval.start, 2);
    note.append(" to ").append(Seconds(flight.interval.end)).append(" angular momentum is ");
    note.append(io::Fixed(flight.momentum, 1)).append(" kg m2/s in the mean and strays by up to ");
    notes.push_back(note.append(io::Fixed(flight.deviation, 1)));
  }
  note = "in the mean the ground cannot supply " + TextOf(missing_before);
  notes.push_back(note.append(" as recorded, ").append(TextOf(missing)).append(" as repaired"));
  for (const Finding& finding : left) notes.push_back("still there, on the new clock: " + finding.Text());
  return notes;
}

io::Json Repair::ToJson() const {
  io::Json json = {{"found", ListOf(found)}, {"changed", changed}};
  if (!changed) return json;
  json["left"] = ListOf(left);
  json["duration_before"] = duration_before;
  json["duration"] = duration;
  json["slowest"] = slowest;
  json["fastest"] = fastest;
  json["log_speed"] = repair::ToJson(time);
  json["root_shift"] = repair::ToJson(root);
  json["joint_angle"] = repair::ToJson(joint);
  json["intervals"] = io::Json::array();
  for (const metrics::Interval& interval : intervals) json["intervals"].push_back({interval.start, interval.end});
  json["missing_before"] = repair::ToJson(missing_before);
  json["missing"] = repair::ToJson(missing);
  json["flights"] = io::Json::array();
  for (const FlightMomentum& flight : flights) {
    json["flights"].push_back({{"start", flight.interval.start},
                               {"end", flight.interval.end},
                               {"angular_momentum", flight.momentum},
                               {"deviation", flight.deviation}});
  }
  json["label"] = "the reference is kinematic and was repaired: gates compare with it, and not with the recording";
  return json;
}

std::string FormatRepair(const Repair& repair, double frame_time) {
  io::CsvWriter csv;
  for (const char* column :
       {"time", "recorded_time", "speed", "height", "recorded_height", "root_x", "root_y", "root_z", "joint"}) {
    csv.Text(column);
  }
  csv.EndRow();
  const std::vector<double> speeds = SpeedsOf(repair.instants, frame_time);
  for (size_t k = 0; k < repair.heights.size(); ++k) {
    csv.Number(static_cast<double>(k) * frame_time);
    csv.Number(repair.instants[k]);
    for (const double number : {speeds[k], repair.heights[k], repair.recorded_heights[k]}) csv.Short(number);
    const Vec3 shift = repair.poses[k].root_position - repair.recorded[k].root_position;
    for (const double number : shift) csv.Short(number);
    csv.Short(LargestTurn(repair.poses[k], repair.recorded[k]));
    csv.EndRow();
  }
  return csv.Take();
}

}  // namespace retrace::repair
