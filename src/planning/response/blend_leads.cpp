#include "blend_leads.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "response_candidates.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/planning/segments/joined_control.h"

namespace retrace::runs {
namespace {

constexpr double kLedApart = 0.15;      // of those that are tried [s]
constexpr double kTooMuchHidden = 0.1;  // what each half of the impulse beyond the first one counts as [m]

/// What a change of momentum that no force makes counts as [m].
double FaultOfHidden(const ImpactSimulation& struck, double hidden) {
  const double half = 0.5 * struck.problem().impact.impulse;
  const double too_much = half > 0 ? std::max(0.0, hidden / half - 1) : 0;
  return kHiddenTime * hidden / struck.character().total_mass() + kTooMuchHidden * too_much;
}

struct LedInstant {
  int step = 0;
  double time = 0;  // of the motion [s]
  double gap = 0, hidden = 0, score = 0;
};

}  // namespace

double ExpectedFault(const ImpactSimulation& struck, const ResponseCandidate& candidate) {
  return candidate.gap + FaultOfHidden(struck, candidate.hidden_impulse);
}

std::shared_ptr<const SimulatedLead> SimulateLead(const ImpactSimulation& struck,
                                                  std::vector<control::Fragment> fragments, int end) {
  std::vector<control::Fragment> all = control::Truncate(struck.exit(), struck.problem().control.fragments);
  all.insert(all.end(), fragments.begin(), fragments.end());
  control::OpenLoop open_loop(all);
  auto lead = std::make_shared<SimulatedLead>();
  lead->states =
      struck.OneOf(struck.SimulateAll(struck.problem().run.scene.start, open_loop, 0, end), ResponseProblem::kReceiver)
          .states;
  lead->fragments = std::move(fragments);
  return lead;
}

std::vector<LedCandidate> NearestInstants(const ImpactSimulation& struck,
                                          const std::shared_ptr<const SimulatedLead>& lead,
                                          const ResponseCandidate& followed, int from, int to, double shift,
                                          size_t most) {
  const character::Character& character = struck.character();
  const character::ReferenceMotion& motion = struck.MotionOf(followed);
  const double h = struck.h(), mass = character.total_mass();
  const int every = std::max(1, struck.StepOf(kCompositionFrame));
  to = std::min(to, static_cast<int>(lead->states.size()) - 2);
  const int enters = struck.impact() + struck.StepOf(followed.start);
  // The motion at the same rate, by steps of the lead.
  const int shifted = struck.StepOf(shift) / every * every;
  std::vector<character::State> states;
  std::vector<Vec3> velocities;
  const auto time_at = [&](int step) { return followed.time + (step - enters) * h; };
  for (int step = from - shifted; step <= to + shifted; step += every) {
    motion.StateAt(std::clamp(time_at(step), 0.0, motion.duration()), states.emplace_back());
    velocities.push_back(character::CenterOfMassVelocity(character, states.back()));
  }
  std::vector<LedInstant> instants;
  for (int step = from; step <= to; step += every) {
    const character::State& state = lead->states[static_cast<size_t>(step)];
    const Vec3 velocity = character::CenterOfMassVelocity(character, state);
    LedInstant best;
    for (int at = step - shifted; at <= step + shifted; at += every) {
      const double time = time_at(at);
      if (time < 0 || time > motion.duration() - kGoOver) continue;
      const auto k = static_cast<size_t>((at - from + shifted) / every);
      const metrics::GroundAlignment alignment = metrics::AlignOnGround(character, state, states[k]);
      const double hidden = mass * (alignment.heading * velocities[k] - velocity).norm();
      const double least = FaultOfHidden(struck, hidden);
      if (best.step != 0 && least >= best.score) continue;
      const double gap = metrics::StateDistance(character, state, states[k]);
      if (best.step == 0 || gap + least < best.score) best = {step, time, gap, hidden, gap + least};
    }
    if (best.step != 0) instants.push_back(best);
  }
  std::stable_sort(instants.begin(), instants.end(),
                   [](const LedInstant& a, const LedInstant& b) { return a.score < b.score; });
  std::vector<LedCandidate> nearest;
  for (const LedInstant& instant : instants) {
    if (nearest.size() == most) break;
    LedCandidate led{followed, lead};
    ResponseCandidate& candidate = led.candidate;
    candidate.start = (instant.step - struck.impact()) * h;
    candidate.time = instant.time;
    candidate.gap = instant.gap;
    candidate.hidden_impulse = instant.hidden;
    const bool near = std::any_of(nearest.begin(), nearest.end(), [&](const LedCandidate& other) {
      return std::abs(other.candidate.start - candidate.start) < kLedApart;
    });
    if (near || (!candidate.own && !FindEnd(struck, candidate))) continue;
    nearest.push_back(std::move(led));
  }
  return nearest;
}

}  // namespace retrace::runs
