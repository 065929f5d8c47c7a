#include "retrace/runs/configuration.h"

#include <algorithm>
#include <concepts>
#include <cstdlib>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::runs {
namespace {

using io::Json;
using io::JsonView;
using io::Range;

struct Words {
  std::vector<std::string> words;
};

const char* const kUnlimited = "any";

std::string Describe(const Range& range) {
  const bool low = std::isfinite(range.min);
  const bool high = std::isfinite(range.max);
  if (low && high) return io::Number(range.min) + " to " + io::Number(range.max);
  if (low) return std::string(range.open_min ? "above " : "at least ") + io::Number(range.min);
  return kUnlimited;
}

std::string Describe(const Words& words) {
  std::string list;
  for (const std::string& word : words.words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

template <typename Enum>
struct EnumWords {
  std::vector<std::pair<Enum, std::string>> entries;
  Words words() const {
    Words w;
    for (const auto& entry : entries) w.words.push_back(entry.second);
    return w;
  }
};

/// Walks over all settings. A visitor has Section(name, description) and Field(name, value, legal, description) for
/// double, int, uint64_t, bool and string; angles are given in the unit of the file.
template <typename Config, typename Visitor>
void Visit(Config& c, Visitor& v) {
  const Range positive = io::kPositive;
  const Range non_negative = io::kNonNegative;
  const Range count{1, 1e7};

  v.Section("search", "The search for the control (Liu et al. 2010, sections 3.2.2 and 3.2.3)");
  v.Field("method", c.sampling.method,
          EnumWords<sampling::Method>{{{sampling::Method::k2010, "2010"}, {sampling::Method::kRewinding, "rewinding"}}},
          "2010: one pass as in the paper, with its cost and contact scales; setting it sets all that differs");
  v.Field("samples", c.sampling.samples, count, "nSample: samples drawn per iteration");
  v.Field("saved", c.sampling.selection.saved, count, "nSave: samples saved per iteration");
  v.Field("seed", c.sampling.seed, non_negative, "of all random numbers; the same seed gives the same bytes");
  v.Field("discarded", c.sampling.selection.discarded, Range{0, 0.999}, "share of the most costly samples never saved");
  v.Field("exponent", c.sampling.selection.exponent, positive, "of the spread of saved costs, f(x) = x^exponent");
  v.Field("distinct", c.sampling.selection.distinct, "save each sample once at most; false is the letter of the paper");
  v.Field("window_scale", c.sampling.window_scale, non_negative, "factor on the character's sampling windows");
  v.Field("feedforward", c.sampling.feedforward, "offset targets by what an undisplaced simulation missed");
  v.Field("feedforward_gain", c.sampling.feedforward_gain, non_negative, "offset per angle missed; the paper's is 1");
  v.Field("feedforward_limit", c.sampling.feedforward_limit, non_negative, "largest offset of a joint [rad]");
  v.Field("target_knots", c.sampling.target_knots, Range{1, 100},
          "target poses per fragment, interpolated between; 1 holds the pose of the fragment's end");

  v.Field("keep_inside_gates", c.sampling.keep_inside_gates,
          "never save a sample that ends outside the gates while another ends inside");
  v.Field("gate_margin", c.sampling.gate_margin, Range{0, 0.9}, "how far inside that is, as a share of the limits");
  v.Field("budget", c.sampling.budget, non_negative,
          "simulated seconds that may be spent per second of motion (one pass takes nSample); 0: any number");
  v.Field("max_rewinds", c.sampling.max_rewinds, Range{0, 1000},
          "how often the search may go back when all samples are outside the gates; 0: one pass, as in the paper");
  v.Field("rewind", c.sampling.rewind, positive, "how far it goes back at first; doubled when that does not help [s]");
  v.Field("learn", c.sampling.learn, "draw again around what the survivors had in common, not around the reference");
  v.Field("learned_samples", c.sampling.learned_samples, Range{0, 1, true},
          "samples and saved samples when drawing so, as a share of the others'");
  v.Field("elites", c.sampling.elites, Range{0, 1, true}, "share of the saved samples that is learned from");
  v.Field("learning_rate", c.sampling.learning_rate, Range{0, 1, true}, "of learned means and deviations");
  v.Field("smallest_deviation", c.sampling.smallest_deviation, non_negative,
          "of a learned distribution, as a share of the sampling window");
  v.Field("correction", c.sampling.correction, non_negative,
          "feedforward of learned offsets: offset per angle by which they miss their goal; 0: none");
  v.Field("goal", c.sampling.goal, Range{0, 1},
          "pose to be met, from that where they were learned (0) to the reference's (1)");
  v.Field("correlation", c.sampling.correlation, Range{0, 0.99},
          "share of a start state's displacement that its samples keep: noise that is correlated in time");

  v.Section("smoothing", "Passes after the search that make its result smoother (after Liu, Yin and Guo 2015)");
  v.Field("passes", c.sampling.smoothing.passes, Range{0, 100}, "at most, as far as the budget goes; 0: none");
  v.Field("samples", c.sampling.smoothing.samples, Range{0, 1, true},
          "samples and saved samples, as a share of the search's");
  v.Field("weight", c.sampling.smoothing.weight, non_negative,
          "of the smoothness term in the cost of these passes [s^2]");
  v.Field("drift", c.sampling.smoothing.drift, non_negative,
          "least weight of the drift term in the cost of these passes");
  v.Field("blend", c.sampling.smoothing.blend, Range{0, 1},
          "share of the fragments before and after in the mean of offsets");
  v.Field("deviation", c.sampling.smoothing.deviation, non_negative,
          "around the mean, as a share of the sampling window");
  v.Field("decay", c.sampling.smoothing.decay, Range{0, 1, true}, "of the deviation from one pass to the next");
  v.Field("ramp", c.sampling.smoothing.ramp, Range{0, 1},
          "share of a fragment over which its targets go over to new offsets");
  v.Field("patience", c.sampling.smoothing.patience, Range{1, 1000},
          "a pass is given up when it has cost this times what it would without going back");

  v.Section("schedule", "When control is sampled (section 3.2.3, Sampling Time Step)");
  v.Field("sampling_step", c.task.schedule.sampling_step, Range{0.01, 1}, "time between samples [s]");
  v.Field("segmentation", c.task.schedule.segmentation,
          EnumWords<task::Segmentation>{{{task::Segmentation::kOff, "off"},
                                         {task::Segmentation::kOn, "on"},
                                         {task::Segmentation::kAutomatic, "automatic"}}},
          "move instants to contact switches and swings of limbs; automatic: for motions on the feet");

  v.Section("cost", "Weights of the cost terms (section 3.2.4, table 4)");
  v.Field("preset", c.task.cost_preset,
          Words{{"automatic", "locomotion", "flight", "hands", "get_up", "roll", "custom"}},
          "kind of motion whose weights are used; automatic: as the clip is classified");
  v.Field("pose", c.task.cost_custom.pose, non_negative, "wp, used by the preset custom");
  v.Field("root", c.task.cost_custom.root, non_negative, "wr, used by the preset custom");
  v.Field("end_effector", c.task.cost_custom.end_effector, non_negative, "we, used by the preset custom");
  v.Field("balance", c.task.cost_custom.balance, non_negative, "wb, used by the preset custom");
  v.Field("drift", c.task.drift_weight, non_negative,
          "wd, of the centre of mass's distance from its place in the world, used by every preset; the paper's is 0");
  v.Field("balance_velocity", c.task.cost.balance_velocity, non_negative,
          "of the centre of mass's velocity in the balance term [s]; the paper's is 0.1");
  v.Field("effector_position", c.task.cost.effector_position, non_negative,
          "of the places of hands and feet about the centre of mass in the balance term; the paper's is 0");

  v.Section("contacts", "Stiffer joints while a limb bears weight (table 2, Contact Scale)");
  v.Field("preset", c.task.contact_preset, Words{},
          "automatic (one for all motions), paper (by kind of motion) or a name among the character's contact_presets");

  v.Section("reference", "From the clip to the character's reference motion");
  v.Field("smoothing", c.task.reference.smoothing, Range{0, 1}, "standard deviation of the Gaussian filter [s]");
  v.Field("velocity_interval", c.task.reference.velocity_interval, Range{0, 0.5, true},
          "half width of the central difference for velocities [s]");
  v.Field("level_floor", c.task.reference.level_floor, "turn a tilted capture floor level");
  v.Field("lift_root", c.task.reference.lift_root,
          "raise the root where trunk, head, thighs or upper arms are under the floor");
  v.Field("raise_hands", c.task.reference.raise_hands, "bend the arms where hands or forearms are under the floor");

  v.Section("simulation", "The physical world (Open Dynamics Engine)");
  v.Field("time_step", c.task.world.time_step, Range{0, 0.05, true}, "[s]");
  v.Field("servo", c.task.world.servo,
          EnumWords<simulation::Servo>{
              {{simulation::Servo::kImplicit, "implicit"}, {simulation::Servo::kExplicit, "explicit"}}},
          "explicit, as in the paper, is stable up to steps of 0.0005 s only");
  v.Field("solver", c.task.world.solver,
          EnumWords<simulation::Solver>{
              {{simulation::Solver::kStock, "stock"}, {simulation::Solver::kReduced, "eliminated"}}},
          "eliminated: the same solution as ODE's stock solver, several times faster");
  v.Field("gravity", c.task.world.gravity, Range{}, "downwards [m/s^2]");
  v.Field("friction", c.task.world.friction, non_negative, "coefficient");
  v.Field("contact_stiffness", c.task.world.contact_stiffness, positive, "of a contact point [N/m]");
  v.Field("contact_damping", c.task.world.contact_damping, positive, "of a contact point [N s/m]");
  v.Field("contact_correcting_velocity", c.task.world.contact_correcting_velocity, positive,
          "fastest that a contact pushes bodies apart [m/s]");
  v.Field("joint_correction", c.task.world.joint_correction, non_negative,
          "rate at which joint position errors are corrected [1/s]");
  v.Field("self_collision", c.task.world.self_collision, "between bodies of the character");
  v.Field("speculative_contacts", c.task.world.speculative_contacts, "ground contacts act before they sink in");
  v.Field("ground_points_per_shape", c.task.world.ground_points_per_shape, Range{1, 8},
          "the deepest contact points of a shape");
  v.Field("self_points_per_pair", c.task.world.self_points_per_pair, Range{1, 8}, "contact points of two bodies");

  v.Section("gates", "Limits at every instant that decide success, the same for every motion");
  v.Field("root_height", c.task.gates.root_height, positive, "of the root from the reference's [m]");
  auto degrees = Degrees(c.task.gates.root_orientation);
  v.Field("root_orientation", degrees, Range{0, 180, true}, "angle between the root orientations [degrees]");
  if constexpr (!std::is_const_v<Config>) c.task.gates.root_orientation = Radians(degrees);
  v.Field("joint_position", c.task.gates.joint_position, positive,
          "mean over joints after removing root translation and heading [m]");
}

/// Makes a JSON document, with or without comments.
class Writer {
 public:
  void Section(const char* name, const char* text) {
    section_ = name;
    document[section_] = Json::object();
    if (!commented.empty()) commented += "\n  },\n";
    commented += std::string("\n  // ") + text + "\n  \"" + name + "\": {";
    first_ = true;
  }
  template <typename T, typename Legal>
  void Field(const char* name, const T& value, const Legal& legal, const char* text) {
    std::string note = text;
    if constexpr (requires { Describe(legal); }) {
      const std::string values = Describe(legal);
      if (!values.empty() && values != kUnlimited) note += " (" + values + ")";
    }
    Add(name, value, note);
  }
  void Field(const char* name, const bool& value, const char* text) { Add(name, Json(value), text); }
  template <typename Enum>
  void Field(const char* name, const Enum& value, const EnumWords<Enum>& words, const char* text) {
    for (const auto& [entry, word] : words.entries) {
      if (entry == value) Add(name, Json(word), std::string(text) + " (" + Describe(words.words()) + ")");
    }
  }

  Json document = Json::object();
  std::string commented;

 private:
  void Add(const char* name, const Json& value, const std::string& note) {
    document[section_][name] = value;
    commented += std::string(first_ ? "\n" : ",\n") + "    // " + note + "\n    \"" + name + "\": " + value.dump();
    first_ = false;
  }
  std::string section_;
  bool first_ = true;
};

/// Takes what a document has; complains about what it has and nobody knows.
class Taker {
 public:
  explicit Taker(const JsonView& view) : view_(view) {}

  void Section(const char* name, const char*) {
    sections_.push_back(name);
    fields_.emplace_back();
    if (view_.Has(name) && !view_[name].json().is_object()) view_[name].Expect("an object");
  }
  void Field(const char* name, double& value, const Range& range, const char*) {
    if (const auto* view = Find(name)) value = view->Number(range);
  }
  void Field(const char* name, int& value, const Range& range, const char*) {
    if (const auto* view = Find(name))
      value = view->Integer(static_cast<long>(range.min), static_cast<long>(range.max));
  }
  void Field(const char* name, uint64_t& value, const Range&, const char*) {
    const auto* view = Find(name);
    if (view == nullptr) return;
    if (!view->json().is_number_unsigned()) view->Expect("a whole number of at least 0");
    value = view->json().get<uint64_t>();
  }
  void Field(const char* name, bool& value, const char*) {
    if (const auto* view = Find(name)) value = view->Boolean();
  }
  void Field(const char* name, std::string& value, const Words& words, const char*) {
    const auto* view = Find(name);
    if (view == nullptr) return;
    const std::string word = view->String();
    if (!words.words.empty() && std::find(words.words.begin(), words.words.end(), word) == words.words.end()) {
      view->Expect("one of " + Describe(words));
    }
    value = word;
  }
  template <typename Enum>
  void Field(const char* name, Enum& value, const EnumWords<Enum>& words, const char*) {
    const auto* view = Find(name);
    if (view == nullptr) return;
    const std::string word = view->String();
    for (const auto& [entry, text] : words.entries) {
      if (text == word) {
        value = entry;
        return;
      }
    }
    view->Expect("one of " + Describe(words.words()));
  }

  /// Refuses keys that no setting has.
  void Finish() const {
    for (const auto& [key, section] : view_.Members()) {
      const auto it = std::find(sections_.begin(), sections_.end(), key);
      if (it == sections_.end()) section.Fail("the key \"" + key + "\"", "one of " + Describe(Words{sections_}));
      const auto& known = fields_[static_cast<size_t>(it - sections_.begin())];
      for (const auto& [name, field] : section.Members()) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
          field.Fail("the key \"" + name + "\"", "one of " + Describe(Words{known}));
        }
      }
    }
  }

 private:
  const JsonView* Find(const char* name) {
    fields_.back().push_back(name);
    if (!view_.Has(sections_.back())) return nullptr;
    const JsonView section = view_[sections_.back()];
    if (!section.Has(name)) return nullptr;
    found_ = section[name];
    return &found_;
  }
  const JsonView view_;
  JsonView found_ = view_;
  std::vector<std::string> sections_;
  std::vector<std::vector<std::string>> fields_;
};

}  // namespace

Json Configuration::ToJson() const {
  Writer writer;
  Visit(*this, writer);
  return writer.document;
}

std::string Configuration::ToCommentedJson() const {
  Writer writer;
  Visit(*this, writer);
  return "{" + writer.commented + "\n  }\n}\n";
}

void Configuration::Read(const JsonView& view) {
  if (!view.json().is_object()) view.Expect("an object");
  Configuration changed = *this;
  if (view.Has("search") && view["search"].json().is_object() && view["search"].Has("method")) {
    Configuration asked = *this;
    Taker method(view);
    Visit(asked, method);
    if (asked.sampling.method != sampling.method) changed.UseMethod(asked.sampling.method);
  }
  Taker taker(view);
  Visit(changed, taker);
  taker.Finish();
  *this = changed;
}

void Configuration::Set(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || assignment.empty() || assignment[0] != '/') {
    throw UsageError("--set " + assignment + ": expected /section/name=value, as --print-config shows them");
  }
  const std::string pointer = assignment.substr(0, equals);
  const std::string text = assignment.substr(equals + 1);
  Json all = ToJson();
  try {
    const Json::json_pointer where(pointer);
    if (!all.contains(where) || all[where].is_object()) {
      throw UsageError("--set " + pointer + ": there is no such setting (--print-config shows all)");
    }
    // Words need no quotes: what is no JSON is a string.
    Json value = Json::parse(text, nullptr, false);
    if (value.is_discarded() || (all[where].is_string() && !value.is_string())) value = text;
    all[where] = value;
  } catch (const Json::exception&) {
    throw UsageError("--set " + pointer + ": not a JSON pointer");
  }
  try {
    if (pointer == "/search/method") {
      Configuration changed = *this;
      changed.Read(JsonView(Json{{"search", {{"method", all[Json::json_pointer(pointer)]}}}}, "--set"));
      *this = changed;
      return;
    }
    Read(JsonView(all, "--set"));
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

void Configuration::UseMethod(sampling::Method method) {
  const Configuration defaults;
  sampling.method = method;
  const bool paper = method == sampling::Method::k2010;
  sampling.feedforward_gain = paper ? 1 : defaults.sampling.feedforward_gain;
  sampling.target_knots = paper ? 1 : defaults.sampling.target_knots;
  sampling.keep_inside_gates = paper ? false : defaults.sampling.keep_inside_gates;
  sampling.max_rewinds = paper ? 0 : defaults.sampling.max_rewinds;
  sampling.budget = paper ? 0 : defaults.sampling.budget;
  sampling.smoothing.passes = paper ? 0 : defaults.sampling.smoothing.passes;
  task.contact_preset = paper ? "paper" : defaults.task.contact_preset;
  task.cost.balance_velocity = paper ? 0.1 : defaults.task.cost.balance_velocity;
  task.cost.effector_position = paper ? 0 : defaults.task.cost.effector_position;
  task.drift_weight = paper ? 0 : defaults.task.drift_weight;
  task.reference.raise_hands = paper ? false : defaults.task.reference.raise_hands;
}

void Configuration::UsePaperMode() {
  UseMethod(sampling::Method::k2010);
  task.world.time_step = 0.0005;
  task.world.servo = simulation::Servo::kExplicit;
  task.world.speculative_contacts = false;
  task.world.ground_points_per_shape = 8;
  task.world.self_points_per_pair = 8;
}

}  // namespace retrace::runs
