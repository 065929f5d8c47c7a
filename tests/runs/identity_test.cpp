// What a result depends on changes the identity: checkpoints, ranks, evaluate and finished runs are compared by it.
#include "retrace/runs/identity.h"

#include <gtest/gtest.h>

#include <tuple>

#include "retrace/io/error.h"

namespace retrace::runs {
namespace {

/// Values that fields of any kind may have; a field takes the first legal one that is not its own.
const std::vector<io::Json>& Candidates() {
  static const io::Json candidates = io::ParseJson(
      R"([true, false, 0, 0.5, 1, 2, 3, 0.25, 0.02, 20, 100, 250, "x", "on", "2010", "roll", "stock", "explicit"])",
      "candidates");
  static const std::vector<io::Json> list(candidates.begin(), candidates.end());
  return list;
}

/// Gives the field number `index` another legal value, the `skip`-th that there is.
class ChangeField {
 public:
  ChangeField(int index, int skip) : index_(index), skip_(skip) {}

  template <typename T, typename Kind>
  void Field(const io::Setting& setting, T& value, const Kind& kind) {
    if (next_++ != index_) return;
    name_ = setting.key;
    for (const io::Json& candidate : Candidates()) {
      T changed = value;
      try {
        kind.Read(io::JsonView(candidate, ""), changed);
      } catch (const InputError&) {
        continue;
      }
      if (kind.Write(changed) == kind.Write(value) || skip_-- > 0) continue;
      value = changed;
      changed_ = true;
      return;
    }
  }
  template <typename Fields>
  void Section(const io::Setting&, const Fields& fields) {
    fields(*this);
  }

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

class CountFields {
 public:
  template <typename T, typename Kind>
  void Field(const io::Setting&, const T&, const Kind&) {
    ++count_;
  }
  template <typename Fields>
  void Section(const io::Setting&, const Fields& fields) {
    fields(*this);
  }
  size_t count() const { return count_; }

 private:
  size_t count_ = 0;
};

template <typename Options>
size_t NumFields(const Options& options) {
  CountFields counter;
  Describe(options, counter);
  return counter.count();
}

template <typename... Members>
constexpr size_t Count(const Members&...) {
  return sizeof...(Members);
}

std::vector<InputRecord> SomeInputs() {
  return {{{"clip", "walk.bvh"}, "aa"},    {{"skeleton", "walk.asf"}, "bb"},
          {{"map", "map.json"}, "cc"},     {{"character", "human.json"}, "dd"},
          {{"world 1", "ice.json"}, "ee"}, {{kConfigurationRole, "mine.json"}, "ff"}};
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
  changes("unit", [](ClipOptions& clip) { clip.unit = 0.01; });
  changes("up_axis", [](ClipOptions& clip) { clip.up_axis = "z"; });
  changes("frame_rate", [](ClipOptions& clip) { clip.frame_rate = 60; });
  changes("skipped_frames", [](ClipOptions& clip) { clip.skipped_frames = 2; });
  changes("floor_height", [](ClipOptions& clip) { clip.floor_height = 0.5; });
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

// A struct with a member more or less does not compile here. Whoever adds a member describes it (io/describe.h), and
// counts it below; a member of ClipOptions also needs a line in the test above.
TEST(Identity, KnowsEveryMember) {
  const JobOptions job;
  const auto& [clip, character, worlds, configuration, configuration_file] = job;
  const auto& [file, skeleton, joint_map, start, end, scale, unit, up, rate, skipped, floor, level, facing] = clip;
  EXPECT_EQ(Count(file, skeleton, joint_map), 3U);  // in the hashes of the files
  EXPECT_EQ(Count(start, end, scale, unit, up, rate, skipped, floor, level, facing), 10U);
  EXPECT_EQ(Count(character, worlds, configuration_file), 3U);  // likewise

  const auto& [task, sampling] = configuration;
  const auto& [reference, schedule, world, gates, cost_preset, cost_custom, cost, drift_weight, contact_preset] = task;
  EXPECT_EQ(NumFields(task), NumFields(reference) + NumFields(schedule) + NumFields(world) + NumFields(gates) +
                                 NumFields(cost_custom) + NumFields(cost) +
                                 Count(cost_preset, drift_weight, contact_preset));
  {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = reference;
    CountFields all;
    Describe(reference, all);
    DescribeClip(reference, all);
    DescribeRange(reference, all);
    // The joint map and its file's name are no fields: they come from a file.
    EXPECT_EQ(all.count() + 2, Count(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p));
  }
  {
    const auto& [sampling_step, segmentation] = schedule;
    EXPECT_EQ(NumFields(schedule), Count(sampling_step, segmentation));
  }
  {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, contact_scale, environment] = world;
    EXPECT_EQ(NumFields(world), Count(a, b, c, d, e, f, g, h, i, j, k, l, m));
    // Those follow from the contact preset, and from the files of the worlds.
    EXPECT_EQ(Count(contact_scale, environment), 2U);
  }
  {
    const auto& [root_height, root_orientation, joint_position] = gates;
    EXPECT_EQ(NumFields(gates), Count(root_height, root_orientation, joint_position));
  }
  {
    const auto& [pose, root, end_effector, balance, drift, smoothness] = cost_custom;
    EXPECT_EQ(NumFields(cost_custom), Count(pose, root, end_effector, balance));
    EXPECT_EQ(Count(drift, smoothness), 2U);  // follow from drift_weight and from the method
  }
  {
    const auto& [balance_velocity, effector_position] = cost;
    EXPECT_EQ(NumFields(cost), Count(balance_velocity, effector_position));
  }
  {
    const auto& [a, b, selection, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, smoothing] = sampling;
    EXPECT_EQ(NumFields(sampling), Count(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v) +
                                       NumFields(selection) + NumFields(smoothing));
    const auto& [saved, discarded, exponent, distinct] = selection;
    EXPECT_EQ(NumFields(selection), Count(saved, discarded, exponent, distinct));
    const auto& [passes, samples, weight, pass_drift, blend, deviation, decay, ramp, cost_limit] = smoothing;
    EXPECT_EQ(NumFields(smoothing),
              Count(passes, samples, weight, pass_drift, blend, deviation, decay, ramp, cost_limit));
  }
}

}  // namespace
}  // namespace retrace::runs
