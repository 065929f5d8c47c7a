#include "retrace/control/feedback_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/io/error.h"

namespace retrace::control {
namespace {

using testing::HasSubstr;

/// A branch of a character with one hinge: seven coordinates, of which one has a torque.
Branch BranchOf(int parent, int first_node, int nodes, float gain) {
  Branch branch;
  branch.parent = parent;
  branch.first_node = first_node;
  for (int node = 0; node < nodes; ++node) {
    dynamics::MotionPoint& point = branch.points.emplace_back();
    point.pose.root_position = Vec3(node, 0.5, -1);
    point.pose.joint_rotations = {Quat(0.6, 0.8, 0, 0)};
    point.velocity = Eigen::VectorXd::LinSpaced(7, node, node + 1);
  }
  branch.torques = Eigen::MatrixXd::Constant(1, nodes, 3);
  branch.gains.assign(static_cast<size_t>(nodes) * 2 * 7, gain);
  return branch;
}

/// Two branches, of which the second goes on into the first.
FeedbackTree SampleTree() {
  FeedbackTree tree;
  tree.feedback_sha256 = "ff";
  tree.settings = R"({"seed":1})";
  tree.states = {{0.5, Vec3(100, 0, -50), false, true, 12}, {0.25, Vec3(0, 0, 70), false, true, 30}};
  tree.branches = {BranchOf(-1, 10, 5, 0.5F), BranchOf(0, 8, 3, -2)};
  tree.branches[1].state = 1;
  return tree;
}

TEST(FeedbackTree, ABranchGoesOnIntoItsParentAndThenIntoTheControl) {
  const FeedbackTree tree = SampleTree();
  EXPECT_EQ(tree.branches[0].end_node(), 15);
  for (int node = 8; node < 11; ++node) EXPECT_EQ(tree.BranchAt(1, node), 1);
  for (int node = 11; node < 15; ++node) EXPECT_EQ(tree.BranchAt(1, node), 0);
  EXPECT_EQ(tree.BranchAt(1, 15), -1);
  EXPECT_EQ(tree.BranchAt(0, 9), -1);
  EXPECT_EQ(tree.BranchAt(-1, 12), -1);
}

TEST(FeedbackTree, IsCutAfterSoManyBranches) {
  FeedbackTree tree = SampleTree();
  tree.CutAfter(5);
  EXPECT_EQ(tree.branches.size(), 2u);
  tree.CutAfter(1);
  EXPECT_EQ(tree.branches.size(), 1u);
  EXPECT_EQ(tree.states.size(), 2u);
  tree.CutAfter(0);
  EXPECT_TRUE(tree.branches.empty());
}

TEST(FeedbackTree, ReadsBackToTheBit) {
  const FeedbackTree tree = SampleTree();
  const std::string text = FormatTree(tree);
  const FeedbackTree read = ParseTree(text, "tree.bin");
  EXPECT_EQ(read.feedback_sha256, "ff");
  EXPECT_EQ(read.settings, tree.settings);
  ASSERT_EQ(read.states.size(), 2u);
  EXPECT_EQ(read.states[0].force, tree.states[0].force);
  EXPECT_EQ(read.states[1].simulations, 30);
  ASSERT_EQ(read.branches.size(), 2u);
  for (size_t b = 0; b < 2; ++b) {
    EXPECT_EQ(read.branches[b].parent, tree.branches[b].parent);
    EXPECT_EQ(read.branches[b].state, tree.branches[b].state);
    EXPECT_EQ(read.branches[b].first_node, tree.branches[b].first_node);
    EXPECT_EQ(read.branches[b].points, tree.branches[b].points);
    EXPECT_EQ(read.branches[b].torques, tree.branches[b].torques);
    EXPECT_EQ(read.branches[b].gains, tree.branches[b].gains);
  }
  EXPECT_EQ(FormatTree(read), text);
  FeedbackTree empty;
  empty.feedback_sha256 = "00";
  empty.settings = "{}";
  EXPECT_TRUE(ParseTree(FormatTree(empty), "tree.bin").branches.empty());
}

TEST(FeedbackTree, RefusesDamagedFiles) {
  const std::string text = FormatTree(SampleTree());
  const auto refusal = [](const std::string& bytes) -> std::string {
    try {
      ParseTree(bytes, "tree.bin");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(text), "");
  EXPECT_THAT(refusal(""), HasSubstr("tree.bin: found another format"));
  EXPECT_THAT(refusal("{}\n"), HasSubstr("found another format"));
  EXPECT_THAT(refusal(text + "x"), HasSubstr(" bytes after the first line, expected "));
  std::string changed = text;
  changed.back() ^= 1;
  EXPECT_THAT(refusal(changed), HasSubstr("found other numbers than were written"));
  std::string orphan = text;
  const size_t at = orphan.find("\"parent\":0");
  ASSERT_NE(at, std::string::npos);
  orphan[at + 9] = '1';  // of itself
  EXPECT_THAT(refusal(orphan), HasSubstr("/branches/1/parent: found 1"));
}

}  // namespace
}  // namespace retrace::control
