#include "retrace/control/sensed_controller.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "retrace/math/random.h"

namespace retrace::control {

void Describe(Sensors& s, io::FieldVisitor& v) {
  v.Section({"sensors", "What feedback sees of the motion"}, [&](io::FieldVisitor& section) {
    section.Field({"delay", "Time from a motion to the command that follows from it", "s"}, s.delay, io::Real{{0, 1}});
    section.Field({"noise",
                   "Standard deviation of the noise on the rates of the joints and the root, in rad/s; that of their "
                   "angles is a tenth of the number, in rad"},
                  s.noise, io::Real{{0, 10}});
    section.Field({"seed", "Seed of the noise"}, s.seed, io::Natural{});
  });
}

SensedController::SensedController(Controller& controller, const character::Character& character,
                                   std::vector<character::State> undisturbed, int first_step, double time_step,
                                   const Sensors& sensors)
    : controller_(controller),
      coordinates_(character),
      bodies_(static_cast<std::ptrdiff_t>(character.bodies.size())),
      undisturbed_(std::move(undisturbed)),
      first_step_(first_step),
      delay_(static_cast<int>(std::lround(sensors.delay / time_step))),
      noise_(sensors.noise),
      seed_(sensors.seed),
      differences_(2 * coordinates_.size(), delay_ + 1) {
  seen_.reserve(character.bodies.size());
}

const character::State& SensedController::Undisturbed(int step) const {
  const int last = static_cast<int>(undisturbed_.size()) - 1;
  return undisturbed_[static_cast<size_t>(std::clamp(step - first_step_, 0, last))];
}

void SensedController::Command(const StepContext& now, std::span<simulation::JointCommand> commands) {
  const Eigen::Index n = coordinates_.size();
  dynamics::Reduce(coordinates_, Undisturbed(now.step), point_);
  dynamics::Reduce(coordinates_, now.state, other_);
  auto measured = differences_.col(measured_ % differences_.cols());
  dynamics::Difference(coordinates_, point_, other_, measured);
  if (noise_ > 0) {
    RandomStream random(seed_, RandomStage::kStart, static_cast<uint32_t>(now.step) + 1, 1);
    for (Eigen::Index i = 3; i < n; ++i) {
      measured[i] += 0.1 * noise_ * random.Normal();
      measured[n + i] += noise_ * random.Normal();
    }
  }
  ++measured_;
  // The oldest one is the next to be replaced, once there are as many as the delay has steps.
  const Eigen::Index oldest = measured_ < differences_.cols() ? 0 : measured_ % differences_.cols();
  dynamics::Apply(coordinates_, differences_.col(oldest), point_);
  dynamics::Expand(coordinates_, point_, seen_);
  seen_.insert(seen_.end(), now.state.begin() + bodies_, now.state.end());
  controller_.Command({now.step, now.time, seen_, now.layout, now.character}, commands);
}

}  // namespace retrace::control
