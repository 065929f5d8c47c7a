#include "retrace/io/number.h"
#include "retrace/task/task.h"

namespace retrace::task {
namespace {

/// Longest simulation step for which the boundaries of segments, which are at least 0.06 s apart, fall on different
/// steps [s].
constexpr double kLongestStep = 0.05;

std::optional<std::string> FindProblemOfClip(character::ReferenceOptions reference) {
  io::Validator validator("/clip");
  DescribeClip(reference, validator);
  DescribeRange(reference, validator);
  return validator.problem();
}

}  // namespace

void Describe(Options& o, io::FieldVisitor& v) {
  v.Section({"schedule", "When control is sampled (Liu et al. 2010, section 3.2.3, Sampling Time Step)"},
            [&](io::FieldVisitor& section) { Describe(o.schedule, section); });
  v.Section({"cost", "Weights of the cost terms (section 3.2.4, table 4)"}, [&](io::FieldVisitor& section) {
    section.Field({"preset", "Kind of motion whose weights are used; automatic: as the clip is classified"},
                  o.cost_preset, io::Text{{"automatic", "locomotion", "flight", "hands", "get_up", "roll", "custom"}});
    Describe(o.cost_custom, section);
    section.Field({"drift",
                   "Weight wd, in every preset, of the distance of the center of mass from its place in the world; the "
                   "paper's is 0"},
                  o.drift_weight, io::Real{kWeights});
    Describe(o.cost, section);
  });
  v.Section({"contacts", "Stiffer joints while a limb bears weight (table 2, Contact Scale)"},
            [&](io::FieldVisitor& section) {
              section.Field(
                  {"preset",
                   "Factors that are used: automatic (the same for all motions), paper (by kind of motion) or a name "
                   "among the character's contact_presets"},
                  o.contact_preset, io::Text{});
            });
  v.Section({"reference", "From the clip to the character's reference motion"}, [&](io::FieldVisitor& section) {
    Describe(o.reference, section);
    section.Field({"ground",
                   "What the character stands on where no world says so: recording (the floor, and steps, "
                   "slopes, seats and tables that the motion shows) or plain (the floor alone)"},
                  o.ground, GroundSourceWords());
  });
  v.Section({"simulation", "The physical world"}, [&](io::FieldVisitor& section) { Describe(o.world, section); });
  v.Section({"gates", "Limits that hold at every instant and decide success, the same for every motion"},
            [&](io::FieldVisitor& section) { Describe(o.gates, section); });
}

std::optional<std::string> Options::Validate() const {
  if (auto problem = io::FindProblem(*this)) return problem;
  if (auto problem = FindProblemOfClip(reference)) return problem;
  // What a configuration does not hold of the world and of the weights.
  if (const auto problem = world.Validate()) return "/simulation" + *problem;
  for (const double weight : {cost_custom.drift, cost_custom.smoothness}) {
    if (!kWeights.Contains(weight)) {
      return "the custom weight of drift or smoothness: found " + io::Number(weight) + ", expected a number of " +
             io::Real{kWeights}.Legal();
    }
  }
  if (world.time_step > kLongestStep) {
    return "/simulation/time_step: found " + io::Number(world.time_step) + ", expected at most " +
           io::Number(kLongestStep) + " for a task";
  }
  if (world.time_step > schedule.sampling_step) {
    return "/schedule/sampling_step: found " + io::Number(schedule.sampling_step) +
           ", expected at least /simulation/time_step, which is " + io::Number(world.time_step);
  }
  return std::nullopt;
}

}  // namespace retrace::task
