#include "retrace/report/report.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <tuple>

#include "retrace/character/kinematics.h"
#include "retrace/io/base64.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/describe.h"
#include "retrace/io/error.h"
#include "retrace/io/xml.h"
#include "retrace/math/rotation.h"
#include "retrace/math/types.h"
#include "retrace/results/contact_tables.h"
#include "retrace/results/force_tables.h"
#include "retrace/results/provenance.h"

namespace retrace::report {
namespace {

static_assert(std::endian::native == std::endian::little, "the page reads little-endian arrays");

template <typename T>
constexpr const char* kTypeName = nullptr;
template <>
constexpr const char* kTypeName<float> = "f32";
template <>
constexpr const char* kTypeName<uint32_t> = "u32";
template <>
constexpr const char* kTypeName<uint16_t> = "u16";
template <>
constexpr const char* kTypeName<uint8_t> = "u8";

template <typename T>
io::Json Pack(const std::vector<T>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return {{"type", kTypeName<T>}, {"data", io::EncodeBase64(bytes)}};
}

/// Values that become a packed array of float32.
class Floats {
 public:
  void Add(double value) { values_.push_back(static_cast<float>(value)); }
  void Add(const Vec3& v) {
    for (int k = 0; k < 3; ++k) Add(v[k]);
  }
  void Add(const Quat& q) {
    Add(q.w());
    Add(Vec3(q.vec()));
  }
  void Add(const character::BodyState& body) {
    Add(body.position);
    Add(body.orientation);
  }
  size_t size() const { return values_.size(); }
  io::Json Packed() const { return Pack(values_); }

 private:
  std::vector<float> values_;
};

/// Steps from one instant of a grid to the next, so that there are at most `rate` per second.
size_t StrideOf(double time_step, double rate) {
  return static_cast<size_t>(std::max(1.0, std::ceil(1 / (time_step * rate) - 1e-9)));
}

io::Json ShapeToJson(const character::Shape& shape) {
  io::Json json;
  switch (shape.kind) {
    case character::Shape::Kind::kBox:
      json["kind"] = "box";
      json["size"] = io::ToJson(shape.size);
      break;
    case character::Shape::Kind::kCapsule:
      json["kind"] = "capsule";
      json["radius"] = shape.radius;
      json["length"] = shape.length;
      json["axis"] = shape.axis;
      break;
    case character::Shape::Kind::kMesh: {
      json["kind"] = "mesh";
      Floats vertices;
      for (const Vec3& vertex : shape.mesh.vertices) vertices.Add(vertex);
      std::vector<uint32_t> indices;
      for (const auto& triangle : shape.mesh.triangles) {
        for (const int index : triangle) indices.push_back(static_cast<uint32_t>(index));
      }
      json["vertices"] = vertices.Packed();
      json["triangles"] = Pack(indices);
      break;
    }
  }
  json["offset"] = io::ToJson(shape.offset);
  return json;
}

io::Json BodiesToJson(const character::Character& character) {
  io::Json bodies = io::Json::array();
  for (const character::Body& body : character.bodies) {
    io::Json shapes = io::Json::array();
    for (const character::Shape& shape : body.shapes) shapes.push_back(ShapeToJson(shape));
    bodies.push_back({{"name", body.name}, {"mass", body.mass}, {"shapes", shapes}});
  }
  return bodies;
}

io::Json JointsToJson(const character::Character& character) {
  io::Json joints = io::Json::array();
  for (const character::Joint& joint : character.joints) {
    io::Json axes = io::Json::array();
    for (int axis = 0; axis < 3; ++axis) {
      if (joint.UsesAxis(axis)) axes.push_back(io::kAxes[axis]);
    }
    joints.push_back({{"name", joint.name}, {"axes", axes}});
  }
  return joints;
}

/// The reference at an instant of a trajectory's grid, at rest.
character::State ReferenceState(const character::ReferenceMotion& reference, double time) {
  character::Pose pose;
  reference.PoseAt(time, pose);
  character::State state;
  character::ForwardKinematics(reference.character(), pose, state);
  return state;
}

void AddAngles(const character::Character& character, const character::State& state, Floats& angles) {
  for (const character::Joint& joint : character.joints) {
    const Vec3 rotation = RotationVector(character::JointRotation(joint, state));
    for (int axis = 0; axis < 3; ++axis) {
      if (joint.UsesAxis(axis)) angles.Add(rotation[axis]);
    }
  }
}

void AddFrame(const character::Character& character, const character::State& state, Floats& frames) {
  for (size_t body = 0; body < character.bodies.size(); ++body) frames.Add(state[body]);
}

/// A motion on the grids of the page: frames of all bodies, heights of root and centre of mass, joint angles.
class MotionRecord {
 public:
  explicit MotionRecord(const character::Character& character) : character_(character) {}
  void Frame(const character::State& state) { AddFrame(character_, state, frames_); }
  void Sample(const character::State& state) {
    root_.Add(state[static_cast<size_t>(character_.root)].position);
    center_.Add(character::CenterOfMass(character_, state));
    AddAngles(character_, state, angles_);
  }
  io::Json ToJson() const {
    return {{"frames", frames_.Packed()},
            {"root", root_.Packed()},
            {"center_of_mass", center_.Packed()},
            {"angles", angles_.Packed()}};
  }

 private:
  const character::Character& character_;
  Floats frames_;
  Floats root_;
  Floats center_;
  Floats angles_;
};

io::Json MotionToJson(const character::Character& character, const control::Trajectory& trajectory, size_t frame_stride,
                      size_t sample_stride) {
  MotionRecord record(character);
  for (size_t i = 0; i < trajectory.states.size(); i += frame_stride) record.Frame(trajectory.states[i]);
  for (size_t i = 0; i < trajectory.states.size(); i += sample_stride) record.Sample(trajectory.states[i]);
  io::Json json = record.ToJson();
  json["duration"] = static_cast<double>(trajectory.num_steps()) * trajectory.time_step;
  json["diverged"] = trajectory.diverged;
  return json;
}

io::Json ReferenceToJson(const character::ReferenceMotion& reference, double time_step, size_t steps,
                         size_t frame_stride, size_t sample_stride) {
  MotionRecord record(reference.character());
  const auto state = [&](size_t i) { return ReferenceState(reference, static_cast<double>(i) * time_step); };
  for (size_t i = 0; i <= steps; i += frame_stride) record.Frame(state(i));
  for (size_t i = 0; i <= steps; i += sample_stride) record.Sample(state(i));
  io::Json json = record.ToJson();
  json["duration"] = reference.duration();
  return json;
}

/// Sum of the ground's contact forces, as in trajectory.csv: one row per state.
io::Json GroundForceToJson(const control::Trajectory& trajectory) {
  Floats forces;
  for (size_t i = 0; i < trajectory.states.size(); ++i) {
    Vec3 force = Vec3::Zero();
    if (i > 0) {
      for (const simulation::Contact& contact : trajectory.contacts[i - 1]) {
        if (contact.other < 0) force += contact.force;
      }
    }
    forces.Add(force);
  }
  return forces.Packed();
}

io::Json TorquesToJson(const character::Character& character, const control::Trajectory& trajectory, size_t stride) {
  Floats torques;
  for (size_t i = 0; i < trajectory.states.size(); i += stride) {
    for (size_t j = 0; j < character.joints.size(); ++j) {
      for (int axis = 0; axis < 3; ++axis) {
        if (character.joints[j].UsesAxis(axis)) torques.Add(i == 0 ? 0 : trajectory.torques[i - 1][j][axis]);
      }
    }
  }
  return torques.Packed();
}

/// Per frame and touching body: the mean force from outside over the steps that led to the frame, and its place.
io::Json ArrowsToJson(const control::Trajectory& trajectory, size_t stride, size_t num_bodies) {
  std::vector<uint32_t> offsets = {0};
  std::vector<uint16_t> bodies;
  Floats points;
  Floats forces;
  for (size_t i = 0; i < trajectory.states.size(); i += stride) {
    std::vector<Vec3> force(num_bodies, Vec3::Zero());
    std::vector<Vec3> place(num_bodies, Vec3::Zero());
    std::vector<double> weight(num_bodies, 0);
    for (size_t step = i < stride ? i : i - stride; step < i; ++step) {
      for (const simulation::Contact& contact : trajectory.contacts[step]) {
        if (contact.other >= 0) continue;
        const auto body = static_cast<size_t>(contact.body);
        const double size = contact.force.norm();
        force[body] += contact.force;
        place[body] += size * contact.point;
        weight[body] += size;
      }
    }
    for (size_t body = 0; body < num_bodies; ++body) {
      if (!(weight[body] > 0)) continue;
      bodies.push_back(static_cast<uint16_t>(body));
      points.Add(Vec3(place[body] / weight[body]));
      forces.Add(Vec3(force[body] / static_cast<double>(stride)));
    }
    offsets.push_back(static_cast<uint32_t>(bodies.size()));
  }
  return {
      {"offsets", Pack(offsets)}, {"bodies", Pack(bodies)}, {"points", points.Packed()}, {"forces", forces.Packed()}};
}

/// Intervals in which something presses on a body from outside; gaps of less than 20 ms are chatter and closed.
io::Json TimelineToJson(const character::Character& character, const results::ContactHistory& history) {
  constexpr double kChatter = 0.02;
  const double h = history.time_step;
  io::Json timeline = io::Json::array();
  for (size_t body = 0; body < character.bodies.size(); ++body) {
    std::vector<std::pair<double, double>> intervals;
    double peak = 0;
    for (size_t step = 0; step < history.loads.size(); ++step) {
      const results::ContactLoad& load = history.loads[step][body];
      if (load.points == 0) continue;
      peak = std::max(peak, load.normal_force);
      const double start = static_cast<double>(step) * h;
      if (intervals.empty() || start - intervals.back().second > kChatter) intervals.emplace_back(start, start);
      intervals.back().second = start + h;
    }
    if (intervals.empty()) continue;
    timeline.push_back({{"body", character.bodies[body].name}, {"intervals", intervals}, {"peak_force", peak}});
  }
  return timeline;
}

/// Where the world's surface is at a place near which a body touches it.
double SurfaceAt(const simulation::Environment& environment, const Vec3& place, double touched) {
  constexpr double kNear = 0.15;  // a foot over an edge does not press on what is far below
  const double height = environment.HeightAt(place.x(), place.z(), touched + kNear);
  return std::abs(height - touched) < kNear ? height : touched;
}

/// The value that 2 % of some values exceed; 0 where there is none. It is the end of a scale of colours, which a few
/// peaks would otherwise make pale.
double UsualPeak(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(0.98 * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

/// Pressure left on the ground: squares in the world, each as the largest pressure so far, in the order of time. The
/// first offsets[frame + 1] of them are what is there at a frame; a square drawn later over an earlier one has more.
io::Json FootprintsToJson(const control::Trajectory& trajectory, const simulation::Environment& environment,
                          const results::ContactHistory& history, size_t stride, double side) {
  constexpr double kWorthShowing = 1.15;  // a square is drawn anew when its pressure has grown by so much
  std::map<std::tuple<size_t, long, long>, double> largest;
  std::vector<uint32_t> offsets = {0};
  Floats places;
  std::vector<double> pressures;
  size_t step = 0;
  for (size_t i = 0; i < trajectory.states.size(); i += stride) {
    for (; step < i; ++step) {
      for (const results::PressureCell& cell : history.cells[step]) {
        const auto body = static_cast<size_t>(cell.body);
        const character::BodyState& state = trajectory.states[step][body];
        const Vec3 place = state.position + state.orientation * cell.center;
        const long x = std::lround(place.x() / side);
        const long z = std::lround(place.z() / side);
        double& before = largest[{body, x, z}];
        if (cell.pressure < std::max(kWorthShowing * before, 1000.0)) continue;
        before = cell.pressure;
        const Vec3 square(static_cast<double>(x) * side, 0, static_cast<double>(z) * side);
        places.Add(Vec3(square.x(), SurfaceAt(environment, square, history.loads[step][body].center.y()), square.z()));
        pressures.push_back(cell.pressure);
      }
    }
    offsets.push_back(static_cast<uint32_t>(pressures.size()));
  }
  const std::vector<float> packed(pressures.begin(), pressures.end());
  return {{"side", side},
          {"offsets", Pack(offsets)},
          {"places", places.Packed()},
          {"pressures", Pack(packed)},
          {"usual_peak", UsualPeak(std::move(pressures))}};
}

io::Json WorldToJson(const character::Character& character, const simulation::WorldOptions& options,
                     const control::Trajectory& trajectory, size_t stride) {
  const simulation::Environment& environment = options.environment;
  const simulation::Layout layout(character, environment);
  io::Json json;
  json["gravity"] = options.gravity;
  json["ground"] = {{"present", environment.ground.present}, {"height", environment.ground.height}};
  json["boxes"] = io::Json::array();
  for (const simulation::Box& box : environment.boxes) {
    json["boxes"].push_back({{"name", box.name},
                             {"size", io::ToJson(box.size)},
                             {"position", io::ToJson(box.position)},
                             {"orientation", io::ToJson(box.orientation)},
                             {"moves", box.course.has_value()}});
  }
  if (environment.height_field) {
    const simulation::HeightField& field = *environment.height_field;
    Floats heights;
    for (const double height : field.heights) heights.Add(height);
    json["height_field"] = {{"name", field.name},
                            {"position", io::ToJson(field.position)},
                            {"orientation", io::ToJson(field.orientation)},
                            {"spacing", field.spacing},
                            {"columns", field.columns},
                            {"rows", field.rows},
                            {"heights", heights.Packed()}};
  }
  json["bodies"] = io::Json::array();
  for (const simulation::FreeBody& body : environment.bodies) {
    io::Json shapes = io::Json::array();
    for (const simulation::TurnedShape& turned : body.AllShapes()) {
      shapes.push_back(ShapeToJson(turned.shape));
      shapes.back()["orientation"] = io::ToJson(turned.orientation);
    }
    json["bodies"].push_back({{"name", body.name}, {"shapes", shapes}});
  }
  // Boxes on a course, then free bodies, per frame. A body that never moves has its place once, in still.
  Floats courses;
  std::vector<uint32_t> moving;
  Floats frames;
  Floats still;
  for (size_t k = 0; k < environment.bodies.size(); ++k) {
    const auto body = static_cast<size_t>(layout.FreeBody(k));
    const character::BodyState& first = trajectory.states.front()[body];
    still.Add(first);
    const bool moves = std::any_of(trajectory.states.begin(), trajectory.states.end(), [&](const auto& state) {
      return state[body].position != first.position || state[body].orientation.coeffs() != first.orientation.coeffs();
    });
    if (moves) moving.push_back(static_cast<uint32_t>(k));
  }
  for (size_t i = 0; i < trajectory.states.size(); i += stride) {
    for (const simulation::Box& box : environment.boxes) {
      if (box.course) {
        courses.Add(Vec3(box.position + box.course->At(static_cast<double>(i) * trajectory.time_step)));
      }
    }
    for (const uint32_t k : moving) frames.Add(trajectory.states[i][static_cast<size_t>(layout.FreeBody(k))]);
  }
  json["courses"] = courses.Packed();
  json["start"] = still.Packed();
  json["moving"] = Pack(moving);
  json["frames"] = frames.Packed();
  return json;
}

/// The root's path at the frames, so smooth that a camera can follow it: means over 0.8 s, of the height over 2.4 s, so
/// that a jump is seen as one. Towards the ends the intervals shrink about their frame.
std::vector<Vec3> CameraPath(const character::Character& character, const control::Trajectory& trajectory,
                             size_t stride) {
  std::vector<Vec3> places;
  for (size_t i = 0; i < trajectory.states.size(); i += stride) {
    places.push_back(trajectory.states[i][static_cast<size_t>(character.root)].position);
  }
  const double frame_time = static_cast<double>(stride) * trajectory.time_step;
  const std::array<double, 3> half_widths = {0.4, 1.2, 0.4};  // per axis [s]
  std::vector<Vec3> path(places.size());
  for (size_t i = 0; i < places.size(); ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      const auto half = static_cast<size_t>(std::lround(half_widths[static_cast<size_t>(axis)] / frame_time));
      const size_t width = std::min({half, i, places.size() - 1 - i});
      double sum = 0;
      for (size_t k = i - width; k <= i + width; ++k) sum += places[k][axis];
      path[i][axis] = sum / static_cast<double>(2 * width + 1);
    }
  }
  return path;
}

/// Horizontal unit vector from the start of a path to its end, or the way that the root faces at the start where the
/// path stays in place.
Vec3 TravelDirection(const std::vector<Vec3>& path, const Quat& facing) {
  constexpr double kInPlace = 0.5;  // [m]
  Vec3 way = path.back() - path.front();
  way.y() = 0;
  if (way.norm() >= kInPlace) return way.normalized();
  Vec3 forward = facing * Vec3::UnitZ();
  forward.y() = 0;
  return forward.norm() > 0 ? Vec3(forward.normalized()) : Vec3(Vec3::UnitZ());
}

/// The weight of the character in its world [N]: 0 where there is no gravity.
double WeightOf(const character::Character& character, const simulation::WorldOptions& world) {
  return character.total_mass() * std::abs(world.gravity);
}

/// Length of a force's arrow [m/N]: an arrow for the weight of a body 1.7 m high is 0.55 m long, and as long as on
/// Earth where there is no gravity.
double ArrowScale(const character::Character& character, const simulation::WorldOptions& world) {
  const double weight = WeightOf(character, world);
  return 0.55 * character.height / 1.7 / (weight > 0 ? weight : character.total_mass() * kStandardGravity);
}

/// Largest upward sum of the ground's contact forces in any step [N].
double PeakGroundForce(const control::Trajectory& trajectory) {
  double peak = 0;
  for (const std::vector<simulation::Contact>& contacts : trajectory.contacts) {
    double up = 0;
    for (const simulation::Contact& contact : contacts) {
      if (contact.other < 0) up += contact.force.y();
    }
    peak = std::max(peak, up);
  }
  return peak;
}

/// All samples as columns, and the chosen ones with their weighted terms.
io::Json CostsToJson(const results::CostTable& costs) {
  io::Json draws = io::Json::array();
  std::vector<float> totals;
  std::vector<uint8_t> flags;
  io::Json chosen = io::Json::array();
  for (const results::FragmentCosts& fragment : costs.fragments) {
    draws.push_back({{"fragment", fragment.fragment},
                     {"attempt", fragment.attempt},
                     {"start", fragment.start_time},
                     {"end", fragment.end_time},
                     {"first", totals.size()},
                     {"count", fragment.samples.size()}});
    for (const results::SampleCost& sample : fragment.samples) {
      totals.push_back(sample.diverged ? std::numeric_limits<float>::infinity() : static_cast<float>(sample.total));
      flags.push_back(static_cast<uint8_t>((sample.saved ? 1 : 0) | (sample.chosen ? 2 : 0)));
      if (!sample.chosen) continue;
      chosen.push_back({{"fragment", fragment.fragment},
                        {"attempt", fragment.attempt},
                        {"start", fragment.start_time},
                        {"end", fragment.end_time},
                        {"total", sample.total},
                        {"terms", sample.weighted}});
    }
  }
  return {
      {"terms", costs.terms}, {"draws", draws}, {"totals", Pack(totals)}, {"flags", Pack(flags)}, {"chosen", chosen}};
}

/// The quadratic programs of a tracked motion, column by column.
io::Json SolutionsToJson(const results::Table& table) {
  io::Json json = io::Json::object();
  for (const char* column : {"time", "contacts", "iterations", "squared_error", "slack", "largest_torque",
                             "vertical_force", "cpu_microseconds"}) {
    Floats values;
    for (const double value : table.Numbers(column)) values.Add(value);
    json[column] = values.Packed();
  }
  return json;
}

/// Forces on the feet with their band, and those that were measured where they are in the table, per part and
/// component. What is empty is not a number.
io::Json FootForcesToJson(const results::Table& table) {
  const std::string suffix = "_" + metrics::CutoffName(results::kTableCutoff);
  const auto packed = [&](const std::string& column) {
    Floats values;
    for (const std::string& cell : table.Text(column)) {
      double value = std::numeric_limits<double>::quiet_NaN();
      if (!cell.empty()) io::ReadText(io::Real{{-1e12, 1e12}}, cell, column, value);
      values.Add(value);
    }
    return values.Packed();
  };
  io::Json parts = io::Json::object();
  for (const char* part : {"total", "left", "right"}) {
    for (int c = 0; c < metrics::kForceComponents; ++c) {
      const std::string component = Name(static_cast<metrics::ForceComponent>(c));
      const std::string name = std::string(part) + "_" + component + suffix;
      io::Json& signal = parts[part][component];
      signal = {{"simulated", packed(name)}, {"least", packed(name + "_min")}, {"most", packed(name + "_max")}};
      if (table.Has(name + "_measured")) signal["measured"] = packed(name + "_measured");
    }
  }
  return {{"low_pass", results::kTableCutoff}, {"parts", parts}};
}

/// The members of a manifest that describe how a run was made; not on which machine.
io::Json SettingsOf(const io::Json& manifest) {
  io::Json settings = io::Json::object();
  if (!manifest.is_object()) return settings;
  for (const char* name :
       {"program", "status", "method", "tracking", "command", "seed", "clip", "inputs", "preparation", "solver",
        "world", "perturbed", "pushes", "characters", "cost", "forces", "configuration"}) {
    if (manifest.contains(name)) settings[name] = manifest[name];
  }
  if (manifest.contains("provenance") && manifest["provenance"].is_object()) {
    for (const char* name : {"version", "finished", "wall_seconds", "cpu_seconds"}) {
      if (manifest["provenance"].contains(name)) settings["provenance"][name] = manifest["provenance"][name];
    }
  }
  return settings;
}

}  // namespace

io::Json DescribeRun(const ReportRun& run, const ReportOptions& options) {
  const character::Character& character = *run.character;
  const control::Trajectory& trajectory = *run.trajectory;
  if (trajectory.contacts.size() < trajectory.num_steps() || trajectory.torques.size() < trajectory.num_steps()) {
    throw std::invalid_argument("a trajectory without the contacts and torques of every step");
  }
  const double h = trajectory.time_step;
  const size_t frame_stride = StrideOf(h, options.frame_rate);
  const size_t sample_stride = StrideOf(h, options.sample_rate);
  const results::ContactHistory history = results::TraceContacts(character, trajectory);
  io::Json json;
  json["kind"] = "run";
  json["name"] = run.name;
  json["notes"] = run.notes;
  json["time_step"] = h;
  json["steps"] = trajectory.num_steps();
  json["frame_steps"] = frame_stride;
  json["sample_steps"] = sample_stride;
  json["character"] = {{"name", character.name},           {"height", character.height},
                       {"mass", character.total_mass()},   {"weight", WeightOf(character, *run.world)},
                       {"root", character.root},           {"bodies", BodiesToJson(character)},
                       {"joints", JointsToJson(character)}};
  json["world"] = WorldToJson(character, *run.world, trajectory, frame_stride);
  json["simulated"] = MotionToJson(character, trajectory, frame_stride, sample_stride);
  if (run.reference != nullptr) {
    json["reference"] = ReferenceToJson(*run.reference, h, trajectory.num_steps(), frame_stride, sample_stride);
  }
  if (run.tracking != nullptr) {
    json["tracking"] = MotionToJson(character, *run.tracking, frame_stride, sample_stride);
    if (run.tracking_evaluation) json["tracking"]["evaluation"] = run.tracking_evaluation->ToJson();
  }
  if (run.evaluation) json["evaluation"] = run.evaluation->ToJson();
  json["ground_force"] = GroundForceToJson(trajectory);
  json["torques"] = TorquesToJson(character, trajectory, sample_stride);
  json["peak_ground_force"] = PeakGroundForce(trajectory);
  json["arrows"] = ArrowsToJson(trajectory, frame_stride, character.bodies.size());
  json["arrows"]["metres_per_newton"] = ArrowScale(character, *run.world);
  const std::vector<Vec3> path = CameraPath(character, trajectory, frame_stride);
  const Vec3 travel = TravelDirection(path, trajectory.states.front()[static_cast<size_t>(character.root)].orientation);
  Floats packed_path;
  for (const Vec3& place : path) packed_path.Add(place);
  json["path"] = packed_path.Packed();
  json["travel"] = {travel.x(), travel.z()};
  json["timeline"] = TimelineToJson(character, history);
  json["footprints"] = FootprintsToJson(trajectory, run.world->environment, history, frame_stride, options.footprint);
  if (run.costs != nullptr) json["costs"] = CostsToJson(*run.costs);
  if (run.solutions != nullptr) json["solutions"] = SolutionsToJson(*run.solutions);
  if (run.foot_forces != nullptr) json["foot_forces"] = FootForcesToJson(*run.foot_forces);
  if (run.manifest.is_object() && run.manifest.contains("force_comparison")) {
    json["force_comparison"] = run.manifest["force_comparison"];
  }
  json["settings"] = SettingsOf(run.manifest);
  return json;
}

io::Json DescribeScene(const std::string& name, const std::vector<ReportRun>& characters,
                       const ReportOptions& options) {
  io::Json json = {{"kind", "scene"}, {"name", name}, {"world", io::Json()}, {"characters", io::Json::array()}};
  std::vector<std::vector<Vec3>> paths;
  for (const ReportRun& character : characters) {
    io::Json described = DescribeRun(character, options);
    if (json["world"].is_null()) json["world"] = std::move(described["world"]);
    described.erase("world");
    json["characters"].push_back(std::move(described));
    const size_t stride = StrideOf(character.trajectory->time_step, options.frame_rate);
    paths.push_back(CameraPath(*character.character, *character.trajectory, stride));
  }
  // The camera follows the middle of all, from so far away that all are in view.
  std::vector<Vec3> middle(paths.front().size(), Vec3::Zero());
  double reach = 0;
  for (size_t i = 0; i < middle.size(); ++i) {
    for (const std::vector<Vec3>& path : paths) middle[i] += path[i] / static_cast<double>(paths.size());
    for (const std::vector<Vec3>& path : paths) {
      const Vec3 away = path[i] - middle[i];
      reach = std::max(reach, std::hypot(away.x(), away.z()));
    }
  }
  Floats packed_path;
  for (const Vec3& place : middle) packed_path.Add(place);
  json["path"] = packed_path.Packed();
  json["travel"] = json["characters"][0]["travel"];
  json["reach"] = reach;
  return json;
}

io::Json DescribeEvaluation(const std::string& name, const std::vector<results::RunRow>& rows) {
  io::Json json;
  json["kind"] = "evaluation";
  json["name"] = name;
  json["figures"] = io::Json::array();
  for (const results::Figure& figure : results::kFigures) json["figures"].push_back(figure.name);
  json["summaries"] = io::Json::array();
  for (const results::RunSummary& summary : results::Summarize(rows)) {
    const auto count = [](const results::SuccessCount& c) {
      return io::Json{{"k", c.k}, {"n", c.n}, {"bound", c.n > 0 ? io::Json(c.bound()) : io::Json()}};
    };
    io::Json entry = {{"scope", summary.scope == results::RunSummary::Scope::kClip    ? "clip"
                                : summary.scope == results::RunSummary::Scope::kGroup ? "group"
                                                                                      : "total"},
                      {"name", summary.name},
                      {"group", summary.group},
                      {"skipped", summary.skipped},
                      {"failed", summary.failed},
                      {"loose", count(summary.loose)},
                      {"main", count(summary.main)},
                      {"strict", count(summary.strict)}};
    entry["quartiles"] = io::Json::array();
    for (const metrics::Quartiles& q : summary.successful) {
      entry["quartiles"].push_back(std::isnan(q.median) ? io::Json() : io::Json{q.first, q.median, q.third});
    }
    json["summaries"].push_back(entry);
  }
  json["runs"] = io::Json::array();
  for (const results::RunRow& row : rows) json["runs"].push_back(row.ToJson());
  return json;
}

io::Json ReportDocument(const std::string& title, std::vector<io::Json> parts) {
  return {{"format", "retrace-report"},
          {"version", 1},
          {"title", title},
          {"toolkit", results::Version()},
          {"parts", std::move(parts)}};
}

bool IsReportPage(std::string_view bytes) {
  return bytes.substr(0, 1000).find("<meta name=\"generator\" content=\"Retrace\">") != std::string_view::npos;
}

std::string FillReportPage(std::string_view page, const std::string& name, const io::Json& document) {
  constexpr std::string_view kPlace = "{\"retrace\":\"document\"}";
  constexpr std::string_view kTitle = "<title></title>";
  const size_t place = page.find(kPlace);
  const size_t title = page.find(kTitle);
  if (place == std::string_view::npos || title == std::string_view::npos || title > place) {
    throw InputError(name, "a page without a place for a document", "the page that the build made");
  }
  // A script ends at "</script", whatever the quotation marks around it: no "<" is left in the text. It occurs in
  // strings alone, where its escape means the same.
  std::string text;
  for (const char c : io::Dump(document)) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  std::string filled(page.substr(0, title));
  filled += "<title>" + io::EscapeXml(document["title"].get<std::string>()) + "</title>";
  filled += page.substr(title + kTitle.size(), place - title - kTitle.size());
  filled += text;
  filled += page.substr(place + kPlace.size());
  return filled;
}

std::vector<float> UnpackFloats(const io::JsonView& packed) {
  if (packed["type"].String() != "f32") packed["type"].Expect("f32");
  const std::optional<std::string> bytes = io::DecodeBase64(packed["data"].String());
  if (!bytes || bytes->size() % sizeof(float) != 0) packed["data"].Fail("no array", "base64 of 32-bit floats");
  std::vector<float> values(bytes->size() / sizeof(float));
  std::memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

}  // namespace retrace::report
