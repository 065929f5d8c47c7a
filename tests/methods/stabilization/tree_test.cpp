/// Trees of feedback: their growth around a standing character, their file, and what a controller makes of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "retrace/control/feedback_controller.h"
#include "retrace/io/error.h"
#include "retrace/methods/stabilization/grow_tree.h"
#include "retrace/methods/stabilization/reindexing.h"
#include "retrace/methods/stabilization/stabilize.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/parallel/thread_farm.h"

namespace retrace::stabilization {
namespace {

using character::Human;
using control::FeedbackTree;

FeedbackTree EmptyTree() {
  FeedbackTree tree;
  tree.settings = "{}";
  return tree;
}

/// A character that stands for a second, with feedback, around which a tree is grown.
struct Stand {
  explicit Stand(int threads = 1) : control(control::Standing(6)), problem(MakeProblem(Human(), control, {}, {})) {
    const auto farm = parallel::MakeThreadFarm(threads, MakeWorkerFactory(problem));
    feedback = stabilization::Run(problem, *farm).feedback;
    tree.problem = &problem;
    tree.feedback = &feedback;
    tree.body = Human().FindBody("trunk");
    tree.growth.smallest_force = 150;
    tree.growth.largest_force = 400;
    tree.growth.push_duration = 0.1;
    tree.growth.rest = 0.2;
    tree.growth.horizon = 0.4;
    tree.growth.iterations = 6;
    tree.growth.samples = 8;
    tree.growth.batch = 3;
    tree.growth.close = 1;
    tree.gates.joint_position = 0.08;  // soon left, in so short a motion
    tree.gates.root_orientation = 0.3;
  }
  FeedbackTree Grow(int threads, int states, FeedbackTree from = EmptyTree()) const {
    const auto farm = parallel::MakeThreadFarm(threads, MakeTreeWorkerFactory(tree));
    GrowTree(tree, *farm, 100, states, from);
    return from;
  }

  control::OpenLoopControl control;
  Problem problem;
  control::Feedback feedback;
  TreeProblem tree;
};

/// A tree of two branches of which the second leads into the first.
FeedbackTree TwoBranches(const control::Feedback& feedback) {
  FeedbackTree tree = EmptyTree();
  tree.feedback_sha256 = "abc";
  tree.states.resize(3);
  tree.states[1].force = Vec3(1, 0, 2);
  const auto size = static_cast<size_t>(feedback.num_differences() * feedback.num_torques());
  for (const int parent : {-1, 0}) {
    control::Branch& branch = tree.branches.emplace_back();
    branch.parent = parent;
    branch.state = parent + 2;
    branch.first_node = parent < 0 ? 5 : 4;
    branch.points.assign(feedback.nominal.begin() + branch.first_node,
                         feedback.nominal.begin() + branch.first_node + 3);
    branch.torques = Eigen::MatrixXd::Constant(feedback.num_torques(), 3, 1.5 + parent);
    branch.gains.assign(3 * size, 0.25f);
  }
  return tree;
}

TEST(Spline, GoesThroughItsKnots) {
  Eigen::MatrixXd knots(2, 3);
  knots << 1, 2, -1, 0, 4, 3;
  Eigen::VectorXd value(2);
  for (const bool cubic : {false, true}) {
    for (int k = 0; k < 3; ++k) {
      SplineAt(knots, cubic, 6 * k, 13, value);
      EXPECT_NEAR((value - knots.col(k)).norm(), 0, 1e-14) << cubic << k;
    }
  }
  SplineAt(knots, false, 3, 13, value);
  EXPECT_NEAR(value[0], 1.5, 1e-14);
  SplineAt(knots.leftCols(1), true, 3, 13, value);
  EXPECT_EQ(value, knots.col(0));
  // A straight line is one for both.
  knots << 1, 2, 3, 0, -2, -4;
  SplineAt(knots, true, 4, 13, value);
  EXPECT_NEAR(value[0], 1 + 2 * 4.0 / 12, 1e-14);
}

TEST(Tree, ItsGrowthDependsNeitherOnThreadsNorOnInterruptions) {
  const Stand stand;
  const FeedbackTree grown = stand.Grow(1, 9);
  ASSERT_GT(grown.branches.size(), 0u);
  const std::string one = FormatTree(grown);
  EXPECT_EQ(FormatTree(stand.Grow(3, 9)), one);
  // As after an interruption: what was written is read back, and grows on.
  const FeedbackTree part = control::ParseTree(FormatTree(stand.Grow(1, 3)), "tree");
  EXPECT_EQ(part.states.size(), 3u);
  EXPECT_EQ(FormatTree(stand.Grow(2, 9, part)), one);
}

TEST(Tree, ABranchLeadsBackFromWhereItBegan) {
  Stand stand;
  stand.tree.growth.iterations = 15;
  stand.tree.growth.samples = 12;
  FeedbackTree tree = EmptyTree();
  const auto farm = parallel::MakeThreadFarm(2, MakeTreeWorkerFactory(stand.tree));
  const GrowthSummary summary = GrowTree(stand.tree, *farm, 1, 30, tree);
  ASSERT_TRUE(summary.is_full);
  const control::Branch& branch = tree.branches[0];
  const control::PerturbedState& state = tree.states[static_cast<size_t>(branch.state)];
  EXPECT_TRUE(state.connected);
  EXPECT_FALSE(state.recovered);
  EXPECT_GT(state.simulations, 0);
  EXPECT_EQ(branch.num_nodes(), 12);
  // Without anything else to disturb it, what follows the branch makes its points.
  character::State start;
  const dynamics::Coordinates coordinates(Human());
  dynamics::Expand(coordinates, branch.points[0], start);
  control::FeedbackController controller(Human(), stand.control.fragments, stand.problem.disturbed(), stand.feedback,
                                         &tree);
  controller.set_branch(0);
  control::Controller* const pointer = &controller;
  simulation::World world(Human(), stand.control.world);
  const int first = branch.first_node * stand.feedback.interval;
  world.SetState(start, first);
  control::SimulationScratch scratch;
  ASSERT_TRUE(control::Simulate(world, {&pointer, 1}, first, 11 * stand.feedback.interval, {}, scratch, [](int) {}));
  world.GetState(scratch.state);
  const Vec3 place = scratch.state[static_cast<size_t>(Human().root)].position;
  EXPECT_LT((place - branch.points[11].pose.root_position).norm(), 0.02) << branch.first_node;
}

TEST(Tree, ABranchIsFollowedIntoItsParentAndThenIntoTheControl) {
  const Stand stand;
  const FeedbackTree tree = TwoBranches(stand.feedback);
  const std::vector<int> expected = {-1, 1, 1, 1, 0, -1, -1};
  for (int node = 3; node < 10; ++node) EXPECT_EQ(tree.BranchAt(1, node), expected[static_cast<size_t>(node - 3)]);
  EXPECT_EQ(tree.BranchAt(-1, 5), -1);
  // On the motion of the control, gains have nothing to do, and the feedforward torques remain.
  control::FeedbackController controller(Human(), stand.control.fragments, stand.problem.disturbed(), stand.feedback,
                                         &tree);
  controller.set_branch(1);
  controller.Restart();
  const int step = 4 * stand.feedback.interval;
  std::vector<simulation::JointCommand> commands(Human().joints.size());
  const simulation::World world(Human(), stand.control.world);
  controller.Command({step, 0, stand.problem.nominal.states[4], world.layout(), 0}, commands);
  EXPECT_TRUE((controller.torques().array() == 1.5).all());
}

TEST(Tree, ATreeWithoutBranchesChangesNothing) {
  const Stand stand;
  const FeedbackTree empty = EmptyTree();
  const control::Push push{stand.tree.body, Vec3(120, 0, 40), 0.1, 0.1};
  const character::Character* const human = &Human();
  ReindexingOptions options;
  options.horizon = 0.3;
  const auto end = [&](const FeedbackTree* tree) {
    ReindexingController controller({human, &stand.control, stand.problem.disturbed(), &stand.feedback, tree}, options);
    control::Controller* const pointer = &controller;
    return control::Fingerprint(control::Simulate({&human, 1}, stand.control.world, stand.control.start, {&pointer, 1},
                                                  0, stand.control.num_steps(), {&push, 1})
                                    .states.back());
  };
  EXPECT_EQ(end(nullptr), end(&empty));
}

TEST(Tree, AFileReadsBackToTheSameBits) {
  const Stand stand;
  const FeedbackTree tree = TwoBranches(stand.feedback);
  const std::string bytes = FormatTree(tree);
  FeedbackTree read = control::ParseTree(bytes, "tree.bin");
  EXPECT_EQ(FormatTree(read), bytes);
  EXPECT_EQ(read.branches[1].parent, 0);
  EXPECT_EQ(read.branches[0].torques, tree.branches[0].torques);
  EXPECT_EQ(read.states[1].force, Vec3(1, 0, 2));
  read.CutAfter(1);
  EXPECT_EQ(read.branches.size(), 1u);
}

TEST(Tree, RefusesDamagedFiles) {
  const Stand stand;
  const std::string bytes = FormatTree(TwoBranches(stand.feedback));
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      control::ParseTree(text, "tree.bin");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const size_t line = bytes.find('\n');
  EXPECT_THAT(complaint(""), testing::HasSubstr("found another format"));
  EXPECT_THAT(complaint("{}\n"), testing::HasSubstr("found another format"));
  EXPECT_THAT(complaint(bytes.substr(0, bytes.size() - 1)), testing::HasSubstr("bytes after the first line"));
  std::string flipped = bytes;
  flipped[bytes.size() - 7] = static_cast<char>(flipped[bytes.size() - 7] ^ 1);
  EXPECT_THAT(complaint(flipped), testing::HasSubstr("found other numbers than were written"));
  const auto with = [&](const char* pointer, const io::Json& value) {
    io::Json header = io::ParseJson(bytes.substr(0, line), "");
    header[io::Json::json_pointer(pointer)] = value;
    return complaint(io::Dump(header) + bytes.substr(line));
  };
  EXPECT_THAT(with("/version", 2), testing::HasSubstr("/version"));
  EXPECT_THAT(with("/branches/1/parent", 1), testing::HasSubstr("/branches/1/parent"));
  EXPECT_THAT(with("/branches/0/nodes", 4), testing::HasSubstr("bytes after the first line"));
  EXPECT_THAT(with("/branches/0/first_node", -1), testing::HasSubstr("/branches/0/first_node"));
  EXPECT_THAT(with("/torques", -1), testing::HasSubstr("/torques"));
}

}  // namespace
}  // namespace retrace::stabilization
