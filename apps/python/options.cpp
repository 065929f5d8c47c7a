#include "options.h"

#include <nlohmann/json.hpp>

#include "common/job_options.h"
#include "retrace/io/describe.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/math/rotation.h"

namespace retrace::python {
namespace {

constexpr size_t kMostTexts = 1000;

/// Takes members of an object one after the other; what is left is of the clip.
class Taker {
 public:
  explicit Taker(io::Json& document) : document_(document), view_(document_, "options") {}

  void Text(const char* key, std::string& value) {
    if (const auto view = Find(key)) value = view->String();
    Drop(key);
  }
  void Texts(const char* key, std::vector<std::string>& values) {
    if (const auto view = Find(key)) values = view->Strings(kMostTexts);
    Drop(key);
  }
  void Flag(const char* key, bool& value) {
    if (const auto view = Find(key)) value = view->Boolean();
    Drop(key);
  }
  template <typename Value, typename Kind>
  void Field(const char* key, Value& value, const Kind& kind) {
    if (const auto view = Find(key)) kind.Read(*view, value);
    Drop(key);
  }
  template <typename Value, typename Words>
  void Word(const char* key, std::optional<Value>& value, const Words& words) {
    if (const auto view = Find(key)) words.Read(*view, value.emplace());
    Drop(key);
  }

 private:
  std::optional<io::JsonView> Find(const char* key) const {
    if (!view_.Has(key) || view_[key].json().is_null()) return std::nullopt;
    return view_[key];
  }
  void Drop(const char* key) { document_.erase(key); }

  io::Json& document_;
  io::JsonView view_;
};

}  // namespace

runs::JobOptions JobOptionsOf(const std::string& json, const runs::Configuration& defaults) {
  io::Json document = io::ParseJson(json, "options");
  apps::JobArguments o;
  o.defaults = defaults;
  Taker take(document);
  take.Text("clip", o.clip.clip);
  take.Text("skeleton", o.clip.skeleton);
  take.Text("animation", o.clip.animation);
  take.Text("performer", o.clip.performer);
  take.Text("map", o.clip.map);
  take.Text("up", o.clip.up);
  bool level_floor = true;
  take.Flag("level_floor", level_floor);
  o.clip.no_level_floor = !level_floor;
  take.Field("seconds", o.clip.seconds, io::OptionalReal{character::kDurations});
  take.Text("character", o.character);
  take.Texts("world", o.worlds);
  take.Word("ground", o.ground, task::GroundSourceWords());
  take.Text("config", o.config);
  take.Texts("set", o.sets);
  take.Word("method", o.method, runs::MethodWords());
  take.Word("quality", o.quality, runs::QualityWords());
  take.Field("samples", o.samples, io::Optional<io::Integer, int>{sampling::kSampleNumbers});
  take.Field("saved", o.saved, io::Optional<io::Integer, int>{sampling::kSavedNumbers});
  take.Word("seed", o.seed, io::Natural{});
  take.Field("continuation", o.continuation, io::OptionalReal{{0, 30}});
  take.Flag("best_effort", o.best_effort);
  take.Flag("repair", o.repair);
  take.Flag("paper", o.paper);
  take.Word("solver", o.solver,
            io::Words<simulation::Solver>{
                {{simulation::Solver::kStock, "stock"}, {simulation::Solver::kReduced, "reduced", "eliminated"}}});
  take.Field("mass", o.mass, io::OptionalReal{{1, 1000}});
  take.Text("force_plates", o.force_plates);
  take.Field("force_plates_heading", o.force_plates_heading, io::OptionalAngle{{-360, 360}});
  take.Field("force_plates_delay", o.force_plates_delay, io::OptionalReal{{-1, 1}});
  std::optional<bool> exchanged;
  take.Word("force_plates_sides", exchanged, io::Words<bool>{{{false, "named"}, {true, "exchanged"}}});
  o.force_plates_exchanged = exchanged.value_or(false);
  take.Texts("strength", o.strength.efforts);
  std::optional<character::Servos> servos;
  take.Word("servos", servos, character::ServosWords());
  if (servos) o.strength.servos = *servos;
  io::Read(io::JsonView(document, "options"), o.clip.numbers);
  apps::RequireClip(o.clip);
  return apps::ParseJob(o);
}

}  // namespace retrace::python
