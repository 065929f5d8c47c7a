#include "retrace/control/feedback_tree.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "feedback_numbers.h"
#include "retrace/character/limits.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"

namespace retrace::control {
namespace {

constexpr const char* kTreeFormat = "retrace-feedback-tree";
constexpr size_t kLongestTreeHeader = size_t{64} << 20;
constexpr int kMostStates = 1'000'000;
constexpr io::Range kForces{-1e9, 1e9};

}  // namespace

int FeedbackTree::BranchAt(int branch, int node) const {
  while (branch >= 0) {
    const Branch& along = branches[static_cast<size_t>(branch)];
    if (node >= along.first_node && node < along.end_node()) return branch;
    branch = along.parent;
  }
  return -1;
}

void FeedbackTree::CutAfter(int count) {
  if (count < static_cast<int>(branches.size())) branches.resize(static_cast<size_t>(count));
}

std::string FormatTree(const FeedbackTree& tree) {
  std::string numbers;
  io::Json states = io::Json::array(), branches = io::Json::array();
  for (const PerturbedState& state : tree.states) {
    states.push_back({{"time", state.time},
                      {"force", {state.force.x(), state.force.y(), state.force.z()}},
                      {"recovered", state.recovered},
                      {"connected", state.connected},
                      {"simulations", state.simulations}});
  }
  for (const Branch& branch : tree.branches) {
    branches.push_back({{"parent", branch.parent},
                        {"state", branch.state},
                        {"first_node", branch.first_node},
                        {"nodes", branch.num_nodes()}});
    for (const dynamics::MotionPoint& point : branch.points) AppendPoint(numbers, point);
    Append(numbers, branch.torques.data(), static_cast<size_t>(branch.torques.size()));
    Append(numbers, branch.gains.data(), branch.gains.size());
  }
  const bool empty = tree.branches.empty();
  const size_t joints = empty ? 0 : tree.branches[0].points[0].pose.joint_rotations.size();
  const Eigen::Index torques = empty ? 0 : tree.branches[0].torques.rows();
  const io::Json header = {{"format", kTreeFormat},
                           {"version", 1},
                           {"feedback_sha256", tree.feedback_sha256},
                           {"settings", io::ParseJson(tree.settings, "settings")},
                           {"joints", joints},
                           {"torques", torques},
                           {"states", states},
                           {"branches", branches},
                           {"numbers_sha256", io::Sha256(numbers)}};
  return io::Dump(header) + "\n" + numbers;
}

FeedbackTree ParseTree(std::string_view bytes, const std::string& name) {
  const size_t end = bytes.substr(0, kLongestTreeHeader).find('\n');
  if (end == std::string_view::npos || !bytes.starts_with('{')) {
    throw InputError(name, "another format", "a tree that grow-tree wrote: a line of JSON, then numbers");
  }
  const io::Json json = io::ParseJson(std::string(bytes.substr(0, end)), name);
  const io::JsonView header(json, name);
  if (!header.Has("format") || header["format"].json() != kTreeFormat) header.Fail("another format", "a feedback tree");
  header["version"].Integer(1, 1);
  FeedbackTree tree;
  tree.feedback_sha256 = header["feedback_sha256"].String();
  tree.settings = io::Dump(header["settings"].json());
  const auto joints = static_cast<size_t>(header["joints"].Integer(0, character::kMostBodies));
  const auto torques = static_cast<size_t>(header["torques"].Integer(0, 3 * character::kMostBodies));
  const size_t coordinates = torques + 6;
  for (const io::JsonView& entry : header["states"].Elements(kMostStates)) {
    PerturbedState& state = tree.states.emplace_back();
    state.time = entry["time"].Number({0, 1e5});
    state.force = entry["force"].Vector(kForces);
    state.recovered = entry["recovered"].Boolean();
    state.connected = entry["connected"].Boolean();
    state.simulations = entry["simulations"].Integer(0, 1'000'000'000);
  }
  size_t size = 0;
  std::vector<size_t> nodes;
  for (const io::JsonView& entry : header["branches"].Elements(kMostStates)) {
    Branch& branch = tree.branches.emplace_back();
    branch.parent = entry["parent"].Integer(-1, static_cast<int>(tree.branches.size()) - 2);
    const int least = tree.branches.size() < 2 ? 0 : tree.branches[tree.branches.size() - 2].state;
    branch.state = entry["state"].Integer(least, std::max(least, static_cast<int>(tree.states.size()) - 1));
    branch.first_node = entry["first_node"].Integer(0, character::kMostSteps);
    nodes.push_back(static_cast<size_t>(entry["nodes"].Integer(1, 10000)));
    size += nodes.back() *
            ((3 + 4 + 4 * joints + coordinates + torques) * sizeof(double) + 2 * coordinates * torques * sizeof(float));
  }
  const std::string_view numbers = bytes.substr(end + 1);
  if (numbers.size() != size) {
    throw InputError(name, std::to_string(numbers.size()) + " bytes after the first line",
                     std::to_string(size) + " by the sizes in it");
  }
  if (io::Sha256(numbers) != header["numbers_sha256"].String()) {
    throw InputError(name, "other numbers than were written", "the bytes that grow-tree wrote");
  }
  Numbers reader(numbers, name);
  for (size_t b = 0; b < tree.branches.size(); ++b) {
    Branch& branch = tree.branches[b];
    branch.points.resize(nodes[b]);
    for (dynamics::MotionPoint& point : branch.points) reader.Take(point, joints, coordinates);
    branch.torques.resize(static_cast<Eigen::Index>(torques), static_cast<Eigen::Index>(nodes[b]));
    reader.Take(branch.torques.data(), nodes[b] * torques);
    branch.gains.resize(nodes[b] * 2 * coordinates * torques);
    reader.Take(branch.gains.data(), branch.gains.size());
  }
  return tree;
}

}  // namespace retrace::control
