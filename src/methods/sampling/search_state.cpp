#include "search_state.h"

#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "retrace/parallel/bytes.h"

namespace retrace::sampling {
namespace {

/// No iteration has this number.
constexpr uint64_t kMark = std::numeric_limits<uint64_t>::max();

/// A state is handed on in pieces of about this size: as a whole it would double the memory of a search [bytes].
constexpr size_t kPiece = 1 << 18;

/// Both directions visit the same members in the same order: one function describes each type.
class Packer {
 public:
  explicit Packer(const io::Pieces& pieces) : pieces_(pieces) {}
  template <typename T>
  void Plain(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    parallel::Put(bytes_, &value, 1);
    if (bytes_.size() > kPiece) Flush();
  }
  template <typename T>
  void Block(const std::vector<T>& values) {
    Plain(static_cast<uint64_t>(values.size()));
    parallel::Put(bytes_, values.data(), values.size());
    if (bytes_.size() > kPiece) Flush();
  }
  template <typename T, typename Visit>
  void Each(const std::vector<T>& values, const Visit& visit) {
    Plain(static_cast<uint64_t>(values.size()));
    for (const T& value : values) visit(value);
  }
  template <typename T>
  void OptionalBlock(const std::optional<std::vector<T>>& values) {
    Plain(values.has_value());
    if (values) Block(*values);
  }
  void State(const std::shared_ptr<const character::State>& state) { Block(*state); }
  void Flush() {
    pieces_(bytes_);
    bytes_.clear();
  }

 private:
  const io::Pieces& pieces_;
  parallel::Bytes bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(const parallel::Bytes& bytes) : reader_(bytes), size_(bytes.size()) {}
  template <typename T>
  void Plain(T& value) {
    reader_.Take(&value, 1);
  }
  template <typename T>
  void Block(std::vector<T>& values) {
    values.resize(Size(sizeof(T)));
    reader_.Take(values.data(), values.size());
  }
  template <typename T, typename Visit>
  void Each(std::vector<T>& values, const Visit& visit) {
    values.resize(Size(1));
    for (T& value : values) visit(value);
  }
  template <typename T>
  void OptionalBlock(std::optional<std::vector<T>>& values) {
    bool present = false;
    Plain(present);
    if (present) Block(values.emplace());
  }
  void State(std::shared_ptr<const character::State>& state) {
    character::State read;
    Block(read);
    state = std::make_shared<const character::State>(std::move(read));
  }
  bool empty() const { return reader_.empty(); }

 private:
  /// A number of elements, each of at least so many bytes.
  size_t Size(size_t each) {
    uint64_t size = 0;
    Plain(size);
    if (size > size_ / each) throw std::logic_error("too few bytes");
    return size;
  }

  parallel::Reader reader_;
  size_t size_;
};

template <typename Visitor, typename AnyNode>
void Visit(Visitor& v, AnyNode& node) {
  v.Plain(node.parent);
  v.Plain(node.start);
  v.Plain(node.iteration);
  v.Plain(node.sample);
  v.Plain(node.path_cost);
  v.Block(node.offsets);
  v.OptionalBlock(node.displacement);
  v.OptionalBlock(node.ramp_from);
  v.Plain(node.terms);
  v.State(node.end);
}

template <typename Visitor, typename AnyTree>
void VisitTree(Visitor& v, AnyTree& tree) {
  v.Each(tree, [&](auto& level) { v.Each(level, [&](auto& node) { Visit(v, node); }); });
}

template <typename Visitor, typename AnyRecord>
void VisitRecord(Visitor& v, AnyRecord& record) {
  v.Plain(record.iteration);
  v.Plain(record.fragment);
  v.Plain(record.fitted);
  v.Plain(record.refinement);
  v.Plain(record.restart);
  v.Plain(record.drawn);
  v.Plain(record.attempt);
  v.Plain(record.start);
  v.Plain(record.end);
  v.Plain(record.weights);
  v.Plain(record.best_cost);
  v.Plain(record.drawn_costs);
  v.Plain(record.saved_costs);
  v.Plain(record.diverged);
  v.Plain(record.inside_gates);
  v.Plain(record.rollouts);
  v.Plain(record.cpu_seconds);
  v.Block(record.selection.samples);
  v.Plain(record.selection.distinct);
  v.Plain(record.selection.distinct_literal);
  v.Plain(record.back_to);
  v.Block(record.samples);
}

/// The members of a summary during the search; the control follows at the end.
template <typename Visitor, typename AnySummary>
void VisitSummary(Visitor& v, AnySummary& summary) {
  v.Plain(summary.ending);
  v.Plain(summary.failure);
  v.Block(summary.refinement);
  v.Each(summary.iterations, [&](auto& record) { VisitRecord(v, record); });
  v.Plain(summary.simulated_seconds);
  v.Plain(summary.search_seconds);
  v.Plain(summary.rollouts);
  v.Plain(summary.back_offs);
  v.Plain(summary.restarted_at);
  v.Plain(summary.cpu_seconds);
}

template <typename Visitor, typename AnyState>
void VisitState(Visitor& v, AnyState& state) {
  v.Plain(state.phase);
  VisitSummary(v, state.summary);
  VisitTree(v, state.tree);
  VisitTree(v, state.furthest);
  v.Plain(state.reached);
  v.Plain(state.reached_at);
  v.Plain(state.back_off);
  v.Block(state.attempts);
  v.Plain(state.noise);
  v.Plain(state.caution);
  v.Plain(state.pass.report);
  v.Each(state.pass.path, [&](auto& node) { Visit(v, node); });
  v.Each(state.pass.models, [&](auto& model) {
    v.Block(model.numbers);
    v.Block(model.defect);
  });
  v.Plain(state.pass.passes_of_models);
  VisitTree(v, state.pass.tree);
}

}  // namespace

void Pack(const SearchState& state, const io::Pieces& pieces) {
  Packer packer(pieces);
  packer.Plain(kMark);
  VisitState(packer, state);
  packer.Each(state.distributions, [&](const OffsetDistribution& distribution) {
    const auto* normal = std::get_if<NormalOffsets>(&distribution);  // none of the search is guided
    packer.Plain(normal != nullptr);
    if (normal == nullptr) return;
    packer.Block(normal->mean);
    packer.Block(normal->deviation);
    packer.OptionalBlock(normal->goal);
  });
  packer.Flush();
}

bool IsSearchState(const parallel::Bytes& bytes) {
  uint64_t mark = 0;
  if (bytes.size() < sizeof mark) return false;
  std::memcpy(&mark, bytes.data(), sizeof mark);
  return mark == kMark;
}

SearchState UnpackSearchState(const parallel::Bytes& bytes, const Problem& problem) {
  Unpacker unpacker(bytes);
  uint64_t mark = 0;
  unpacker.Plain(mark);
  SearchState state;
  VisitState(unpacker, state);
  unpacker.Each(state.distributions, [&](OffsetDistribution& distribution) {
    bool fitted = false;
    unpacker.Plain(fitted);
    if (!fitted) return;
    NormalOffsets& normal = distribution.emplace<NormalOffsets>();
    unpacker.Block(normal.mean);
    unpacker.Block(normal.deviation);
    unpacker.OptionalBlock(normal.goal);
  });
  const auto fragments = static_cast<size_t>(problem.task.schedule.num_iterations());
  if (!unpacker.empty() || state.attempts.size() != fragments || state.distributions.size() != fragments) {
    throw std::logic_error("the state of another search");
  }
  for (IterationRecord& record : state.summary.iterations) record.restored = true;
  return state;
}

}  // namespace retrace::sampling
