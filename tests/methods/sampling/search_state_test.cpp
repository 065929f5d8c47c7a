#include "methods/sampling/search_state.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "methods/sampling/small_problem.h"

namespace retrace::sampling {
namespace {

Node NodeAt(double cost) {
  Node node;
  node.parent = 1;
  node.iteration = 3;
  node.sample = 7;
  node.path_cost = cost;
  node.offsets = Offsets(2, Quat(0.5, 0.5, -0.5, 0.5));
  node.displacement = std::vector<Vec3>{Vec3(1, 2, 3)};
  node.end = std::make_shared<const character::State>(character::State(2));
  return node;
}

SearchState StateOf(const Problem& problem) {
  const auto fragments = static_cast<size_t>(problem.task.schedule.num_iterations());
  SearchState state;
  state.phase = SearchState::Phase::kRefinementPass;
  state.tree = {{NodeAt(0)}, {NodeAt(1.5), NodeAt(2.5)}};
  state.furthest = {{NodeAt(9)}};
  state.reached = 2;
  state.reached_at = 12.5;
  state.back_off = {120, 3};
  state.attempts.assign(fragments, 2);
  state.distributions.assign(fragments, UniformOffsets{});
  state.distributions[0] = NormalOffsets{{Vec3(1, 0, 0)}, {Vec3(0, 1, 0)}, std::vector<Quat>{Quat::Identity()}};
  state.noise = 0.02;
  state.caution = 8;
  state.pass.path = {NodeAt(4)};
  state.pass.models = {{{0.5F, 0.25F}, {1, 2}}, {{4}, {}}};
  state.pass.passes_of_models = 2;
  state.summary.iterations.resize(2);
  state.summary.iterations[1].fragment = 1;
  state.summary.iterations[1].selection.samples = {4, 2};
  state.summary.iterations[1].samples.resize(3);
  state.summary.iterations[1].samples[2].cost = 8;
  state.summary.simulated_seconds = 33;
  state.summary.back_offs = 4;
  return state;
}

parallel::Bytes BytesOfState(const SearchState& state) {
  parallel::Bytes bytes;
  Pack(state, [&](std::span<const std::byte> piece) { bytes.insert(bytes.end(), piece.begin(), piece.end()); });
  return bytes;
}

TEST(SearchState, ReadsBackWhatWasPacked) {
  const SmallProblem small(SmallConfiguration(), task::Standing, 0.4);
  const SearchState state = StateOf(small.problem());
  const parallel::Bytes bytes = BytesOfState(state);
  EXPECT_TRUE(IsSearchState(bytes));
  const SearchState read = UnpackSearchState(bytes, small.problem());
  EXPECT_EQ(read.phase, state.phase);
  ASSERT_EQ(read.tree.size(), 2u);
  ASSERT_EQ(read.tree[1].size(), 2u);
  EXPECT_EQ(read.tree[1][1].path_cost, 2.5);
  EXPECT_EQ(read.tree[1][1].sample, 7u);
  EXPECT_EQ(read.tree[1][1].offsets[1].coeffs(), state.tree[1][1].offsets[1].coeffs());
  EXPECT_EQ(read.tree[1][1].displacement->at(0), Vec3(1, 2, 3));
  EXPECT_FALSE(read.tree[1][1].ramp_from);
  EXPECT_EQ(read.tree[1][1].end->size(), 2u);
  EXPECT_EQ(read.furthest[0][0].path_cost, 9);
  EXPECT_EQ(read.reached_at, 12.5);
  EXPECT_EQ(read.back_off.distance, 120);
  EXPECT_EQ(read.back_off.furthest, 3);
  EXPECT_EQ(read.attempts, state.attempts);
  const auto* normal = std::get_if<NormalOffsets>(&read.distributions[0]);
  ASSERT_TRUE(normal);
  EXPECT_EQ(normal->deviation[0], Vec3(0, 1, 0));
  EXPECT_TRUE(normal->goal);
  EXPECT_TRUE(std::holds_alternative<UniformOffsets>(read.distributions[1]));
  EXPECT_EQ(read.noise, 0.02);
  EXPECT_EQ(read.caution, 8);
  ASSERT_EQ(read.pass.models.size(), 2u);
  EXPECT_EQ(read.pass.models[0].numbers, state.pass.models[0].numbers);
  EXPECT_EQ(read.pass.models[0].defect, state.pass.models[0].defect);
  EXPECT_EQ(read.pass.models[1].numbers, state.pass.models[1].numbers);
  EXPECT_TRUE(read.pass.models[1].defect.empty());
  EXPECT_EQ(read.pass.passes_of_models, 2);
  EXPECT_EQ(read.summary.iterations[1].selection.samples, (std::vector<size_t>{4, 2}));
  EXPECT_EQ(read.summary.iterations[1].samples[2].cost, 8);
  EXPECT_TRUE(read.summary.iterations[0].restored);
  EXPECT_EQ(read.summary.simulated_seconds, 33);
  // What was read packs to the same bytes.
  EXPECT_EQ(BytesOfState(read), bytes);
}

TEST(SearchState, IsHandedOnInPiecesThatTogetherAreTheSame) {
  const SmallProblem small(SmallConfiguration(), task::Standing, 0.4);
  SearchState state = StateOf(small.problem());
  state.tree.push_back(std::vector<Node>(2000, NodeAt(1)));  // more than a piece
  size_t pieces = 0, largest = 0;
  Pack(state, [&](std::span<const std::byte> piece) {
    ++pieces;
    largest = std::max(largest, piece.size());
  });
  EXPECT_GT(pieces, 1u);
  EXPECT_LT(largest, size_t{1} << 19);
  EXPECT_EQ(UnpackSearchState(BytesOfState(state), small.problem()).tree[2].size(), 2000u);
}

TEST(SearchState, NoIterationIsTakenForOne) {
  EXPECT_FALSE(IsSearchState({}));
  EXPECT_FALSE(IsSearchState(parallel::Bytes(7, std::byte{255})));
  EXPECT_FALSE(IsSearchState(parallel::Bytes(16, std::byte{1})));
}

TEST(SearchState, RefusesTheStateOfAnotherSearch) {
  const SmallProblem small(SmallConfiguration(), task::Standing, 0.4), longer(SmallConfiguration(), task::Standing, 1);
  parallel::Bytes bytes = BytesOfState(StateOf(small.problem()));
  EXPECT_THROW(UnpackSearchState(bytes, longer.problem()), std::logic_error);
  bytes.push_back(std::byte{0});
  EXPECT_THROW(UnpackSearchState(bytes, small.problem()), std::logic_error);
  bytes.resize(bytes.size() - 20);
  EXPECT_THROW(UnpackSearchState(bytes, small.problem()), std::exception);
}

}  // namespace
}  // namespace retrace::sampling
