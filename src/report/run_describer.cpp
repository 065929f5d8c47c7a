#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "packed.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/describe.h"
#include "retrace/math/filter.h"
#include "retrace/report/report.h"
#include "retrace/results/contact_tables.h"
#include "retrace/results/force_tables.h"
#include "shown_contacts.h"
#include "shown_cycles.h"
#include "shown_motion.h"
#include "shown_skin.h"
#include "shown_world.h"

namespace retrace::report {
namespace {

/// Steps from one instant of a grid to the next, so that there are at most `rate` per second.
size_t StrideOf(double time_step, double rate) {
  return static_cast<size_t>(std::max(1.0, std::ceil(1 / (time_step * rate) - 1e-9)));
}

io::Json BodiesToJson(const character::Character& character) {
  io::Json bodies = io::Json::array();
  for (const character::Body& body : character.bodies) {
    io::Json shapes = io::Json::array();
    for (const character::Shape& shape : body.shapes) shapes.push_back(ShapeToJson(shape));
    bodies.push_back({{"name", body.name}, {"mass", body.mass}, {"shapes", shapes}});
    if (body.part == character::Part::kFoot) bodies.back()["part"] = "foot";
    if (body.part == character::Part::kHand) bodies.back()["part"] = "hand";
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
    if (!joint.limited()) continue;
    for (int axis = 0; axis < 3; ++axis) {
      if (joint.UsesAxis(axis)) joints.back()["effort"].push_back(joint.effort[axis]);
    }
  }
  return joints;
}

/// The root's path at the frames, so smooth that a camera can follow it: means over 0.8 s, of the height over 2.4 s, so
/// that a jump is seen as one. Towards the ends the intervals shrink about their frame.
std::vector<Vec3> SmoothPath(const std::vector<Vec3>& places, double frame_time) {
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

/// Horizontal unit vector from the start of a path to its end, or the direction that the root faces at the start where
/// the path stays in place.
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

void AddNumbers(const metrics::FiveNumbers& numbers, Floats& floats) {
  for (const double number :
       {numbers.least, numbers.first_quartile, numbers.median, numbers.third_quartile, numbers.most}) {
    floats.Add(number);
  }
}

/// What each iteration drew and saved, and the chosen samples with their weighted terms.
io::Json CostsToJson(const results::CostTable& costs) {
  io::Json draws = io::Json::array();
  Floats drawn, saved;
  io::Json chosen = io::Json::array();
  for (const results::IterationCosts& row : costs.iterations) {
    draws.push_back({{"end", row.end_time}, {"chosen", row.chosen.has_value()}});
    AddNumbers(row.drawn_costs, drawn);
    AddNumbers(row.saved_costs, saved);
    if (!row.chosen) continue;
    chosen.push_back({{"start", row.start_time},
                      {"end", row.end_time},
                      {"total", row.chosen->total},
                      {"terms", row.chosen->weighted}});
  }
  return {{"terms", costs.terms},
          {"draws", draws},
          {"drawn", drawn.Packed()},
          {"saved", saved.Packed()},
          {"chosen", chosen}};
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

/// The sum of the ground's forces after a low-pass, as measured forces are usually shown, and the largest upward one.
/// Null where the steps are too long for it.
io::Json SmoothForceToJson(const std::vector<float>& force, double time_step) {
  constexpr double kCutoff = results::kTableCutoff;
  if (kCutoff >= 0.5 / time_step || force.size() < 6) return {};
  const auto rows = static_cast<Eigen::Index>(force.size() / 3);
  Eigen::MatrixXd signal(rows, 3);
  for (Eigen::Index row = 0; row < rows; ++row) {
    for (Eigen::Index c = 0; c < 3; ++c) signal(row, c) = force[static_cast<size_t>(3 * row + c)];
  }
  const Eigen::MatrixXd smooth = ButterworthLowPass(signal, 1 / time_step, kCutoff);
  Floats values;
  for (Eigen::Index row = 0; row < rows; ++row) values.Add(Vec3(smooth.row(row).transpose()));
  return {{"low_pass", kCutoff}, {"values", values.Packed()}, {"peak", smooth.col(1).maxCoeff()}};
}

/// A repaired reference beside the recorded one.
io::Json RepairToJson(const results::Table& table) {
  io::Json json = io::Json::object();
  for (const char* column : {"time", "recorded_time", "speed", "height", "recorded_height"}) {
    Floats values;
    for (const double value : table.Numbers(column)) values.Add(value);
    json[column] = values.Packed();
  }
  return json;
}

/// The parts of a composed motion. Tables of earlier versions have no transitions.
io::Json CompositionToJson(const results::Table& table) {
  const std::vector<double> start = table.Numbers("start"), end = table.Numbers("end");
  const std::vector<std::string>& control = table.Text("control");
  const std::vector<std::string>& event = table.Text("event");
  const std::vector<std::string> transition =
      table.Has("transition") ? table.Text("transition") : std::vector<std::string>(start.size());
  io::Json parts = io::Json::array();
  for (size_t p = 0; p < start.size(); ++p) {
    parts.push_back({{"start", start[p]},
                     {"end", end[p]},
                     {"control", control[p]},
                     {"event", event[p]},
                     {"kinematic", transition[p] == "kinematic"}});
  }
  return parts;
}

/// Motions in which a body could go on after a push.
io::Json CandidatesToJson(const results::Table& table) {
  const std::vector<std::string>& motion = table.Text("motion");
  io::Json rows = io::Json::array();
  for (size_t r = 0; r < motion.size(); ++r) rows.push_back({{"motion", motion[r]}});
  for (const char* column : {"time", "start", "gap", "limp_gap", "hidden_impulse", "tried", "reached", "up", "found"}) {
    const std::vector<double> values = table.Numbers(column);
    for (size_t r = 0; r < motion.size(); ++r) rows[r][column] = values[r];
  }
  return rows;
}

/// The pushes of a manifest: which body, with how many newtons, from when to when.
io::Json ShownPushes(const io::JsonView& pushes) {
  constexpr io::Range kAny{-1e9, 1e9};
  constexpr size_t kMost = 1000000;
  io::Json shown = io::Json::array();
  for (const io::JsonView& push : pushes.Elements(kMost)) {
    const double start = push["start"].Number(kAny);
    shown.push_back({{"body", push["body"].String()},
                     {"newton", push["force"].Vector(kAny).norm()},
                     {"start", start},
                     {"end", start + push["duration"].Number(kAny)}});
  }
  return shown;
}

/// The members of a manifest that describe how a run was made; not on which machine.
io::Json SettingsOf(const io::Json& manifest) {
  io::Json settings = io::Json::object();
  if (!manifest.is_object()) return settings;
  for (const char* name :
       {"program", "status", "end", "method", "tracking", "command", "seed", "clip", "inputs", "preparation", "solver",
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

/// What looks wrong in the recording, and how it was read, as the manifest has it. Null where it says nothing.
io::Json FindingsOf(const io::Json& manifest) {
  io::Json warnings = io::Json::array(), notes = io::Json::array();
  if (!manifest.is_object()) return {};
  if (manifest.contains("clip_checks") && manifest["clip_checks"].contains("warnings")) {
    for (const io::Json& warning : manifest["clip_checks"]["warnings"]) {
      warnings.push_back({{"time", warning.at("time")}, {"text", warning.at("text")}});
    }
  }
  if (manifest.contains("reference") && manifest["reference"].contains("notes")) {
    notes = manifest["reference"]["notes"];
  }
  if (warnings.empty() && notes.empty()) return {};
  return {{"warnings", warnings}, {"notes", notes}};
}

/// An impact of something else than the pushes that are shown: of a thing or of another character.
io::Json ShownImpact(const io::Json& manifest, const io::Json& pushes) {
  if (!manifest.is_object() || !manifest.contains("response")) return {};
  constexpr io::Range kAny{-1e9, 1e9};
  const io::JsonView response = io::JsonView(manifest, "manifest")["response"];
  const io::JsonView impact = response[response.Has("impact") ? "impact" : "blow"];  // its name up to version 0.1
  const double start = impact["start"].Number(kAny);
  for (const io::Json& push : pushes) {
    if (push["start"] == start) return {};
  }
  return {{"what", impact["what"].String()}, {"start", start}, {"end", start + impact["duration"].Number(kAny)}};
}

/// Instants per second of a grid: fewer where the motion would have too many.
double RateOf(double rate, double most, double duration) {
  return duration * rate > most ? most / duration : rate;
}

}  // namespace

struct RunDescriber::Impl {
  Impl(const ReportRun& of, double duration, const ReportOptions& options)
      : run(of),
        character(*of.character),
        strides{StrideOf(of.world->time_step, RateOf(options.frame_rate, options.most_frames, duration)),
                StrideOf(of.world->time_step, RateOf(options.sample_rate, 2 * options.most_frames, duration))},
        simulated(character, strides),
        arrows(character.bodies.size()),
        push_arrows(character.bodies.size()),
        timeline(character.bodies.size()),
        legs(character),
        footprints(of.world->environment, options.footprint),
        things(character, of.world->environment) {}

  /// A step of a part, by the state and with what it led to.
  void AddStep(const control::Trajectory& part, const results::ContactHistory& history, size_t step) {
    Vec3 force = Vec3::Zero();
    for (const simulation::Contact& contact : part.contacts[step]) {
      if (contact.other < 0) force += contact.force;
    }
    peak_ground_force = std::max(peak_ground_force, force.y());
    ground_force.Add(force);
    arrows.Step(part.contacts[step]);
    push_arrows.Step(PushesIn(part, step));
    footprints.Step(part.states[step], history.cells[step], history.loads[step]);
  }

  /// The pushes in a step, as what touches the centers of the bodies that are pushed.
  std::vector<simulation::Contact> PushesIn(const control::Trajectory& part, size_t step) const {
    std::vector<simulation::Contact> touches;
    const double h = part.time_step, begin = part.TimeOf(step);
    for (const control::Push& push : run.pushes) {
      const double share = (std::min(begin + h, push.end()) - std::max(begin, push.start)) / h;
      if (share <= 0) continue;
      simulation::Contact& touch = touches.emplace_back();
      touch.body = push.body;
      touch.point = part.states[step + 1][static_cast<size_t>(push.body)].position;
      touch.force = share * push.force;
    }
    return touches;
  }

  void AddState(const character::State& state, const std::vector<Vec3>* joint_torques, size_t steps) {
    things.State(state);
    if (steps % strides.frame == 0) {
      arrows.Frame();
      push_arrows.Frame();
      footprints.Frame();
      things.Frame(state, static_cast<double>(steps) * run.world->time_step);
      places.push_back(state[static_cast<size_t>(character.root)].position);
    }
    if (steps % strides.sample == 0) {
      for (size_t j = 0; j < character.joints.size(); ++j) {
        for (int axis = 0; axis < 3; ++axis) {
          if (character.joints[j].UsesAxis(axis)) torques.Add(joint_torques == nullptr ? 0 : (*joint_torques)[j][axis]);
        }
      }
    }
  }

  std::vector<Vec3> path() const {
    return SmoothPath(places, static_cast<double>(strides.frame) * run.world->time_step);
  }

  const ReportRun& run;
  const character::Character& character;
  Strides strides;
  MotionTrace simulated;
  std::map<Beside, MotionTrace> beside;
  Quat facing = Quat::Identity();  // of the root at the start
  Floats ground_force;             // sum of the ground's contact forces, as in trajectory.csv: one row per state
  double peak_ground_force = 0;    // largest upward sum of the ground's contact forces in any step [N]
  Floats torques;
  Arrows arrows;
  Arrows push_arrows;
  Timeline timeline;
  LegRecord legs;
  Footprints footprints;
  MovingThings things;
  std::vector<Vec3> places;  // of the root at the frames
};

std::string Name(Beside beside) {
  return beside == Beside::kTracking ? "tracking" : "ragdoll";
}

RunDescriber::RunDescriber(const ReportRun& run, double duration, const ReportOptions& options)
    : impl_(std::make_unique<Impl>(run, duration, options)) {}
RunDescriber::RunDescriber(RunDescriber&&) noexcept = default;
RunDescriber::~RunDescriber() = default;

void RunDescriber::Add(const control::Trajectory& part) {
  if (part.contacts.size() < part.num_steps() || part.torques.size() < part.num_steps()) {
    throw std::invalid_argument("a trajectory without the contacts and torques of every step");
  }
  if (part.time_step != impl_->run.world->time_step) throw std::invalid_argument("another time step than the world's");
  const results::ContactHistory history = results::TraceContacts(impl_->character, part);
  impl_->timeline.Add(history);
  impl_->legs.Add(part);
  impl_->simulated.Add(part);
  if (part.first_step == 0) {
    impl_->facing = part.states.front()[static_cast<size_t>(impl_->character.root)].orientation;
    impl_->ground_force.Add(Vec3::Zero());  // nothing has acted before the start
    impl_->AddState(part.states.front(), nullptr, 0);
  }
  for (size_t step = 0; step < part.num_steps(); ++step) {
    impl_->AddStep(part, history, step);
    impl_->AddState(part.states[step + 1], &part.torques[step], part.first_step + step + 1);
  }
}

void RunDescriber::Add(Beside beside, const control::Trajectory& part) {
  impl_->beside.try_emplace(beside, impl_->character, impl_->strides).first->second.Add(part);
}

std::vector<Vec3> RunDescriber::CameraPath() const {
  return impl_->path();
}

io::Json RunDescriber::Finish() {
  const ReportRun& run = impl_->run;
  const character::Character& character = impl_->character;
  const double h = run.world->time_step;
  const size_t steps = impl_->simulated.steps();
  io::Json json;
  json["kind"] = "run";
  json["name"] = run.name;
  json["notes"] = run.notes;
  json["time_step"] = h;
  json["steps"] = steps;
  json["frame_steps"] = impl_->strides.frame;
  json["sample_steps"] = impl_->strides.sample;
  json["character"] = {{"name", character.name},           {"height", character.height},
                       {"mass", character.total_mass()},   {"weight", WeightOf(character, *run.world)},
                       {"root", character.root},           {"bodies", BodiesToJson(character)},
                       {"joints", JointsToJson(character)}};
  if (io::Json skin = SkinToJson(character); !skin.is_null()) json["character"]["skin"] = std::move(skin);
  json["world"] = WorldToJson(*run.world);
  impl_->things.AddTo(json["world"]);
  json["simulated"] = impl_->simulated.ToJson();
  if (run.reference != nullptr) {
    json["reference"] = ReferenceToJson(*run.reference, h, steps, impl_->strides);
  }
  if (run.recording != nullptr) {
    json["recording"] = ReferenceToJson(*run.recording, h, steps, impl_->strides);
  }
  for (auto& [beside, trace] : impl_->beside) json[Name(beside)] = trace.ToJson();
  if (json.contains("tracking") && run.tracking_evaluation) {
    json["tracking"]["evaluation"] = run.tracking_evaluation->ToJson();
  }
  if (run.evaluation) json["evaluation"] = run.evaluation->ToJson();
  io::Json smooth = SmoothForceToJson(impl_->ground_force.values(), h);
  if (!smooth.is_null()) json["smooth_force"] = std::move(smooth);
  json["ground_force"] = impl_->ground_force.Packed();
  json["torques"] = impl_->torques.Packed();
  json["peak_ground_force"] = impl_->peak_ground_force;
  json["arrows"] = impl_->arrows.ToJson();
  json["arrows"]["metres_per_newton"] = ArrowScale(character, *run.world);
  if (!run.pushes.empty()) json["push_arrows"] = impl_->push_arrows.ToJson();
  const std::vector<Vec3> path = impl_->path();
  const Vec3 travel = TravelDirection(path, impl_->facing);
  Floats packed_path;
  for (const Vec3& place : path) packed_path.Add(place);
  json["path"] = packed_path.Packed();
  json["travel"] = {travel.x(), travel.z()};
  json["timeline"] = impl_->timeline.ToJson(character);
  json["footprints"] = impl_->footprints.ToJson();
  if (io::Json cycles = impl_->legs.ToJson(run.reference); !cycles.is_null()) json["cycles"] = std::move(cycles);
  if (run.costs != nullptr) json["costs"] = CostsToJson(*run.costs);
  if (run.solutions != nullptr) json["solutions"] = SolutionsToJson(*run.solutions);
  if (run.composition != nullptr) {
    json["composition"] = {{"parts", CompositionToJson(*run.composition)}, {"pushes", io::Json::array()}};
    if (run.manifest->is_object() && run.manifest->contains("pushes")) {
      json["composition"]["pushes"] = ShownPushes(io::JsonView(run.manifest, "manifest")["pushes"]);
    }
    json["composition"]["impact"] = ShownImpact(run.manifest, json["composition"]["pushes"]);
  }
  if (!run.latent_picture.empty()) json["latent_picture"] = run.latent_picture;
  if (run.repair != nullptr) json["repair"] = RepairToJson(*run.repair);
  if (run.candidates != nullptr) json["candidates"] = CandidatesToJson(*run.candidates);
  if (run.foot_forces != nullptr) json["foot_forces"] = FootForcesToJson(*run.foot_forces);
  if (run.manifest->is_object() && run.manifest->contains("force_comparison")) {
    json["force_comparison"] = (*run.manifest)["force_comparison"];
  }
  if (io::Json findings = FindingsOf(run.manifest); !findings.is_null()) json["findings"] = std::move(findings);
  json["settings"] = SettingsOf(run.manifest);
  return json;
}

io::Json DescribeRun(const ReportRun& run, const control::Trajectory& simulated, const control::Trajectory* tracking,
                     const ReportOptions& options) {
  RunDescriber describer(run, static_cast<double>(simulated.num_steps()) * simulated.time_step, options);
  describer.Add(simulated);
  if (tracking != nullptr) describer.Add(Beside::kTracking, *tracking);
  return describer.Finish();
}

io::Json DescribeScene(const std::string& name, std::vector<RunDescriber>& characters) {
  io::Json json = {{"kind", "scene"}, {"name", name}, {"world", io::Json()}, {"characters", io::Json::array()}};
  std::vector<std::vector<Vec3>> paths;
  for (RunDescriber& character : characters) {
    paths.push_back(character.CameraPath());
    io::Json described = character.Finish();
    if (json["world"].is_null()) json["world"] = std::move(described["world"]);
    described.erase("world");
    json["characters"].push_back(std::move(described));
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

}  // namespace retrace::report
