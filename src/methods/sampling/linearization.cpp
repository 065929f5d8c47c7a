#include "linearization.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "retrace/io/cpu_time.h"
#include "retrace/math/rotation.h"
#include "retrace/parallel/bytes.h"

namespace retrace::sampling {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Tasks of rollouts begin with the number of an iteration, which is not negative; records of a store with the number
/// of an iteration, too, or with the mark of a state (search_state.cpp).
constexpr int32_t kTaskMark = -1;
constexpr uint64_t kRecordMark = std::numeric_limits<uint64_t>::max() - 1;

/// Differences over which contacts come and go: smaller ones see a contact or none, and are clearly worse.
constexpr double kPositionStep = 0.01;  // [m, rad]
constexpr double kVelocityStep = 0.1;   // [m/s, rad/s]
constexpr double kTurnStep = 0.05;      // of targets [rad]

/// Columns of a task: whole groups of lanes, and several tasks for each fragment.
constexpr int kColumnsPerTask = 36;

/// Whether a coordinate of a state's difference cannot move: of a planar character the root's.
bool IsHeld(const character::Character& character, Index coordinate) {
  return character.planar && (coordinate == 0 || coordinate == 4 || coordinate == 5);
}

const Offsets& OffsetsBefore(const std::vector<Node>& path, size_t fragment, const Offsets& none) {
  return fragment == 0 ? none : path[fragment - 1].offsets;
}

/// The displaced simulations of one task, two for each of its columns.
class Columns {
 public:
  Columns(const Problem& problem, parallel::Reader& reader)
      : problem_(problem), coordinates_(*problem.task.character), joints_(problem.task.character->joints.size()) {
    int32_t numbers[4];
    reader.Take(numbers, std::size(numbers));
    fragment_ = numbers[1];
    first_ = numbers[2];
    count_ = numbers[3];
    for (character::State* state : {&start_, &end_}) {
      state->resize(problem.task.start.size());
      reader.Take(state->data(), state->size());
    }
    for (Offsets* offsets : {&offsets_, &ramp_from_}) {
      offsets->assign(joints_, Quat::Identity());
      reader.Take(offsets->data(), offsets->size());
    }
  }

  void Run(RolloutWorker& worker, parallel::Bytes& result) {
    const Index n = coordinates_.size();
    const control::Fragment plain = MakeFragment(problem_, fragment_, offsets_, ramp_from_);
    const bool with_defect = first_ == 0;
    starts_.reserve(2 * static_cast<size_t>(count_));
    fragments_.reserve(2 * static_cast<size_t>(count_));
    for (Index column = first_; column < first_ + count_; ++column) {
      for (const double sign : {1.0, -1.0}) AddRun(column, sign);
    }
    std::vector<character::State> ends(starts_.size() + 1);
    std::vector<control::FragmentRun> runs;
    for (size_t r = 0; r < starts_.size(); ++r) {
      runs.push_back({&starts_[r], fragments_[r].num_steps > 0 ? &fragments_[r] : &plain, &ends[r]});
    }
    if (with_defect) runs.push_back({&start_, &plain, &ends.back()});
    worker.SimulateEnds(runs);
    VectorXd defect = VectorXd::Zero(2 * n), ahead(2 * n), behind(2 * n);
    dynamics::MotionPoint goal, point;
    Reduce(end_, goal);
    if (with_defect) {
      if (!runs.back().diverged) Difference(goal, ends.back(), point, defect);
      parallel::Put(result, defect.data(), static_cast<size_t>(defect.size()));
    }
    std::vector<float> numbers;
    for (Index c = 0; c < count_; ++c) {
      const auto r = static_cast<size_t>(2 * c);
      bool found = !IsHeldColumn(first_ + c) && !runs[r].diverged && !runs[r + 1].diverged;
      if (found) {
        Difference(goal, ends[r], point, ahead);
        Difference(goal, ends[r + 1], point, behind);
        ahead = (ahead - behind) / (2 * StepOf(first_ + c));
        found = ahead.allFinite();
      }
      for (Index i = 0; i < 2 * n; ++i) numbers.push_back(found ? static_cast<float>(ahead[i]) : 0.0F);
    }
    parallel::Put(result, numbers.data(), numbers.size());
  }

 private:
  bool IsHeldColumn(Index column) const {
    const Index n = coordinates_.size();
    return column < 2 * n && IsHeld(*problem_.task.character, column % n);
  }
  double StepOf(Index column) const {
    const Index n = coordinates_.size();
    return column < n ? kPositionStep : column < 2 * n ? kVelocityStep : kTurnStep;
  }

  void AddRun(Index column, double sign) {
    const Index n = coordinates_.size();
    character::State& start = starts_.emplace_back();
    control::Fragment& fragment = fragments_.emplace_back();
    if (column < 2 * n) {
      dynamics::MotionPoint point;
      Reduce(start_, point);
      VectorXd displacement = VectorXd::Zero(2 * n);
      if (!IsHeldColumn(column)) displacement[column] = sign * StepOf(column);
      dynamics::Apply(coordinates_, displacement, point);
      dynamics::Expand(coordinates_, point, start);
      start.insert(start.end(), start_.begin() + static_cast<std::ptrdiff_t>(start.size()), start_.end());
      return;
    }
    start = start_;
    VectorXd numbers = VectorXd::Zero(n - 6);
    numbers[column - 2 * n] = sign * kTurnStep;
    const std::vector<Vec3> turns = TurnsOf(coordinates_, numbers);
    Offsets turned = offsets_;
    for (size_t j = 0; j < turned.size(); ++j) {
      if (turns[j] != Vec3::Zero()) turned[j] = FromRotationVector(turns[j]) * turned[j];
    }
    fragment = MakeFragment(problem_, fragment_, turned, ramp_from_);
  }

  /// The coordinates of the character alone.
  void Reduce(const character::State& state, dynamics::MotionPoint& point) {
    own_.assign(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(problem_.task.character->bodies.size()));
    dynamics::Reduce(coordinates_, own_, point);
  }
  void Difference(const dynamics::MotionPoint& goal, const character::State& end, dynamics::MotionPoint& point,
                  VectorXd& difference) {
    Reduce(end, point);
    dynamics::Difference(coordinates_, goal, point, difference);
  }

  const Problem& problem_;
  dynamics::Coordinates coordinates_;
  size_t joints_;
  int fragment_ = 0;
  Index first_ = 0, count_ = 0;
  character::State start_, end_;
  Offsets offsets_, ramp_from_;
  std::vector<character::State> starts_;      // (runs)
  std::vector<control::Fragment> fragments_;  // (runs) without steps: the fragment as it is
  character::State own_;                      // scratch
};

Index NumColumns(const Problem& problem) {
  const Index n = dynamics::Coordinates(*problem.task.character).size();
  return 2 * n + n - 6;
}

}  // namespace

std::vector<Vec3> TurnsOf(const dynamics::Coordinates& coordinates, const VectorXd& numbers) {
  const std::vector<character::Joint>& joints = coordinates.character().joints;
  std::vector<Vec3> turns(joints.size(), Vec3::Zero());
  for (size_t j = 0; j < joints.size(); ++j) {
    const Index first = coordinates.FirstOf(static_cast<int>(j)) - 6;
    for (int a = 0; a < joints[j].num_axes(); ++a) {
      turns[j][joints[j].num_axes() == 3 ? a : joints[j].axis] = numbers[first + a];
    }
    turns[j] = joints[j].FromAxes(turns[j]);
  }
  return turns;
}

VectorXd NumbersOf(const dynamics::Coordinates& coordinates, std::span<const Vec3> turns) {
  const std::vector<character::Joint>& joints = coordinates.character().joints;
  VectorXd numbers(coordinates.size() - 6);
  for (size_t j = 0; j < joints.size(); ++j) {
    const Index first = coordinates.FirstOf(static_cast<int>(j)) - 6;
    const Vec3 turn = joints[j].PerAxis(turns[j]);
    for (int a = 0; a < joints[j].num_axes(); ++a) {
      numbers[first + a] = turn[joints[j].num_axes() == 3 ? a : joints[j].axis];
    }
  }
  return numbers;
}

optimization::LinearStep FragmentModel::System() const {
  const auto size = static_cast<Index>(defect.size());
  const Index controls = static_cast<Index>(numbers.size()) / size - size;
  const Eigen::Map<const Eigen::MatrixXf> state(numbers.data(), size, size);
  const Eigen::Map<const Eigen::MatrixXf> control(numbers.data() + size * size, size, controls);
  return {state.cast<double>(), control.cast<double>()};
}

size_t RolloutsOfModel(const Problem& problem) {
  return 1 + 2 * static_cast<size_t>(NumColumns(problem));
}

void Linearize(const Problem& problem, const std::vector<Node>& path, int first, int end, parallel::TaskFarm& farm,
               std::vector<FragmentModel>& models, double& cpu_seconds) {
  const auto columns = static_cast<int>(NumColumns(problem));
  const auto size = static_cast<size_t>(2 * dynamics::Coordinates(*problem.task.character).size());
  const Offsets none = NoOffsets(problem);
  struct Place {
    size_t model;
    size_t column;
    size_t count;
  };
  std::vector<parallel::Bytes> tasks;
  std::vector<Place> places;
  for (int f = first; f < end; ++f) {
    const auto k = static_cast<size_t>(f);
    FragmentModel& model = models.emplace_back();
    model.numbers.resize(size * static_cast<size_t>(columns));
    model.defect.resize(size);
    for (int column = 0; column < columns; column += kColumnsPerTask) {
      const int32_t numbers[] = {kTaskMark, f, column, std::min(kColumnsPerTask, columns - column)};
      parallel::Bytes& task = tasks.emplace_back();
      parallel::Put(task, numbers, std::size(numbers));
      const character::State& start = k == 0 ? problem.task.start : *path[k - 1].end;
      parallel::Put(task, start.data(), start.size());
      parallel::Put(task, path[k].end->data(), path[k].end->size());
      parallel::Put(task, path[k].offsets.data(), path[k].offsets.size());
      parallel::Put(task, OffsetsBefore(path, k, none).data(), none.size());
      places.push_back({models.size() - 1, static_cast<size_t>(column), static_cast<size_t>(numbers[3])});
    }
  }
  double seconds_of_all = 0;
  farm.Run(tasks, [&](size_t task, std::span<const std::byte> bytes) {
    const Place& place = places[task];
    FragmentModel& model = models[place.model];
    parallel::Reader reader(bytes);
    double seconds = 0;
    reader.Take(&seconds, 1);
    seconds_of_all += seconds;
    if (place.column == 0) reader.Take(model.defect.data(), size);
    reader.Take(model.numbers.data() + place.column * size, place.count * size);
  });
  cpu_seconds += seconds_of_all;
}

bool IsLinearization(std::span<const std::byte> task) {
  int32_t mark = 0;
  parallel::Reader(task).Take(&mark, 1);
  return mark == kTaskMark;
}

void RunLinearization(const Problem& problem, std::span<const std::byte> task, RolloutWorker& worker,
                      parallel::Bytes& result) {
  const double before = io::ThreadCpuSeconds();
  parallel::Reader reader(task);
  Columns columns(problem, reader);
  parallel::Bytes found;
  columns.Run(worker, found);
  const double seconds = io::ThreadCpuSeconds() - before;
  parallel::Put(result, &seconds, 1);
  parallel::Put(result, found.data(), found.size());
}

void Store(const std::vector<FragmentModel>& models, int first, double cpu_seconds, parallel::Bytes& bytes) {
  bytes.clear();
  const uint64_t numbers[] = {kRecordMark, static_cast<uint64_t>(first), models.size()};
  parallel::Put(bytes, numbers, std::size(numbers));
  parallel::Put(bytes, &cpu_seconds, 1);
  for (size_t k = static_cast<size_t>(first); k < models.size(); ++k) {
    parallel::Put(bytes, models[k].numbers.data(), models[k].numbers.size());
    parallel::Put(bytes, models[k].defect.data(), models[k].defect.size());
  }
}

void Restore(const parallel::Bytes& bytes, int first, int end, size_t state_size, std::vector<FragmentModel>& models,
             double& cpu_seconds) {
  parallel::Reader reader(bytes);
  uint64_t numbers[3];
  reader.Take(numbers, std::size(numbers));
  if (numbers[0] != kRecordMark || numbers[1] != static_cast<uint64_t>(first) ||
      numbers[2] != static_cast<uint64_t>(end)) {
    throw std::logic_error("an iteration of another search");
  }
  double seconds = 0;
  reader.Take(&seconds, 1);
  cpu_seconds += seconds;
  const size_t columns = state_size + state_size / 2 - 6;
  for (int k = first; k < end; ++k) {
    FragmentModel& model = models.emplace_back();
    model.numbers.resize(state_size * columns);
    model.defect.resize(state_size);
    reader.Take(model.numbers.data(), model.numbers.size());
    reader.Take(model.defect.data(), model.defect.size());
  }
  if (!reader.empty()) throw std::logic_error("too many bytes");
}

}  // namespace retrace::sampling
