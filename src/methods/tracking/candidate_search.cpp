#include "candidate_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "recorder.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/cpu_time.h"
#include "retrace/metrics/gates.h"
#include "retrace/metrics/required_forces.h"
#include "retrace/parallel/bytes.h"
#include "variation.h"

namespace retrace::tracking {
namespace {

constexpr size_t kMostKept = 8;        // candidates that go on
constexpr size_t kLeastPerKept = 6;    // candidates for each of them
constexpr size_t kOfOneParent = 4;     // that are kept at most, where there are several
constexpr double kForceTime = 0.008;   // time constant of a low-pass over differences of forces, of 20 Hz [s]
constexpr double kForce = 0.5;         // difference that costs as much as the next ones: on a body, in body weights,
constexpr double kTotalLift = 0.5;     // on the whole character upwards,
constexpr double kTotalThrust = 0.25;  // and along the ground, where forces are smaller;
constexpr double kLeft = 10;           // added for exceeding the tolerances
constexpr double kLeastGravity = 1;    // for the capture point [m/s^2]
constexpr double kLeastHeight = 0.1;   // the same [m]

/// Differences from the reference that cost as much as those of forces above. The first pass over a motion has to keep
/// its feet at all; the ones after it may leave the reference more for the sake of the forces.
struct Allowances {
  double place;     // root mean square over the bodies [m]
  double velocity;  // of the center of mass [m/s]
  double capture;   // distance of the capture point from the reference's, at the end [m]
};
constexpr Allowances kOfFirstPass = {0.08, 0.5, 0.15};
constexpr Allowances kOfLaterPass = {0.15, 1, 0.3};
const Allowances& AllowancesOf(int pass) {
  return pass == 0 ? kOfFirstPass : kOfLaterPass;
}

/// What a candidate is followed on from.
struct Beginning {
  character::State state;
  std::vector<double> memory;  // of the controller
  Variation variation;         // that led here
  double cost = 0;             // since the start
  int outside = 0;             // steps since it exceeded the tolerances
  std::vector<Vec3> missing;   // (bodies) of the forces on them, low-passed [N]
};

/// One line of candidates, seen from its end.
struct Kept {
  Beginning end;
  control::Fragment fragment;  // that led here
  std::vector<SolveRecord> records;
  std::shared_ptr<const Kept> before;
};

struct Trial {
  int32_t first = 0, steps = 0, pass = 0;
  uint32_t number = 0;  // of the candidate
  enum class Draw : uint8_t { kSame, kNone, kNear, kAny, kEarlier, kNearEarlier } draw = Draw::kSame;
  Variation earlier;  // of the fragment in the best pass so far
};

struct Outcome {
  uint8_t sane = 0;
  double capture_error = 0;  // [m]
  double cpu_seconds = 0;
};

void Put(parallel::Bytes& bytes, const Beginning& beginning) {
  const std::array<uint64_t, 3> sizes = {beginning.state.size(), beginning.memory.size(), beginning.missing.size()};
  parallel::Put(bytes, sizes.data(), 3);
  parallel::Put(bytes, beginning.state.data(), beginning.state.size());
  parallel::Put(bytes, beginning.memory.data(), beginning.memory.size());
  parallel::Put(bytes, &beginning.variation, 1);
  parallel::Put(bytes, &beginning.cost, 1);
  parallel::Put(bytes, &beginning.outside, 1);
  parallel::Put(bytes, beginning.missing.data(), beginning.missing.size());
}

void Take(parallel::Reader& reader, Beginning& beginning) {
  std::array<uint64_t, 3> sizes = {};
  reader.Take(sizes.data(), 3);
  beginning.missing.resize(sizes[2]);
  beginning.state.resize(sizes[0]);
  beginning.memory.resize(sizes[1]);
  reader.Take(beginning.state.data(), beginning.state.size());
  reader.Take(beginning.memory.data(), beginning.memory.size());
  reader.Take(&beginning.variation, 1);
  reader.Take(&beginning.cost, 1);
  reader.Take(&beginning.outside, 1);
  reader.Take(beginning.missing.data(), beginning.missing.size());
}

Vec3 CapturePoint(const character::Character& character, const character::State& state, double gravity) {
  const Vec3 center = character::CenterOfMass(character, state);
  const double ahead = std::sqrt(std::max(kLeastHeight, center.y()) / std::max(kLeastGravity, gravity));
  const Vec3 point = center + ahead * character::CenterOfMassVelocity(character, state);
  return {point.x(), 0, point.z()};
}

/// Simulates candidates.
class Follower {
 public:
  explicit Follower(const Problem& problem)
      : problem_(problem),
        character_(*problem.task.character),
        controller_(problem),
        recorder_(controller_),
        world_(character_, problem.task.world),
        weight_(character_.total_mass() * kStandardGravity) {
    world_.set_recording(true);
    metrics::RequiredForcesOptions required;
    required.gravity = problem.task.world.gravity;
    required.environment = problem.task.world.environment;
    required_ = metrics::RequiredForcesOf(*problem.tracked, required);
  }

  void operator()(std::span<const std::byte> bytes, parallel::Bytes& result) {
    parallel::Reader reader(bytes);
    Trial trial;
    reader.Take(&trial, 1);
    Beginning beginning;
    Take(reader, beginning);
    Follow(trial, beginning, result);
  }

 private:
  void Follow(const Trial& trial, Beginning& now, parallel::Bytes& bytes) {
    const double begin = io::ThreadCpuSeconds();
    RandomStream random(problem_.options.seed, RandomStage::kVariation, static_cast<uint32_t>(trial.first),
                        trial.number);
    if (trial.draw == Trial::Draw::kNone) now.variation = Variation();
    if (trial.draw == Trial::Draw::kEarlier) now.variation = trial.earlier;
    if (trial.draw == Trial::Draw::kNearEarlier) now.variation = DrawVariation(&trial.earlier, random);
    if (trial.draw == Trial::Draw::kNear) now.variation = DrawVariation(&now.variation, random);
    if (trial.draw == Trial::Draw::kAny) now.variation = DrawVariation(nullptr, random);
    controller_.Vary(now.variation);
    controller_.Recall(now.memory);
    controller_.TakeRecords();
    recorder_.Take();
    world_.SetState(now.state, trial.first);
    control::Controller* const controllers[] = {&recorder_};
    Outcome outcome;
    outcome.sane = control::Simulate(world_, controllers, trial.first, trial.steps, problem_.pushes, scratch_,
                                     [&](int step) { AddCost(step, AllowancesOf(trial.pass), now); })
                       ? 1
                       : 0;
    if (outcome.sane == 1) {
      now.memory = controller_.Memory();
      problem_.tracked->StateAt((trial.first + trial.steps) * problem_.time_step(), reference_);
      const double gravity = problem_.task.world.gravity;
      outcome.capture_error =
          (CapturePoint(character_, now.state, gravity) - CapturePoint(character_, reference_, gravity)).norm();
    }
    outcome.cpu_seconds = io::ThreadCpuSeconds() - begin;
    parallel::Put(bytes, &outcome, 1);
    Put(bytes, now);
    const std::vector<std::vector<simulation::JointCommand>> commands = recorder_.Take();
    const std::vector<SolveRecord> records = controller_.TakeRecords();
    const std::array<uint64_t, 2> sizes = {commands.size(), records.size()};
    parallel::Put(bytes, sizes.data(), 2);
    for (const auto& of_step : commands) parallel::Put(bytes, of_step.data(), of_step.size());
    parallel::Put(bytes, records.data(), records.size());
  }

  void AddCost(int step, const Allowances& allowed, Beginning& now) {
    const double h = problem_.time_step();
    world_.GetState(now.state);
    problem_.task.reference->StateAt((step + 1) * h, reference_);
    if (now.outside > 0 || metrics::LargestGateRatio(character_, now.state, reference_, problem_.task.gates) > 1) {
      ++now.outside;
    }
    problem_.tracked->StateAt((step + 1) * h, reference_);
    double distance = 0;
    for (size_t b = 0; b < reference_.size(); ++b) {
      distance += (now.state[b].position - reference_[b].position).squaredNorm();
    }
    distance /= static_cast<double>(reference_.size());
    const double velocity = (character::CenterOfMassVelocity(character_, now.state) -
                             character::CenterOfMassVelocity(character_, reference_))
                                .squaredNorm();
    const double force = problem_.options.guidance > 0 ? ForceCost((step + 0.5) * h, now) : 0;
    now.cost +=
        h * (force + distance / (allowed.place * allowed.place) + velocity / (allowed.velocity * allowed.velocity));
  }

  /// What the differences of the forces from those that are required cost. Plates and feet have their figures after a
  /// low-pass of 20 Hz; the force of one step says little.
  double ForceCost(double time, Beginning& now) {
    missing_.resize(character_.bodies.size());
    for (size_t b = 0; b < missing_.size(); ++b) {
      missing_[b] = -metrics::RequiredForceOn(static_cast<int>(b), time, required_, problem_.tracked->frame_time());
    }
    for (const simulation::Contact& contact : world_.contacts()) {
      if (contact.other < 0) missing_[static_cast<size_t>(contact.body)] += contact.force;
    }
    const double share = 1 - std::exp(-problem_.time_step() / kForceTime);
    now.missing.resize(missing_.size(), Vec3::Zero());
    double of_bodies = 0;
    Vec3 total = Vec3::Zero();
    for (size_t b = 0; b < missing_.size(); ++b) {
      now.missing[b] += share * (missing_[b] - now.missing[b]);
      of_bodies += now.missing[b].squaredNorm();
      total += now.missing[b];
    }
    return (of_bodies / (kForce * kForce) + total.y() * total.y() / (kTotalLift * kTotalLift) +
            (total.x() * total.x() + total.z() * total.z()) / (kTotalThrust * kTotalThrust)) /
           (weight_ * weight_);
  }

  const Problem& problem_;
  const character::Character& character_;
  TrackingController controller_;
  Recorder recorder_;
  std::vector<metrics::RequiredForces> required_;  // (poses less two)
  simulation::World world_;
  double weight_;  // [N]
  control::SimulationScratch scratch_;
  character::State reference_;
  std::vector<Vec3> missing_;  // (bodies) [N]
};

/// The candidates of one fragment.
class Candidates {
 public:
  /// @param earlier what the best pass so far chose for the fragment; null: there is none
  Candidates(const Problem& problem, std::vector<std::shared_ptr<const Kept>> kept, int first, int steps, int pass,
             const Variation* earlier)
      : problem_(problem), kept_(std::move(kept)), first_(first), steps_(steps), pass_(pass) {
    const auto count = static_cast<size_t>(problem.options.candidates);
    for (size_t c = 0; c < count; ++c) {
      Trial trial{
          first_, steps_, pass, static_cast<uint32_t>(static_cast<size_t>(pass) * count + c), Trial::Draw::kSame, {}};
      trial.draw = earlier == nullptr ? OfFirstPass(c / kept_.size()) : OfLaterPass(c / kept_.size());
      if (earlier != nullptr) trial.earlier = *earlier;
      parallel::Put(tasks_.emplace_back(), &trial, 1);
      Put(tasks_.back(), kept_[ParentOf(c)]->end);
    }
  }

  /// Those that go on, the best first; none when all diverged.
  std::vector<std::shared_ptr<const Kept>> Follow(parallel::TaskFarm& farm) {
    std::vector<std::shared_ptr<Kept>> found(tasks_.size());
    std::vector<std::pair<double, size_t>> order;
    farm.Run(tasks_, [&](size_t c, std::span<const std::byte> bytes) {
      parallel::Reader reader(bytes);
      Outcome outcome;
      reader.Take(&outcome, 1);
      cpu_seconds_ += outcome.cpu_seconds;
      if (outcome.sane == 0) return;
      found[c] = std::make_shared<Kept>();
      Take(reader, found[c]->end);
      TakeFragment(reader, *found[c]);
      const Beginning& end = found[c]->end;
      const double missed = outcome.capture_error / AllowancesOf(pass_).capture;
      order.emplace_back(end.cost + problem_.time_step() * steps_ * missed * missed + (end.outside > 0 ? kLeft : 0), c);
    });
    std::sort(order.begin(), order.end());
    std::vector<size_t> of_parent(kept_.size(), 0);
    std::vector<std::shared_ptr<const Kept>> best;
    const size_t most = std::clamp<size_t>(tasks_.size() / kLeastPerKept, 1, kMostKept);
    for (const auto& [cost, c] : order) {
      const size_t parent = ParentOf(c);
      if (best.size() == most || (kept_.size() > 1 && of_parent[parent] == kOfOneParent)) continue;
      ++of_parent[parent];
      found[c]->before = kept_[parent];
      best.push_back(std::move(found[c]));
    }
    return best;
  }

  /// CPU time of all workers [s].
  double cpu_seconds() const { return cpu_seconds_; }

 private:
  /// For each kept one: as it went here, as configured, then small and arbitrary changes in turn.
  static Trial::Draw OfFirstPass(size_t round) {
    if (round < 2) return round == 0 ? Trial::Draw::kSame : Trial::Draw::kNone;
    return round % 2 == 0 ? Trial::Draw::kNear : Trial::Draw::kAny;
  }

  /// Most near to what was best before.
  static Trial::Draw OfLaterPass(size_t round) {
    using Draw = Trial::Draw;
    constexpr std::array kDraws = {Draw::kEarlier,     Draw::kNearEarlier, Draw::kSame,
                                   Draw::kNearEarlier, Draw::kNear,        Draw::kAny};
    return kDraws[round % kDraws.size()];
  }

  size_t ParentOf(size_t candidate) const { return candidate % kept_.size(); }

  void TakeFragment(parallel::Reader& reader, Kept& kept) const {
    std::array<uint64_t, 2> sizes = {};
    reader.Take(sizes.data(), 2);
    kept.fragment.first_step = first_;
    kept.fragment.num_steps = static_cast<int>(sizes[0]);
    kept.fragment.commands.resize(sizes[0]);
    for (auto& of_step : kept.fragment.commands) {
      of_step.resize(problem_.task.character->joints.size());
      reader.Take(of_step.data(), of_step.size());
    }
    kept.records.resize(sizes[1]);
    reader.Take(kept.records.data(), kept.records.size());
  }

  const Problem& problem_;
  std::vector<std::shared_ptr<const Kept>> kept_;
  int first_;
  int steps_;
  int pass_;
  std::vector<parallel::Bytes> tasks_;
  double cpu_seconds_ = 0;
};

/// What one pass over the motion found.
struct Pass {
  Summary summary;
  std::vector<Variation> variations;  // (fragments)
  double cost = 0;
  int number = 0;

  /// Costs of the first pass are not those of the others.
  bool IsBetterThan(const Pass& other) const {
    if (summary.status != other.summary.status) return summary.status == Status::kReachedEnd;
    if (variations.size() != other.variations.size()) return variations.size() > other.variations.size();
    return (number > 0 && other.number == 0) || cost < other.cost;
  }
};

/// The line of candidates that ends here.
void TraceBack(const Kept& end, Pass& pass) {
  Summary& summary = pass.summary;
  summary.end = end.end.state;
  pass.cost = end.end.cost;
  for (const Kept* line = &end; line->before; line = line->before.get()) {
    summary.control.fragments.push_back(line->fragment);
    summary.records.insert(summary.records.end(), line->records.rbegin(), line->records.rend());
    pass.variations.push_back(line->end.variation);
  }
  std::reverse(summary.control.fragments.begin(), summary.control.fragments.end());
  std::reverse(summary.records.begin(), summary.records.end());
  std::reverse(pass.variations.begin(), pass.variations.end());
}

/// @param best of the passes before
Pass RunPass(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks, int number, const Pass& best) {
  TrackingController controller(problem);
  Pass pass;
  pass.number = number;
  Summary& summary = pass.summary;
  summary.control = {problem.task.world, controller.StartState(), {}};
  const auto start = std::make_shared<Kept>();
  start->end.state = summary.control.start;
  start->end.memory = controller.Memory();
  std::vector<std::shared_ptr<const Kept>> kept = {start};
  const double patience = kPatience / problem.time_step();
  int step = 0;
  for (size_t fragment = 0; summary.status == Status::kReachedEnd && step < problem.num_steps(); ++fragment) {
    const int steps = std::min(controller.fragment_steps(), problem.num_steps() - step);
    const Variation* earlier = fragment < best.variations.size() ? &best.variations[fragment] : nullptr;
    Candidates candidates(problem, kept, step, steps, number, earlier);
    std::vector<std::shared_ptr<const Kept>> next = candidates.Follow(farm);
    summary.cpu_seconds += candidates.cpu_seconds();
    if (next.empty()) {
      summary.status = Status::kDiverged;
      break;
    }
    kept = std::move(next);
    step += steps;
    if (kept.front()->end.outside > patience) summary.status = Status::kFell;
    if (hooks.on_progress) {
      hooks.on_progress((number * problem.num_steps() + step) * problem.time_step() / problem.options.passes);
    }
    const bool goes_on = summary.status == Status::kReachedEnd && step < problem.num_steps();
    if (goes_on && hooks.stop && hooks.stop()) summary.status = Status::kStopped;
  }
  TraceBack(*kept.front(), pass);
  return pass;
}

}  // namespace

parallel::WorkerFactory MakeCandidateWorkerFactory(const Problem& problem) {
  return [&problem]() -> parallel::Worker {
    const auto follower = std::make_shared<Follower>(problem);
    return [follower](std::span<const std::byte> task, parallel::Bytes& result) { (*follower)(task, result); };
  };
}

Summary SearchCandidates(const Problem& problem, parallel::TaskFarm& farm, const Hooks& hooks) {
  Pass best;
  double cpu_seconds = 0;
  for (int number = 0; number < problem.options.passes; ++number) {
    Pass pass = RunPass(problem, farm, hooks, number, best);
    cpu_seconds += pass.summary.cpu_seconds;
    if (number == 0 || pass.summary.status == Status::kStopped || pass.IsBetterThan(best)) best = std::move(pass);
    if (best.summary.status == Status::kStopped) break;
  }
  best.summary.cpu_seconds = cpu_seconds;
  return std::move(best.summary);
}

}  // namespace retrace::tracking
