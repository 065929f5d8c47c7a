#include "forest_dynamics.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace retrace::simulation {
namespace {

using Node = NodeNumbers<double>;  // where the numbers of a node are, counted in numbers

// Bodies, motors and vectors are handed to the passes as arrays of numbers.
constexpr size_t kBodyNumbers = sizeof(BodyNumbers<double>) / sizeof(double);
constexpr size_t kMotorNumbers = sizeof(MotorNumbers<double>) / sizeof(double);
static_assert(sizeof(BodyMotion) == kBodyNumbers * sizeof(double));
static_assert(sizeof(Motor) == kMotorNumbers * sizeof(double));
constexpr size_t kCommandNumbers = sizeof(CommandNumbers<double>) / sizeof(double);
static_assert(sizeof(JointCommand) == kCommandNumbers * sizeof(double));
static_assert(offsetof(JointCommand, gain) == offsetof(CommandNumbers<double>, gain));
static_assert(offsetof(BodyMotion, rotation) == offsetof(BodyNumbers<double>, rotation));
static_assert(offsetof(BodyMotion, angular_velocity) == offsetof(BodyNumbers<double>, angular_velocity));

const double* NumbersOf(std::span<const Vec3> vectors) {
  return vectors.empty() ? nullptr : vectors.front().data();
}

template <class Matrix>
void CopyTo(const Matrix& from, double* to) {
  std::copy(from.data(), from.data() + from.size(), to);
}

}  // namespace

ForestDynamics::ForestDynamics(const Forest& forest, const StepLaw& law, const TreePasses& passes)
    : passes_(passes),
      lanes_(static_cast<size_t>(passes.lanes)),
      tree_of_(forest.tree_of),
      first_free_tree_(forest.num_characters()) {
  node_of_.resize(forest.num_bodies());
  servos_ = ServosOf(forest, law.time_step);
  commands_ = MemoryFor<CommandNumbers<double>>(forest.joints.size());
  scales_ = MemoryFor<double>(forest.joints.size());
  bodies_ = MemoryFor<BodyNumbers<double>>(forest.num_bodies());
  motors_ = MemoryFor<MotorNumbers<double>>(forest.joints.size());
  for (const ServoShape& servo : servos_) limited_ = limited_ || servo.limited;
  if (limited_) {
    holds_ = MemoryFor<lanes::Vector3<double>>(forest.joints.size());
    impulses_.resize(lanes_);
  }
  from_.resize(lanes_);
  torques_.resize(lanes_);
  forces_.resize(lanes_);
  to_.resize(lanes_);
  for (const Tree& tree : forest.trees) AddTree(forest, law, tree);
  size_t largest = 0;
  for (TreeNodes& tree : trees_) {
    tree.memory.shapes = shapes_.data() + tree.first;
    largest = std::max(largest, tree.count);
  }
  needed_.resize(largest);
  ignored_.resize(largest * kBodyNumbers);
}

template <class T>
ForestDynamics::Memory ForestDynamics::MemoryFor(size_t count) const {
  const size_t bytes = count * sizeof(T) * lanes_;
  return Memory((bytes + sizeof(Line) - 1) / sizeof(Line), Line{});
}

void ForestDynamics::AddTree(const Forest& forest, const StepLaw& law, const Tree& tree) {
  if (tree.num_bodies > kMaxTreeBodies) throw std::logic_error("too many bodies for ForestDynamics");
  TreeNodes& nodes = trees_.emplace_back();
  nodes.first = shapes_.size();
  nodes.first_body = tree.first_body;
  nodes.count = tree.num_bodies;
  nodes.nodes = MemoryFor<Node>(nodes.count);
  nodes.root_response = MemoryFor<lanes::Matrix6<double>>(1);
  if (nodes.count > 1) nodes.responses = MemoryFor<lanes::Matrix6<double>>(nodes.count * nodes.count);
  TreeMemory& memory = nodes.memory;
  memory.count = nodes.count;
  memory.planar = tree.planar;
  memory.time_step = law.time_step;
  memory.gravity = law.gravity;
  memory.correction = law.joint_erp / law.time_step;
  memory.bodies = reinterpret_cast<std::byte*>(bodies_.data());
  memory.motors = reinterpret_cast<std::byte*>(motors_.data());
  memory.nodes = reinterpret_cast<std::byte*>(nodes.nodes.data());
  memory.root_response = reinterpret_cast<std::byte*>(nodes.root_response.data());
  memory.responses = reinterpret_cast<std::byte*>(nodes.responses.data());
  memory.torques = torques_.data();
  memory.forces = forces_.data();
  const auto add = [&](int body) -> NodeShape& {
    node_of_[static_cast<size_t>(body)] = shapes_.size() - nodes.first;
    NodeShape& shape = shapes_.emplace_back();
    const BodyMass& mass = forest.masses[static_cast<size_t>(body)];
    shape.body = body;
    shape.mass = mass.mass;
    shape.turned = mass.turned;
    CopyTo(mass.inertia, shape.inertia);
    CopyTo(mass.principal_axes, shape.principal_axes);
    return shape;
  };
  add(tree.root);
  for (size_t k = 0; k < tree.num_joints; ++k) {  // each comes after the joint that moves its parent
    const size_t j = tree.first_joint + k;
    const character::Joint& joint = forest.joints[j];
    NodeShape& shape = add(joint.child);
    shape.parent = node_of_[static_cast<size_t>(joint.parent)];
    shape.joint = static_cast<int>(j);
    shape.hinge = joint.type == character::JointType::kHinge;
    shape.axis = joint.axis;
    shape.oblique = joint.oblique.has_value();
    CopyTo(joint.direction(), shape.direction);
    nodes.limited = nodes.limited || servos_[j].limited;
    shape.armature = joint.armature;
    CopyTo(Vec3(joint.anchor - forest.BodyOf(joint.parent).rest_position), shape.anchor_in_parent);
    CopyTo(Vec3(joint.anchor - forest.BodyOf(joint.child).rest_position), shape.anchor_in_child);
  }
}

bool ForestDynamics::Rests(const LaneStep& step, size_t tree) const {
  return tree >= first_free_tree_ && !step.input.resting.empty() && step.input.resting[tree - first_free_tree_] != 0;
}

template <class Find>
void ForestDynamics::FindAddresses(std::span<const LaneStep> steps, const Find& find) {
  const auto active = std::find_if(steps.begin(), steps.end(), [](const LaneStep& s) { return !s.bodies.empty(); });
  for (size_t l = 0; l < lanes_; ++l) find(l, steps[l].bodies.empty() ? *active : steps[l]);
}

void ForestDynamics::Take(std::span<const LaneStep> steps) {
  std::byte* bodies = reinterpret_cast<std::byte*>(bodies_.data());
  if (lanes_ == 1) {
    bodies = reinterpret_cast<std::byte*>(steps[0].bodies.data());  // where they are
  } else {
    FindAddresses(steps, [&](size_t l, const LaneStep& step) { from_[l] = step.bodies.front().position.data(); });
    passes_.gather(from_.data(), tree_of_.size() * kBodyNumbers, bodies);
  }
  for (TreeNodes& tree : trees_) tree.memory.bodies = bodies;
  taken_bodies_ = bodies;
}

void ForestDynamics::TakeMotors(std::span<const LaneStep> steps) {
  const size_t joints = servos_.size();
  if (joints == 0) return;
  auto* motors = reinterpret_cast<std::byte*>(motors_.data());
  bool driven = false, scaled = false;
  FindAddresses(steps, [&](size_t l, const LaneStep& step) {
    driven = !step.commands.empty();
    scaled = !step.scales.empty();
    from_[l] = driven ? step.commands.front().target.coeffs().data() : step.input.motors.front().rate.data();
  });
  if (!driven) {
    passes_.gather(from_.data(), joints * kMotorNumbers, motors);
    return;
  }
  auto* commands = reinterpret_cast<std::byte*>(commands_.data());
  passes_.gather(from_.data(), joints * kCommandNumbers, commands);
  std::byte* scales = nullptr;
  if (scaled) {
    FindAddresses(steps, [&](size_t l, const LaneStep& step) { from_[l] = step.scales.data(); });
    scales = reinterpret_cast<std::byte*>(scales_.data());
    passes_.gather(from_.data(), joints, scales);
  }
  passes_.drive(servos_.data(), joints, taken_bodies_, commands, scales, motors);
}

void ForestDynamics::CopyMotors(size_t lane, std::span<Motor> motors) const {
  for (size_t j = 0; j < motors.size(); ++j) {
    const auto* from = At<const double>(motors_, j * kMotorNumbers, lane);
    for (int a = 0; a < 3; ++a) {
      motors[j].rate[a] = from[static_cast<size_t>(a) * lanes_];
      motors[j].compliance[a] = from[static_cast<size_t>(3 + a) * lanes_];
    }
  }
}

void ForestDynamics::Begin(std::span<const LaneStep> steps) {
  TakeMotors(steps);
  holding_ = limited_ && std::any_of(steps.begin(), steps.end(), [](const LaneStep& s) { return !s.holds.empty(); });
  if (holding_) {
    FindAddresses(steps, [&](size_t l, const LaneStep& step) { from_[l] = NumbersOf(step.holds); });
    passes_.gather(from_.data(), 3 * servos_.size(), reinterpret_cast<std::byte*>(holds_.data()));
    for (auto& impulses : impulses_) impulses.clear();
  }
  for (TreeNodes& tree : trees_) {
    tree.wanted = 0;
    tree.memory.holds = holding_ && tree.limited ? reinterpret_cast<std::byte*>(holds_.data()) : nullptr;
  }
  BeginTrees(steps);
}

void ForestDynamics::BeginAgain(std::span<const LaneStep> steps, unsigned settled) {
  BeginTrees(steps);
  for (size_t l = 0; l < lanes_; ++l) {
    if ((settled >> l & 1) == 0) {
      impulses_[l].clear();
      continue;
    }
    for (const auto& [body, impulse] : impulses_[l]) PutImpulse(l, body, impulse);
  }
}

void ForestDynamics::BeginTrees(std::span<const LaneStep> steps) {
  FindAddresses(steps, [&](size_t l, const LaneStep& step) {
    torques_[l] = NumbersOf(step.input.torques);
    forces_[l] = NumbersOf(step.input.forces);
  });
  for (size_t t = 0; t < trees_.size(); ++t) {
    TreeNodes& tree = trees_[t];
    tree.resting = std::all_of(steps.begin(), steps.end(),
                               [&](const LaneStep& step) { return step.bodies.empty() || Rests(step, t); });
    if (tree.resting) continue;
    if (tree.count == 1) {
      passes_.begin_single(tree.memory);
    } else {
      passes_.begin(tree.memory);
    }
  }
}

/// Which responses of a tree are needed: those that are wanted and, from the leaves on, those that they follow from.
/// Returns the nodes whose velocity is needed. All nodes here are counted from the first of the tree.
uint64_t ForestDynamics::FindNeeded(const TreeNodes& tree) {
  uint64_t* needed = needed_.data();
  std::fill_n(needed, tree.count, uint64_t{0});
  for (uint64_t rest = tree.wanted; rest != 0; rest &= rest - 1) {
    const int n = std::countr_zero(rest);
    needed[n] = tree.wanted & ((uint64_t{2} << n) - 1);
  }
  uint64_t path = 1;
  for (size_t n = tree.count; n-- > 1;) {
    if (needed[n] == 0) continue;
    path |= uint64_t{1} << n;
    const size_t parent = tree.memory.shapes[n].parent;
    if ((needed[n] >> n & 1) != 0) needed[n] |= uint64_t{1} << parent;
    for (uint64_t rest = needed[n] & ~(uint64_t{1} << n); rest != 0; rest &= rest - 1) {
      const auto m = static_cast<size_t>(std::countr_zero(rest));
      needed[std::max(parent, m)] |= uint64_t{1} << std::min(parent, m);
    }
  }
  return path;
}

void ForestDynamics::Want(int body) {
  trees_[TreeOf(body)].wanted |= uint64_t{1} << node_of_[static_cast<size_t>(body)];
}

void ForestDynamics::FindResponses() {
  for (const TreeNodes& tree : trees_) {
    if (tree.wanted == 0 || tree.count == 1) continue;
    const uint64_t path = FindNeeded(tree);
    passes_.find_responses(tree.memory, path, needed_.data());
  }
}

template <class Numbers>
Numbers* ForestDynamics::At(const Memory& memory, size_t index, size_t lane) const {
  return reinterpret_cast<Numbers*>(const_cast<Line*>(memory.data())) + index * lanes_ + lane;
}

void ForestDynamics::FreeVelocity(size_t lane, int body, Vec6& velocity) const {
  const TreeNodes& tree = trees_[TreeOf(body)];
  const size_t place = (node_of_[static_cast<size_t>(body)] * sizeof(Node) + offsetof(Node, velocity)) / sizeof(double);
  const auto* from = At<const double>(tree.nodes, place, lane);
  for (size_t k = 0; k < 6; ++k) velocity[static_cast<int>(k)] = from[k * lanes_];
}

MatrixView ForestDynamics::Response(size_t lane, int a, int b) const {
  const size_t t = TreeOf(a);
  if (t != TreeOf(b)) return {};
  const TreeNodes& tree = trees_[t];
  const size_t n = node_of_[static_cast<size_t>(a)];
  const size_t m = node_of_[static_cast<size_t>(b)];
  const auto step = static_cast<ptrdiff_t>(lanes_);
  if (tree.count == 1) return {At<const double>(tree.root_response, 0, lane), step, 6 * step};
  const auto* numbers = At<const double>(tree.responses, 36 * (std::max(n, m) * tree.count + std::min(n, m)), lane);
  return n >= m ? MatrixView{numbers, step, 6 * step} : MatrixView{numbers, 6 * step, step};
}

void ForestDynamics::AddImpulse(size_t lane, int body, const Vec6& impulse) {
  PutImpulse(lane, body, impulse);
  if (holding_) impulses_[lane].emplace_back(body, impulse);
}

void ForestDynamics::PutImpulse(size_t lane, int body, const Vec6& impulse) {
  TreeNodes& tree = trees_[TreeOf(body)];
  const size_t place = (node_of_[static_cast<size_t>(body)] * sizeof(Node) + offsetof(Node, impulse)) / sizeof(double);
  auto* to = At<double>(tree.nodes, place, lane);
  for (size_t k = 0; k < 6; ++k) to[k * lanes_] += impulse[static_cast<int>(k)];
}

void ForestDynamics::FindVelocities() {
  for (const TreeNodes& tree : trees_) {
    if (!tree.resting) passes_.find_velocities(tree.memory);
  }
}

unsigned ForestDynamics::Hold(std::span<const LaneStep> steps, HoldRule rule, unsigned open) {
  if (!holding_) return 0;
  unsigned changed = 0;
  for (size_t t = 0; t < trees_.size(); ++t) {
    if (trees_[t].memory.holds == nullptr) continue;
    unsigned of_tree = passes_.hold(trees_[t].memory, servos_.data(), rule, open);
    for (size_t l = 0; l < lanes_; ++l) {
      if (steps[l].bodies.empty() || (!steps[l].left_out.empty() && steps[l].left_out[t] != 0)) of_tree &= ~(1U << l);
    }
    changed |= of_tree;
  }
  return changed;
}

void ForestDynamics::Move(std::span<const LaneStep> steps) {
  for (size_t l = 0; holding_ && l < lanes_; ++l) {
    const LaneStep& step = steps[l];
    for (size_t j = 0; j < step.holds.size() && !step.bodies.empty(); ++j) {
      const auto* held = At<const double>(holds_, 3 * j, l);
      const bool left_out = !step.left_out.empty() && step.left_out[TreeOf(servos_[j].child)] != 0;
      step.holds[j] = left_out ? Vec3(Vec3::Zero()) : Vec3(held[0], held[lanes_], held[2 * lanes_]);
    }
  }
  for (size_t t = 0; t < trees_.size(); ++t) {
    const TreeNodes& tree = trees_[t];
    if (tree.resting) continue;
    bool any = false;
    for (size_t l = 0; l < lanes_; ++l) {
      const LaneStep& step = steps[l];
      const bool moves = !step.bodies.empty() && !Rests(step, t) && (step.left_out.empty() || step.left_out[t] == 0);
      to_[l] = moves ? step.bodies[tree.first_body].position.data() : ignored_.data();
      any = any || moves;
    }
    if (!any) continue;
    passes_.move(tree.memory);
    if (lanes_ == 1) continue;
    passes_.scatter(tree.memory.bodies + tree.first_body * kBodyNumbers * sizeof(double) * lanes_,
                    tree.count * kBodyNumbers, to_.data());
  }
}

Vec3 ForestDynamics::MotorTorque(size_t lane, int joint, const Mat3& parent) const {
  const auto j = static_cast<size_t>(joint);
  const auto child = static_cast<size_t>(servos_[j].child);
  const TreeNodes& tree = trees_[TreeOf(servos_[j].child)];
  const size_t n = node_of_[child];
  const NodeShape& shape = tree.memory.shapes[n];
  const auto* motor = At<const double>(motors_, j * kMotorNumbers, lane);
  const auto* rate = At<const double>(tree.nodes, (n * sizeof(Node) + offsetof(Node, rate)) / sizeof(double), lane);
  const Vec3 turned(rate[0], rate[lanes_], rate[2 * lanes_]);
  Vec3 torque = Vec3::Zero();
  for (int a = 0; a < 3; ++a) {
    const double wanted = motor[static_cast<size_t>(a) * lanes_];
    const double compliance = motor[static_cast<size_t>(3 + a) * lanes_];
    if (compliance == 0) continue;
    if (shape.hinge && a != shape.axis) continue;
    const double held =
        tree.memory.holds == nullptr ? 0 : *At<const double>(holds_, 3 * j + static_cast<size_t>(a), lane);
    if (held != 0) {
      torque[a] = held;
      continue;
    }
    const Vec3 axis = shape.oblique ? Vec3(parent * Vec3(shape.direction)) : Vec3(parent.col(a));
    torque[a] = (wanted - axis.dot(turned)) / compliance;
    const double limit = servos_[j].effort[a];
    if (limit > 0) torque[a] = std::clamp(torque[a], -limit, limit);  // by rounding alone
  }
  return torque;
}

std::vector<ServoShape> ServosOf(const Forest& forest, double time_step) {
  std::vector<ServoShape> servos;
  for (const character::Joint& joint : forest.joints) {
    ServoShape& servo = servos.emplace_back();
    servo.parent = joint.parent;
    servo.child = joint.child;
    const double damping = time_step * joint.kp + joint.kd;
    servo.rate_per_error = joint.kp / damping;  // the scales cancel
    servo.oblique = joint.oblique.has_value();
    for (int a = 0; a < 3; ++a) {
      servo.uses_axis[a] = joint.UsesAxis(a);
      if (joint.oblique) servo.direction[a] = (*joint.oblique)[a];
      servo.strength[a] = damping * joint.strength_scale[a];
      servo.effort[a] = servo.uses_axis[a] ? joint.effort[a] : 0;
      servo.limited = servo.limited || servo.effort[a] > 0;
    }
  }
  return servos;
}

}  // namespace retrace::simulation
