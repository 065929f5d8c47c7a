// What a result depends on changes the identity: checkpoints, ranks, evaluate and finished runs are compared by it.
#include "retrace/jobs/identity.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "retrace/io/error.h"

namespace retrace::runs {
namespace {

/// Values that fields of any kind may have; a field takes the first legal one that is not its own.
const std::vector<io::Json>& Candidates() {
  static const io::Json candidates = io::ParseJson(
      R"([true, false, 0, 0.5, 1, 2, 3, 0.25, 0.02, 20, 100, 250, "x", "on", "2010", "roll", "stock", "explicit",
          "paper", "tracking", "tracked", "zero", "task", "off", "plain", "sampled"])",
      "candidates");
  static const std::vector<io::Json> list(candidates.begin(), candidates.end());
  return list;
}

/// Gives the field number `index` another legal value, the `skip`-th that there is.
class ChangeField final : public io::UniformVisitor<ChangeField> {
 public:
  ChangeField(int index, int skip) : index_(index), skip_(skip) {}

  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, T& value, const Kind& kind) {
    if (next_++ != index_) return;
    name_ = setting.key;
    const io::Json before = kind.Write(value);
    for (const io::Json& candidate : Candidates()) {
      try {
        kind.Read(io::JsonView(candidate, ""), value);
      } catch (const InputError&) {
        continue;
      }
      if (kind.Write(value) == before || skip_-- > 0) continue;
      changed_ = true;
      return;
    }
    kind.Read(io::JsonView(before, ""), value);
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }

  bool found() const { return next_ > index_; }
  bool changed() const { return changed_; }
  const std::string& name() const { return name_; }

 private:
  int index_;
  int skip_;
  int next_ = 0;
  bool changed_ = false;
  std::string name_;
};

std::vector<InputRecord> SomeInputs() {
  return {{{"clip", "walk.bvh"}, "aa"},         {{"skeleton", "walk.asf"}, "bb"},
          {{"map", "map.json"}, "cc"},          {{"character", "human.json"}, "dd"},
          {{"world 1", "ice.json"}, "ee"},      {{kConfigurationRole, "mine.json"}, "ff"},
          {{kMeasuredRole, "plates.mot"}, "gg"}};
}

// Row01, Row02: the identity left out the part of the clip that is used, and its speed.
TEST(Identity, Row01Row02EveryFieldOfTheConfigurationChangesIt) {
  const JobOptions plain;
  const io::Json before = Identity(plain, SomeInputs());
  int index = 0;
  for (bool more = true; more; ++index) {
    bool changed = false;
    for (int skip = 0; more && !changed && skip < 20; ++skip) {
      JobOptions options;
      ChangeField change(index, skip);
      Describe(options.configuration, change);
      more = change.found();
      if (!more || options.configuration.Validate()) continue;  // some settings must go together
      changed = change.changed();
      EXPECT_EQ(Identity(options, SomeInputs()) != before, changed) << change.name();
    }
    EXPECT_TRUE(changed || !more) << "no other legal value is known for field " << index;
  }
  EXPECT_GT(index, 60);
}

TEST(Identity, Row01Row02EveryOptionOfTheClipChangesIt) {
  const io::Json before = Identity(JobOptions(), SomeInputs());
  const auto changes = [&](const char* what, auto&& change) {
    JobOptions options;
    change(options.clip);
    EXPECT_NE(Identity(options, SomeInputs()), before) << what;
  };
  changes("start", [](ClipOptions& clip) { clip.start = 0.1; });
  changes("end", [](ClipOptions& clip) { clip.end = 3.1; });
  changes("time_scale", [](ClipOptions& clip) { clip.time_scale = 1.5; });
  changes("retimings", [](ClipOptions& clip) { clip.retimings = {{1, 2, 1.5}}; });
  changes("loop", [](ClipOptions& clip) { clip.loop = 10; });
  changes("unit", [](ClipOptions& clip) { clip.unit = 0.01; });
  changes("up_axis", [](ClipOptions& clip) { clip.up_axis = "z"; });
  changes("frame_rate", [](ClipOptions& clip) { clip.frame_rate = 60; });
  changes("skipped_frames", [](ClipOptions& clip) { clip.skipped_frames = 2; });
  changes("keep_calibration_frames", [](ClipOptions& clip) { clip.keep_calibration_frames = true; });
  changes("mirror", [](ClipOptions& clip) { clip.mirror = true; });
  changes("floor_height", [](ClipOptions& clip) { clip.floor_height = 0.5; });
  changes("treadmill", [](ClipOptions& clip) { clip.treadmill = 2; });
  changes("level_floor", [](ClipOptions& clip) { clip.level_floor = false; });
  changes("facing", [](ClipOptions& clip) { clip.facing = 1; });
}

TEST(Identity, EveryFileChangesItButAConfigurationFileDoesNot) {
  const JobOptions options;
  const io::Json before = Identity(options, SomeInputs());
  for (size_t i = 0; i < SomeInputs().size(); ++i) {
    std::vector<InputRecord> inputs = SomeInputs();
    inputs[i].sha256 = "00";
    const bool counts = inputs[i].name.role != kConfigurationRole;  // its settings count, wherever they come from
    EXPECT_EQ(Identity(options, inputs) != before, counts) << inputs[i].name.role;
    inputs = SomeInputs();
    inputs[i].name.path = "elsewhere";
    EXPECT_EQ(Identity(options, inputs), before) << inputs[i].name.role;
  }
}

TEST(Identity, MassChoiceAndPlaceOfWhatWasMeasuredChangeIt) {
  const io::Json before = Identity(JobOptions(), SomeInputs());
  JobOptions heavy, kept, weak, turned, late, exchanged, other_animation, other_performer;
  heavy.mass = 80;
  kept.servos = character::Servos::kKept;
  weak.efforts = {{"knee", 60}};
  turned.measured_heading = 1;
  late.measured_delay = 0.01;
  exchanged.measured_exchanged = true;
  other_animation.clip.choice.animation = "run";
  other_performer.clip.choice.performer = "Bob";
  EXPECT_NE(Identity(other_animation, SomeInputs()), before);
  EXPECT_NE(Identity(other_performer, SomeInputs()), before);
  EXPECT_NE(Identity(heavy, SomeInputs()), before);
  EXPECT_NE(Identity(kept, SomeInputs()), before);
  EXPECT_NE(Identity(weak, SomeInputs()), before);
  EXPECT_NE(Identity(turned, SomeInputs()), before);
  EXPECT_NE(Identity(late, SomeInputs()), before);
  EXPECT_NE(Identity(exchanged, SomeInputs()), before);
}

// A struct with a member more or less does not compile here; whoever adds one adds a line to a test above. Members of
// the configuration's structs are fields of their descriptions (Description.NamesEveryField).
TEST(Identity, KnowsEveryMember) {
  const auto& [clip, character, worlds, configuration, configuration_file, mass, servos, efforts, measured,
               measured_heading, measured_delay, measured_exchanged] = JobOptions();
  const auto& [file, skeleton, choice, joint_map, start, end, scale, retimings, loop, unit, up, rate, skipped, keep,
               mirror, floor, treadmill, level, facing] = clip;
  EXPECT_TRUE(file.empty());
  EXPECT_TRUE(configuration.task.Validate() == std::nullopt);
}

}  // namespace
}  // namespace retrace::runs
