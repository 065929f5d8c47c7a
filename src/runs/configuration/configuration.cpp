#include "retrace/runs/configuration/configuration.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/io/assignment.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"

namespace retrace::runs {
namespace {

using io::Json;
using io::JsonView;

constexpr double kShortestTail = 0.1;  // [s]

/// The settings in which the method of 2010 differs from the defaults, as a file would have them. Every method has a
/// value of its own for each of these.
const char* const kMethodOf2010 = R"({
  "search": {"samples": 1400, "saved": 200, "growth": 1, "feedforward_gain": 1, "target_knots": 1, "ramp": 0,
             "keep_inside_gates": false, "max_back_offs": 0, "budget": 0},
  "restart": {"samples": 0},
  "refinement": {"passes": 0},
  "cost": {"drift": 0, "balance_velocity": 0.1, "effector_position": 0},
  "contacts": {"preset": "paper"},
  "reference": {"bridge_spikes": false, "raise_hands": false},
  "run": {"method": "sampling", "baseline": "reference", "tail": 0}
})";

/// The settings in which the qualities differ from the defaults.
const char* const kDraft = R"({
  "refinement": {"passes": 1},
  "run": {"recover_end": "tracking"}
})";
const char* const kBest = R"({
  "search": {"samples": 1400, "saved": 200, "growth": 1, "budget": 4200},
  "refinement": {"samples": 0.5}
})";

/// The simulation of the paper, and its selection by the letter, for UsePaperMode. The method of 2010 by itself saves
/// each sample once, as it is compared with on the same physics.
const char* const kSimulationOf2010 = R"({
  "search": {"distinct": false},
  "simulation": {"time_step": 0.0005, "servo": "explicit", "speculative_contacts": false, "ground_points_per_shape": 8,
                 "self_points_per_pair": 8}
})";

/// Values of da Silva et al. 2008, for UsePaperTracking.
const char* const kTrackingOf2008 = R"({
  "tracking": {"servo": "paper", "solve_rate": 80, "feedback": 600, "stiffness": 0.05, "root_rotation_weight": 1,
               "root_translation_weight": 1, "contact_damping": 0, "lifted": 10, "released_force": 0,
               "stance_feedback": 0, "placement_distance": 0, "placement_velocity": 0, "clean_feet": false,
               "balance": false, "ballistic_flight": false, "take_off_weight": 0, "smoothing": 0},
  "simulation": {"time_step": 0.0001, "speculative_contacts": false}
})";

void Take(const char* settings, Configuration& configuration) {
  const Json document = io::ParseJson(settings, "preset");
  io::Read(JsonView(document, "preset"), configuration);
}

/// The settings of a document with the values that they have by default.
Json DefaultsOf(const Json& document) {
  const Json defaults = Configuration().ToJson();
  Json same = Json::object();
  for (const auto& [section, settings] : document.items()) {
    for (const auto& [name, value] : settings.items()) same[section][name] = defaults[section][name];
  }
  return same;
}

}  // namespace

void Describe(RunSettings& settings, io::FieldVisitor& visitor) {
  visitor.Section({"run", "What a run does"}, [&](io::FieldVisitor& section) {
    section.Field(
        {"method",
         "What finds the control: sampling, tracking, hybrid, trajectory, or auto: tracking, and where the "
         "tracked motion exceeds the tolerances or drifts in the world the nearest of hybrid, sampling and, where "
         "neither leads to the end, trajectory"},
        settings.method, MethodWords());
    section.Field(
        {"baseline",
         "What the targets of sampling and trajectory are offset from: the reference, tracked: targets at which servos "
         "give the torques of the tracked motion, or of tracked and searched parts, as far as it gets, or automatic: "
         "tracked, but not where trajectory starts from the pose of rest"},
        settings.baseline,
        io::Words<Baseline>{{{Baseline::kAutomatic, "automatic"},
                             {Baseline::kReference, "reference"},
                             {Baseline::kTracked, "tracked"}}});
    section.Field({"tail",
                   "For how long after the end of the clip the character is to go on: its end is viable when a control "
                   "is found that does so; 0: it is not judged",
                   "s"},
                  settings.tail, io::Real{{0, 30}});
    section.Field(
        {"recover_end",
         "What is done where the end is not viable: off, tracking: a tracked motion is tracked anew with what follows, "
         "search: else the last seconds are searched anew together with what follows",
         "",
         {"mend_end"}},
        settings.recover_end,
        io::Words<EndRecovery>{
            {{EndRecovery::kOff, "off"}, {EndRecovery::kTracking, "tracking"}, {EndRecovery::kSearch, "search"}}});
    section.Field(
        {"repair",
         "Whether a reference that no body can perform is changed by as little as it takes: clock, height, legs"},
        settings.repair, io::Flag{});
  });
}

void Describe(Configuration& configuration, io::FieldVisitor& visitor) {
  Describe(configuration.run, visitor);
  Describe(configuration.sampling, visitor);
  Describe(configuration.task, visitor);
  Describe(configuration.tracking, visitor);
  Describe(configuration.trajectory, visitor);
}

io::Words<Method> MethodWords() {
  return {{{Method::kAuto, "auto"},
           {Method::kSampling, "sampling"},
           {Method::kTracking, "tracking"},
           {Method::kHybrid, "hybrid"},
           {Method::kTrajectory, "trajectory", "windows"}}};
}

io::Words<Quality> QualityWords() {
  return {{{Quality::kDraft, "draft"}, {Quality::kStandard, "standard"}, {Quality::kBest, "best"}}};
}

std::string Name(Method method) {
  return MethodWords().Name(method);
}

Json Configuration::ToJson() const {
  return io::Write(*this);
}

std::string Configuration::ToCommentedJson() const {
  return io::WriteCommented(*this);
}

void Configuration::Read(const JsonView& view) {
  Configuration changed = *this;
  io::Read(view, changed);
  if (const sampling::Method asked = changed.sampling.method; asked != sampling.method) {
    changed = *this;
    changed.UseMethod(asked);
    io::Read(view, changed);
  }
  *this = changed;
}

void Configuration::Set(const std::string& assignment) {
  const Json document = io::ParseAssignment(*this, assignment);
  try {
    Read(JsonView(document, ""));
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

std::optional<std::string> Configuration::Validate() const {
  if (auto problem = io::FindProblem(run)) return problem;
  if (run.tail > 0 && run.tail < kShortestTail)
    return "/run/tail: found " + io::Number(run.tail) + ", expected 0, or 0.1 to 30";
  if (auto problem = sampling.Validate()) return problem;
  if (sampling.best_effort && run.method != Method::kAuto && run.method != Method::kSampling) {
    return "/search/best_effort: found true with the method " + Name(run.method) + ", expected auto or sampling";
  }
  if (auto problem = tracking.Validate()) return problem;
  if (auto problem = trajectory.Validate()) return problem;
  return task.Validate();
}

void Configuration::UseMethod(sampling::Method method) {
  const Json paper = io::ParseJson(kMethodOf2010, "preset");
  const Json settings = method == sampling::Method::k2010 ? paper : DefaultsOf(paper);
  io::Read(JsonView(settings, "preset"), *this);
  sampling.method = method;
}

void Configuration::UseQuality(Quality quality) {
  for (const char* const preset : {kDraft, kBest}) {
    io::Read(JsonView(DefaultsOf(io::ParseJson(preset, "preset")), "preset"), *this);
  }
  if (quality == Quality::kDraft) Take(kDraft, *this);
  if (quality == Quality::kBest) Take(kBest, *this);
}

void Configuration::UseSamples(int samples) {
  const int most = std::max(sampling.samples, sampling.restart.samples);  // what the budget suffices for
  if (samples > most) sampling.budget *= static_cast<double>(samples) / most;
  sampling.samples = samples;
}

void Configuration::UsePaperMode() {
  UseMethod(sampling::Method::k2010);
  Take(kSimulationOf2010, *this);
}

void Configuration::UsePaperTracking() {
  Take(kTrackingOf2008, *this);
}

}  // namespace retrace::runs
