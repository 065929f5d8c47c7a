/// The passes for lanes of one kind. Included by one source for each set of instructions, which is compiled for it:
/// nothing here may call what is not inlined, but for Arcsine.
#pragma once

#include "segment_distance.h"
#include "tree_passes.h"

namespace retrace::simulation::lanes {

/// With the same bits in all versions. Each source gives the one for its lanes.
template <class T>
T Arcsine(const T& x);

template <class T>
class Passes {
 public:
  static constexpr TreePasses Table() {
    return {kLanes<T>, Begin, BeginSingle, FindResponses, FindVelocities, Hold, Move, Drive, FindNear, Gather, Scatter};
  }

 private:
  using Body = BodyNumbers<T>;
  using Motor = MotorNumbers<T>;
  using Node = NodeNumbers<T>;

  static Body* BodiesOf(const TreeMemory& tree) { return reinterpret_cast<Body*>(tree.bodies); }
  static Node* NodesOf(const TreeMemory& tree) { return reinterpret_cast<Node*>(tree.nodes); }
  static Vector3<T>* HoldsOf(const TreeMemory& tree) { return reinterpret_cast<Vector3<T>*>(tree.holds); }
  static Matrix6<T>& RootResponse(const TreeMemory& tree) { return *reinterpret_cast<Matrix6<T>*>(tree.root_response); }

  // ---- loads

  /// Angular momentum at the end of a step in which no torque acts but the gyroscopic one, taken implicitly: with
  /// L = I w, I (I - h [L]x)^-1 L. In the body's axes, in which I is diagonal.
  RETRACE_LANES_INLINE static Vector3<T> TurnedMomentum(const double* inertia, const Vector3<T>& rate, double h) {
    Vector3<T> momentum, l;
    RETRACE_FOR(i, 3) momentum[i] = inertia[i] * rate[i];
    RETRACE_FOR(i, 3) l[i] = h * momentum[i];
    Matrix3<T> m;
    RETRACE_FOR(i, 3) m(i, i) = Constant<T>(inertia[i]);
    m(0, 1) = l[2];
    m(0, 2) = -l[1];
    m(1, 0) = -l[2];
    m(1, 2) = l[0];
    m(2, 0) = l[1];
    m(2, 1) = -l[0];
    const Vector3<T> c0 = {m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1), m(1, 2) * m(2, 0) - m(1, 0) * m(2, 2),
                           m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0)};
    const Vector3<T> c1 = {m(0, 2) * m(2, 1) - m(0, 1) * m(2, 2), m(0, 0) * m(2, 2) - m(0, 2) * m(2, 0),
                           m(0, 1) * m(2, 0) - m(0, 0) * m(2, 1)};
    const Vector3<T> c2 = {m(0, 1) * m(1, 2) - m(0, 2) * m(1, 1), m(0, 2) * m(1, 0) - m(0, 0) * m(1, 2),
                           m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0)};
    const T scale = 1.0 / (m(0, 0) * c0[0] + m(0, 1) * c0[1] + m(0, 2) * c0[2]);
    // Columns of the inverse are rows of cofactors.
    Vector3<T> turned;
    RETRACE_FOR(i, 3) {
      turned[i] = inertia[i] * ((c0[i] * momentum[0] + c1[i] * momentum[1] + c2[i] * momentum[2]) * scale);
    }
    return turned;
  }

  RETRACE_LANES_INLINE static double LaneOf(const T& value, int lane) {
    if constexpr (kLanes<T> == 1) {
      static_cast<void>(lane);
      return value;
    } else {
      return value[lane];
    }
  }
  RETRACE_LANES_INLINE static void SetLane(double number, int lane, T& value) {
    if constexpr (kLanes<T> == 1) {
      static_cast<void>(lane);
      value = number;
    } else {
      value[lane] = number;
    }
  }
  RETRACE_LANES_INLINE static void Add(double number, int lane, T& value) {
    SetLane(LaneOf(value, lane) + number, lane, value);
  }

  /// The momentum at the end of a step in which no contact acts. Returns the axes of inertia in the world.
  RETRACE_LANES_INLINE static Matrix3<T> LoadMomentum(const TreeMemory& tree, const NodeShape& shape, const Body& body,
                                                      Node& node) {
    const double h = tree.time_step;
    Matrix3<T> r = body.rotation;
    if (shape.turned) r = Product(body.rotation, Constant<T, 3, 3>(shape.principal_axes));
    Vector6<T> momentum;
    RETRACE_FOR(i, 3) momentum[i] = shape.mass * body.linear_velocity[i];
    momentum[1] -= h * shape.mass * tree.gravity;
    const Vector3<T> turned = Product(r, TurnedMomentum(shape.inertia, TransposedProduct(r, body.angular_velocity), h));
    RETRACE_FOR(i, 3) momentum[3 + i] = turned[i];
    const auto b = static_cast<ptrdiff_t>(3) * shape.body;
    for (int l = 0; l < kLanes<T>; ++l) {
      if (tree.torques[l] != nullptr) {
        for (int i = 0; i < 3; ++i) Add(h * tree.torques[l][b + i], l, momentum[3 + i]);
      }
      if (tree.forces[l] != nullptr) {
        for (int i = 0; i < 3; ++i) Add(h * tree.forces[l][b + i], l, momentum[i]);
      }
    }
    node.momentum = momentum;
    RETRACE_FOR(i, 6) node.impulse[i] = T{};
    return r;
  }

  /// r diag(angular) r^T.
  RETRACE_LANES_INLINE static Matrix3<T> InAxes(const double* angular, const Matrix3<T>& r) {
    Matrix3<T> scaled;
    RETRACE_FOR(k, 3) RETRACE_FOR(i, 3) scaled(i, k) = r(i, k) * angular[k];
    return Product(scaled, Transpose(r));
  }
  RETRACE_LANES_INLINE static Matrix3<T> Diagonal(double number) {
    Matrix3<T> diagonal;
    RETRACE_FOR(i, 9) diagonal[i] = T{};
    RETRACE_FOR(i, 3) diagonal(i, i) = Constant<T>(number);
    return diagonal;
  }

  RETRACE_LANES_INLINE static void LoadBody(const TreeMemory& tree, const NodeShape& shape, const Body& body,
                                            Node& node) {
    const Matrix3<T> r = LoadMomentum(tree, shape, body, node);
    node.articulated = {LowerOf(Diagonal(shape.mass)), Diagonal(0), LowerOf(InAxes(shape.inertia, r))};
  }

  RETRACE_LANES_INLINE static void LoadJoint(const TreeMemory& tree, const NodeShape& shape, const Body& parent,
                                             const Body& child, Node& node) {
    const Vector3<T> from_parent = Product(parent.rotation, Constant<T, 3>(shape.anchor_in_parent));
    node.lever = Product(child.rotation, Constant<T, 3>(shape.anchor_in_child));
    node.offset = from_parent - node.lever;
    const Vector3<T> error = node.lever + child.position - from_parent - parent.position;
    RETRACE_FOR(i, 3) node.bias[i] = -tree.correction * error[i];
    RETRACE_FOR(i, 3) node.bias[3 + i] = T{};
    if (shape.hinge) {
      Vector3<T> in_child;  // where the axis is in the child
      if (shape.oblique) {
        node.hinge_axis = Product(parent.rotation, Constant<T, 3>(shape.direction));
        in_child = Product(child.rotation, Constant<T, 3>(shape.direction));
      } else {
        node.hinge_axis = Column(parent.rotation, shape.axis);
        in_child = Column(child.rotation, shape.axis);
      }
      const Vector3<T> turn = Scaled(-tree.correction, Cross(node.hinge_axis, in_child));
      const Vector3<T> shift = Cross(node.lever, turn);
      RETRACE_FOR(i, 3) node.bias[i] += shift[i];
      RETRACE_FOR(i, 3) node.bias[3 + i] = turn[i];
    }
  }

  // ---- from the leaves to the root

  /// Adds X^T inertia X and X^T momentum to the parent's. `moving` are the first three columns of the inertia, of which
  /// what is above the diagonal is not heeded.
  RETRACE_LANES_INLINE static void AddToParent(const Node& node, const Matrix63<T>& moving, const Matrix3<T>& turning,
                                               const Vector6<T>& momentum, Node& parent) {
    const Symmetric3<T> mass = LowerOf(Block<3, 3>(moving, 0, 0));
    const Matrix3<T> below = Block<3, 3>(moving, 3, 0);
    const Matrix63<T> right = Stacked(Transpose(below), turning) - TimesCross(Stacked(Full(mass), below), node.offset);
    const Matrix3<T> coupling = Block<3, 3>(right, 0, 0);
    Inertia<T>& sum = parent.articulated;
    sum.mass = sum.mass + mass;
    sum.coupling = sum.coupling + coupling;
    sum.turning = sum.turning + LowerOf(Block<3, 3>(right, 3, 0) + CrossTimes(node.offset, coupling));
    const Vector3<T> shifted = Cross(node.offset, Head(momentum));
    RETRACE_FOR(i, 3) parent.momentum[i] += momentum[i];
    RETRACE_FOR(i, 3) parent.momentum[3 + i] += momentum[3 + i] + shifted[i];
  }

  /// A motor whose held servos do not act.
  RETRACE_LANES_INLINE static Motor WithoutHeld(const Motor& motor, const Vector3<T>& held) {
    Motor acting = motor;
    RETRACE_FOR(a, 3) acting.compliance[a] = held[a] != 0 ? T{} : motor.compliance[a];
    return acting;
  }

  /// @param held the torques of held servos; null: none can be held
  RETRACE_LANES_INLINE static void EliminateBall(const TreeMemory& tree, const Body& parent, const Motor& motor,
                                                 const Vector3<T>* held, Node& node, Node& parent_node) {
    const Inertia<T> inertia = node.articulated;
    const Matrix63<T> moving = Stacked(Full(inertia.mass), Transpose(inertia.coupling));
    // I S with S = [lever]x over 1.
    node.projected = TimesCross(moving, node.lever) + Stacked(inertia.coupling, Full(inertia.turning));
    const Matrix3<T> top = Block<3, 3>(node.projected, 0, 0), bottom = Block<3, 3>(node.projected, 3, 0);
    Matrix3<T> d = bottom - CrossTimes(node.lever, top);
    const Vector6<T> rest = node.momentum - Product(moving, Head(node.bias));  // it does not turn
    Vector3<T> pull = Tail(rest) - Cross(node.lever, Head(rest));
    if (held != nullptr) pull = pull + Scaled(tree.time_step, Product(parent.rotation, *held));
    RETRACE_FOR(a, 3) {
      const auto driven = motor.compliance[a] != 0;
      if (!Any(driven)) continue;
      const Vector3<T> axis = Column(parent.rotation, a);
      const T gain = tree.time_step / motor.compliance[a];
      const T rate = gain * motor.rate[a];
      const Matrix3<T> driven_d = d + OuterProduct(Scaled(gain, axis), axis);
      const Vector3<T> driven_pull = pull + Scaled(rate, axis);
      if constexpr (kLanes<T> == 1) {
        d = driven_d;
        pull = driven_pull;
      } else {
        RETRACE_FOR(i, 9) d[i] = driven ? driven_d[i] : d[i];
        RETRACE_FOR(i, 3) pull[i] = driven ? driven_pull[i] : pull[i];
      }
    }
    node.pull = pull;
    node.inverse = InverseOf(Full(LowerOf(d)));
    const Matrix63<T> scaled = Product(node.projected, node.inverse);
    const Matrix63<T> left = moving - Product(scaled, Transpose(top));
    const Matrix3<T> turning = Full(inertia.turning) - Product(Block<3, 3>(scaled, 3, 0), Transpose(bottom));
    AddToParent(node, left, turning, rest - Product(scaled, pull), parent_node);
  }

  RETRACE_LANES_INLINE static void EliminateHinge(const TreeMemory& tree, const NodeShape& shape, const Body& parent,
                                                  const Body& child, const Motor& motor, const Vector3<T>* held,
                                                  Node& node, Node& parent_node) {
    const Inertia<T> inertia = node.articulated;
    const Vector6<T> s = Joined(Cross(node.lever, node.hinge_axis), node.hinge_axis);
    const Vector6<T> projected = Product(inertia, s);
    const Vector6<T> rest = node.momentum - Product(inertia, node.bias);
    T d = Dot(s, projected);
    T pull = Dot(s, rest);
    if (shape.armature > 0) {  // the rotor turns with the joint alone
      d += shape.armature;
      pull += shape.armature * Dot(node.hinge_axis, child.angular_velocity - parent.angular_velocity);
    }
    const T compliance = motor.compliance[shape.axis];
    const auto driven = compliance != 0;
    const T gain = tree.time_step / compliance;
    d = driven ? d + gain : d;
    pull = driven ? pull + gain * motor.rate[shape.axis] : pull;
    if (held != nullptr) pull += tree.time_step * (*held)[shape.axis];
    RETRACE_FOR(i, 6) node.projected(i, 0) = projected[i];
    const T inverse = 1.0 / d;
    node.inverse(0, 0) = inverse;
    node.pull[0] = pull;
    const Vector6<T> scaled = Scaled(inverse, projected);
    const Matrix63<T> moving = Stacked(Full(inertia.mass), Transpose(inertia.coupling));
    const Matrix63<T> left = moving - OuterProduct(scaled, Head(projected));
    const Matrix3<T> turning = Full(inertia.turning) - OuterProduct(Tail(scaled), Tail(projected));
    AddToParent(node, left, turning, rest - Scaled(pull / d, projected), parent_node);
  }

  /// P (P^T I P)^-1 P^T of a root that keeps to the plane across its x axis.
  RETRACE_LANES_INLINE static Matrix6<T> ResponseInPlane(const Matrix6<T>& inertia, const Matrix3<T>& rotation) {
    Matrix63<T> motions;
    RETRACE_FOR(i, 18) motions[i] = T{};
    SetBlock(motions, 0, 0, Block<3, 2>(rotation, 0, 1));
    SetBlock(motions, 3, 2, Block<3, 1>(rotation, 0, 0));
    const Matrix<T, 3, 6> across = TransposedProduct(motions, inertia);
    const Matrix3<T> inverse = InverseOf(Product(across, motions));
    return Product(Product(motions, inverse), Transpose(motions));
  }

  static void Begin(const TreeMemory& tree) {
    const Body* bodies = BodiesOf(tree);
    const auto* motors = reinterpret_cast<const Motor*>(tree.motors);
    Node* nodes = NodesOf(tree);
    for (size_t n = 0; n < tree.count; ++n) LoadBody(tree, tree.shapes[n], bodies[tree.shapes[n].body], nodes[n]);
    for (size_t n = tree.count; n-- > 1;) {
      const NodeShape& shape = tree.shapes[n];
      const Body& parent = bodies[tree.shapes[shape.parent].body];
      LoadJoint(tree, shape, parent, bodies[shape.body], nodes[n]);
      const Vector3<T>* held = tree.holds == nullptr ? nullptr : HoldsOf(tree) + shape.joint;
      const Motor motor = held == nullptr ? motors[shape.joint] : WithoutHeld(motors[shape.joint], *held);
      if (shape.hinge) {
        EliminateHinge(tree, shape, parent, bodies[shape.body], motor, held, nodes[n], nodes[shape.parent]);
      } else {
        EliminateBall(tree, parent, motor, held, nodes[n], nodes[shape.parent]);
      }
    }
    RootResponse(tree) = tree.planar ? ResponseInPlane(Full(nodes[0].articulated), bodies[tree.shapes[0].body].rotation)
                                     : InverseOf(nodes[0].articulated);
  }

  /// The inverse of a single body's inertia is known, and its velocity without contacts needs nothing else.
  static void BeginSingle(const TreeMemory& tree) {
    const NodeShape& shape = tree.shapes[0];
    const Body& body = BodiesOf(tree)[shape.body];
    Node& node = NodesOf(tree)[0];
    Matrix6<T>& response = RootResponse(tree);
    if (tree.planar) {
      LoadBody(tree, shape, body, node);
      response = ResponseInPlane(Full(node.articulated), body.rotation);
    } else {
      double inverse[3];
      for (int i = 0; i < 3; ++i) inverse[i] = 1 / shape.inertia[i];
      const Matrix3<T> r = LoadMomentum(tree, shape, body, node);
      RETRACE_FOR(i, 36) response[i] = T{};
      SetBlock(response, 0, 0, Diagonal(1 / shape.mass));
      SetBlock(response, 3, 3, InAxes(inverse, r));
    }
    node.velocity = Product(response, node.momentum);
  }

  // ---- from the root to the leaves

  RETRACE_LANES_INLINE static void FindVelocity(const NodeShape& shape, const Node& parent, Node& node) {
    Vector6<T> x = parent.velocity;  // X x, and on from there
    const Vector3<T> carried = Cross(Tail(parent.velocity), node.offset);
    RETRACE_FOR(i, 3) x[i] += carried[i];
    if (shape.hinge) {
      const T rate = node.inverse(0, 0) * (node.pull[0] - Dot(Column(node.projected, 0), x));
      node.rate = Scaled(rate, node.hinge_axis);
    } else {
      node.rate = Product(node.inverse, node.pull - TransposedProduct(node.projected, x));
    }
    const Vector3<T> turned = Cross(node.lever, node.rate);
    RETRACE_FOR(i, 6) x[i] += node.bias[i];
    RETRACE_FOR(i, 3) x[i] += turned[i];
    RETRACE_FOR(i, 3) x[3 + i] += node.rate[i];
    node.velocity = x;
  }

  /// D^-1 (I S)^T X: how the joint turns when the parent moves, against it.
  RETRACE_LANES_INLINE static Matrix<T, 3, 6> TurnOf(const NodeShape& shape, const Node& node) {
    Matrix<T, 3, 6> turn;
    if (shape.hinge) {
      RETRACE_FOR(k, 6) RETRACE_FOR(i, 3) {
        turn(i, k) = node.hinge_axis[i] * (node.inverse(0, 0) * node.projected(k, 0));
      }
    } else {
      turn = Product(node.inverse, Transpose(node.projected));
    }
    const Matrix3<T> shifted = TimesCross(Block<3, 3>(turn, 0, 0), node.offset);
    RETRACE_FOR(k, 3) RETRACE_FOR(i, 3) turn(i, 3 + k) -= shifted(i, k);
    return turn;
  }

  /// A x with A = X - S D^-1 (I S)^T X: how a node moves when its parent's velocity is x and nothing drives the joint.
  RETRACE_LANES_INLINE static Vector6<T> Propagated(const Matrix<T, 3, 6>& turn, const Vector3<T>& lever,
                                                    const Vector3<T>& offset, const Vector6<T>& x) {
    const Vector3<T> rate = Product(turn, x);
    const Vector3<T> head = (Head(x) + Cross(Tail(x), offset)) - Cross(lever, rate);
    return Joined(head, Tail(x) - rate);
  }

  static void FindResponses(const TreeMemory& tree, uint64_t path, const uint64_t* needed) {
    Node* nodes = NodesOf(tree);
    auto* responses = reinterpret_cast<Matrix6<T>*>(tree.responses);
    const size_t size = tree.count;
    responses[0] = RootResponse(tree);
    nodes[0].velocity = Product(responses[0], nodes[0].momentum);
    for (size_t n = 1; n < size; ++n) {
      if ((path >> n & 1) == 0) continue;
      Node& node = nodes[n];
      const NodeShape& shape = tree.shapes[n];
      const size_t parent = shape.parent;
      FindVelocity(shape, nodes[parent], node);
      const Matrix<T, 3, 6> turn = TurnOf(shape, node);
      const Vector3<T> lever = node.lever, offset = node.offset;
      for (uint64_t rest = needed[n] & ~(uint64_t{1} << n); rest != 0; rest &= rest - 1) {
        const auto m = static_cast<size_t>(__builtin_ctzll(rest));
        Matrix6<T>& response = responses[n * size + m];
        // By columns in a loop, because all of it is more than there are registers.
        if (parent >= m) {
          const Matrix6<T>& of_parent = responses[parent * size + m];
          for (int c = 0; c < 6; ++c) {
            SetBlock(response, 0, c, Propagated(turn, lever, offset, Block<6, 1>(of_parent, 0, c)));
          }
        } else {
          const Matrix6<T>& of_parent = responses[m * size + parent];
          for (int c = 0; c < 6; ++c) {
            SetBlock(response, 0, c, Propagated(turn, lever, offset, Transpose(Block<1, 6>(of_parent, c, 0))));
          }
        }
      }
      if ((needed[n] >> n & 1) == 0) continue;
      // A R A^T + S D^-1 S^T, which is symmetric: of each row of A R, the numbers from the diagonal on.
      const Matrix6<T>& to_parent = responses[n * size + parent];
      Matrix6<T>& response = responses[n * size + n];
      Matrix3<T> d = node.inverse;
      if (shape.hinge) d = OuterProduct(Scaled(node.inverse(0, 0), node.hinge_axis), node.hinge_axis);
      const Matrix3<T> ld = CrossTimes(lever, d);
      const Matrix3<T> ldl = TimesCross(ld, lever);
      RETRACE_FOR(r, 6) {
        const Vector6<T> row = Propagated(turn, lever, offset, Transpose(Block<1, 6>(to_parent, r, 0)));
        RETRACE_FOR(c, 6) {
          if (c < r) continue;
          T number = row[c];
          if (c < 3) number -= ldl(r, c);
          if (r < 3 && c >= 3) number += ld(r, c - 3);
          if (r >= 3) number += d(r - 3, c - 3);
          response(r, c) = number;
          response(c, r) = number;
        }
      }
    }
  }

  /// Impulses of contacts, from the leaves to the root: pulls and the impulse on the root.
  RETRACE_LANES_INLINE static void CarryImpulse(const NodeShape& shape, Node& node, Node& parent) {
    auto pushed = node.impulse[0] != 0;
    RETRACE_FOR(i, 5) pushed = pushed | (node.impulse[i + 1] != 0);
    if (!Any(pushed)) return;
    Vector6<T> left = node.impulse;
    const Vector3<T> along = Tail(left) - Cross(node.lever, Head(left));  // S^T p
    if (shape.hinge) {
      const T pull = Dot(node.hinge_axis, along);
      node.pull[0] = pushed ? node.pull[0] + pull : node.pull[0];
      const T force = node.inverse(0, 0) * pull;
      RETRACE_FOR(i, 6) left[i] -= node.projected(i, 0) * force;
    } else {
      RETRACE_FOR(i, 3) node.pull[i] = pushed ? node.pull[i] + along[i] : node.pull[i];
      left = left - Product(node.projected, Product(node.inverse, along));
    }
    const Vector3<T> shifted = Cross(node.offset, Head(left));
    RETRACE_FOR(i, 3) parent.impulse[i] = pushed ? parent.impulse[i] + left[i] : parent.impulse[i];
    RETRACE_FOR(i, 3) {
      parent.impulse[3 + i] = pushed ? parent.impulse[3 + i] + (left[3 + i] + shifted[i]) : parent.impulse[3 + i];
    }
  }

  /// A step with a velocity.
  RETRACE_LANES_INLINE static void MoveBody(const Vector6<T>& velocity, double h, Body& body) {
    body.linear_velocity = Head(velocity);
    body.angular_velocity = Tail(velocity);
    RETRACE_FOR(i, 3) body.position[i] += h * velocity[i];
    const Vector3<T> w = Scaled(0.5 * h, body.angular_velocity);
    const Vector3<T> v = {body.orientation[0], body.orientation[1], body.orientation[2]};
    const T real = body.orientation[3];
    const Vector3<T> turned = Cross(w, v);
    Matrix<T, 4> q;
    RETRACE_FOR(i, 3) q[i] = v[i] + real * w[i] + turned[i];
    q[3] = real - Dot(w, v);
    Matrix<T, 4> squares;
    RETRACE_FOR(i, 4) squares[i] = q[i] * q[i];
    const T norm = Sqrt(SumOfPairs(squares));
    RETRACE_FOR(i, 4) q[i] = q[i] / norm;
    body.orientation = q;
    const T x2 = 2.0 * q[0], y2 = 2.0 * q[1], z2 = 2.0 * q[2];
    const T wx = x2 * q[3], wy = y2 * q[3], wz = z2 * q[3];
    const T xx = x2 * q[0], xy = y2 * q[0], xz = z2 * q[0];
    const T yy = y2 * q[1], yz = z2 * q[1], zz = z2 * q[2];
    body.rotation = {1.0 - (yy + zz), xy + wz, xz - wy, xy - wz,        1.0 - (xx + zz),
                     yz + wx,         xz + wy, yz - wx, 1.0 - (xx + yy)};
  }

  static void FindVelocities(const TreeMemory& tree) {
    Node* nodes = NodesOf(tree);
    for (size_t n = tree.count; n-- > 1;) CarryImpulse(tree.shapes[n], nodes[n], nodes[tree.shapes[n].parent]);
    nodes[0].velocity = Product(RootResponse(tree), nodes[0].momentum + nodes[0].impulse);
    for (size_t n = 1; n < tree.count; ++n) FindVelocity(tree.shapes[n], nodes[tree.shapes[n].parent], nodes[n]);
  }

  static void Move(const TreeMemory& tree) {
    Body* bodies = BodiesOf(tree);
    const Node* nodes = NodesOf(tree);
    for (size_t n = 0; n < tree.count; ++n) MoveBody(nodes[n].velocity, tree.time_step, bodies[tree.shapes[n].body]);
  }

  // ---- limits of torques

  /// At which torque a servo with this limit is held when it would have the torque `wanted`. One that is held already
  /// is let go only well within its limit, so that rounding does not make it alternate; and it is let go before it is
  /// held at the other limit, because its torque may be between the two.
  RETRACE_LANES_INLINE static T HoldOf(const T& wanted, double limit, const T& held) {
    const double inside = (1 - 1e-9) * limit;
    T free = wanted > limit ? Constant<T>(limit) : T{};
    free = wanted < -limit ? Constant<T>(-limit) : free;
    const T above = wanted > inside ? held : T{};
    const T below = wanted < -inside ? held : T{};
    T hold = held > 0 ? above : free;
    hold = held < 0 ? below : hold;
    return hold;
  }

  static unsigned Hold(const TreeMemory& tree, const ServoShape* servos, HoldRule rule, unsigned open) {
    const Body* bodies = BodiesOf(tree);
    const auto* motors = reinterpret_cast<const Motor*>(tree.motors);
    const Node* nodes = NodesOf(tree);
    unsigned changed = 0;
    T closed = {};  // not 0 in lanes in which none changes
    for (int l = 0; l < kLanes<T>; ++l) SetLane((open >> l & 1) == 0 ? 1 : 0, l, closed);
    for (size_t n = 1; n < tree.count; ++n) {
      const NodeShape& shape = tree.shapes[n];
      const ServoShape& servo = servos[shape.joint];
      if (!servo.limited) continue;
      const Body& parent = bodies[tree.shapes[shape.parent].body];
      const Motor& motor = motors[shape.joint];
      Vector3<T>& held = HoldsOf(tree)[shape.joint];
      for (int a = 0; a < 3; ++a) {
        if (!servo.uses_axis[a] || !(servo.effort[a] > 0)) continue;
        const Vector3<T> axis = shape.hinge ? nodes[n].hinge_axis : Column(parent.rotation, a);
        const T wanted = (motor.rate[a] - Dot(axis, nodes[n].rate)) / motor.compliance[a];
        T hold = HoldOf(wanted, servo.effort[a], held[a]);
        hold = motor.compliance[a] != 0 ? hold : T{};
        if (rule == HoldRule::kMore) hold = held[a] != 0 ? held[a] : hold;
        if (rule == HoldRule::kNone) hold = T{};
        hold = closed != 0 ? held[a] : hold;
        if (rule == HoldRule::kOne) closed = hold != held[a] ? Constant<T>(1) : closed;
        changed |= Bits(hold != held[a]);
        held[a] = hold;
      }
    }
    return changed;
  }

  // ---- servos

  /// Half the angle of a rotation, as HalfAngle of math/rotation.h.
  RETRACE_LANES_INLINE static T HalfAngle(const T& sine, const T& cosine) {
    T angle = Arcsine(sine);
    const unsigned large = Bits(!(sine < 0.7));
    if (large == 0) return angle;
    for (int l = 0; l < kLanes<T>; ++l) {
      if ((large >> l & 1) == 0) continue;
      const double size = __builtin_fabs(LaneOf(cosine, l));
      SetLane(__builtin_acos(size < 1.0 ? size : 1.0), l, angle);
    }
    return angle;
  }

  static void Drive(const ServoShape* servos, size_t count, const std::byte* bodies_of_lanes,
                    const std::byte* commands_of_lanes, const std::byte* scales_of_lanes, std::byte* motors_of_lanes) {
    const auto* bodies = reinterpret_cast<const Body*>(bodies_of_lanes);
    const auto* commands = reinterpret_cast<const CommandNumbers<T>*>(commands_of_lanes);
    const auto* scales = reinterpret_cast<const T*>(scales_of_lanes);
    auto* motors = reinterpret_cast<Motor*>(motors_of_lanes);
    for (size_t j = 0; j < count; ++j) {
      const ServoShape& servo = servos[j];
      const Matrix<T, 4> rotation =
          QuaternionProduct(Conjugate(bodies[servo.parent].orientation), bodies[servo.child].orientation);
      const Matrix<T, 4> left = QuaternionProduct(commands[j].target, Conjugate(rotation));
      const T sine = Sqrt(left[0] * left[0] + left[1] * left[1] + left[2] * left[2]);
      const T by_sine = sine < 1e-7 ? Constant<T>(2.0) : 2.0 * HalfAngle(sine, left[3]) / sine;
      const T factor = left[3] < 0 ? -by_sine : by_sine;
      const T gain = scales == nullptr ? commands[j].gain : scales[j] * commands[j].gain;
      RETRACE_FOR(a, 3) {
        T error = factor * left[a];  // in the parent's axes
        if (servo.oblique) {
          error = factor * (servo.direction[0] * left[0] + servo.direction[1] * left[1] + servo.direction[2] * left[2]);
        }
        const T compliance = gain > 0 ? 1.0 / (servo.strength[a] * gain) : T{};
        motors[j].rate[a] = servo.uses_axis[a] ? servo.rate_per_error * error : T{};
        motors[j].compliance[a] = servo.uses_axis[a] ? compliance : T{};
        if (servo.limited && servo.effort[a] > 0) motors[j].rate[a] += motors[j].compliance[a] * commands[j].torque[a];
      }
    }
  }

  // ---- shapes

  /// Adds an entry to the lists of the lanes whose bits are set.
  RETRACE_LANES_INLINE static void List(unsigned bits, size_t entry, uint32_t* const* lists, size_t* counts) {
    for (; bits != 0; bits &= bits - 1) {
      const int l = __builtin_ctz(bits);
      lists[l][counts[l]++] = static_cast<uint32_t>(entry);
    }
  }

  RETRACE_LANES_INLINE static Segment<T> SegmentOf(const ShapeBounds& shape, const Vector3<T>& center,
                                                   const Body* bodies) {
    return {center, Scaled(shape.half_length, Column(bodies[shape.body].rotation, shape.axis))};
  }

  static void FindNear(const ShapeBounds* shapes, size_t num_shapes, const ShapePair* pairs, size_t num_pairs,
                       const std::byte* bodies_of_lanes, std::byte* centers_of_lanes, const NearLists& lists) {
    const auto* bodies = reinterpret_cast<const Body*>(bodies_of_lanes);
    auto* centers = reinterpret_cast<Vector3<T>*>(centers_of_lanes);
    for (int l = 0; l < kLanes<T>; ++l) {
      lists.pair_counts[l] = 0;
      lists.ground_counts[l] = 0;
    }
    // What is not a number is not apart.
    for (size_t s = 0; s < num_shapes; ++s) {
      const ShapeBounds& shape = shapes[s];
      const Body& body = bodies[shape.body];
      centers[s] = body.position;
      if (!shape.at_center) centers[s] = centers[s] + Product(body.rotation, Constant<T, 3>(shape.offset));
      List(Bits(!(centers[s][1] > shape.ground_height)), s, lists.ground, lists.ground_counts);
    }
    for (size_t p = 0; p < num_pairs; ++p) {
      const ShapePair& pair = pairs[p];
      const Vector3<T> apart = centers[pair.first] - centers[pair.second];
      unsigned near = Bits(!(Dot(apart, apart) > pair.reach_squared));
      if (near != 0 && pair.segment_squared > 0) {
        const T distance = SquaredDistance(SegmentOf(shapes[pair.first], centers[pair.first], bodies),
                                           SegmentOf(shapes[pair.second], centers[pair.second], bodies));
        near &= Bits(!(distance > pair.segment_squared));
      }
      List(near, p, lists.pairs, lists.pair_counts);
    }
  }

  // ---- between lanes and single simulations

  /// Transposes: from the rows of lanes to numbers side by side, or back.
  RETRACE_LANES_INLINE static void TransposeBlock(T (&rows)[kLanes<T>]) {
    if constexpr (kLanes<T> == 4) {
      const T low0 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 2, 6);
      const T high0 = __builtin_shufflevector(rows[0], rows[1], 1, 5, 3, 7);
      const T low1 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 2, 6);
      const T high1 = __builtin_shufflevector(rows[2], rows[3], 1, 5, 3, 7);
      rows[0] = __builtin_shufflevector(low0, low1, 0, 1, 4, 5);
      rows[1] = __builtin_shufflevector(high0, high1, 0, 1, 4, 5);
      rows[2] = __builtin_shufflevector(low0, low1, 2, 3, 6, 7);
      rows[3] = __builtin_shufflevector(high0, high1, 2, 3, 6, 7);
    } else if constexpr (kLanes<T> == 8) {
      T pairs[8], fours[8];
      RETRACE_FOR(i, 4) {
        pairs[2 * i] = __builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pairs[2 * i + 1] = __builtin_shufflevector(rows[2 * i], rows[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
      }
      RETRACE_FOR(i, 2) RETRACE_FOR(k, 2) {
        const T& a = pairs[4 * i + k];
        const T& b = pairs[4 * i + 2 + k];
        fours[4 * i + k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
        fours[4 * i + 2 + k] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
      }
      RETRACE_FOR(k, 4) {
        rows[k] = __builtin_shufflevector(fours[k], fours[4 + k], 0, 1, 2, 3, 8, 9, 10, 11);
        rows[4 + k] = __builtin_shufflevector(fours[k], fours[4 + k], 4, 5, 6, 7, 12, 13, 14, 15);
      }
    }
  }

  static void Gather(const double* const* from, size_t count, std::byte* to) {
    auto* numbers = reinterpret_cast<T*>(to);
    size_t k = 0;
    for (; k + kLanes<T> <= count; k += kLanes<T>) {
      T rows[kLanes<T>];
      RETRACE_FOR(l, kLanes<T>) __builtin_memcpy(&rows[l], from[l] + k, sizeof(T));
      TransposeBlock(rows);
      RETRACE_FOR(l, kLanes<T>) numbers[k + l] = rows[l];
    }
    for (; k < count; ++k) {
      for (int l = 0; l < kLanes<T>; ++l) SetLane(from[l][k], l, numbers[k]);
    }
  }
  static void Scatter(const std::byte* from, size_t count, double* const* to) {
    const auto* numbers = reinterpret_cast<const T*>(from);
    size_t k = 0;
    for (; k + kLanes<T> <= count; k += kLanes<T>) {
      T rows[kLanes<T>];
      RETRACE_FOR(l, kLanes<T>) rows[l] = numbers[k + l];
      TransposeBlock(rows);
      RETRACE_FOR(l, kLanes<T>) __builtin_memcpy(to[l] + k, &rows[l], sizeof(T));
    }
    for (; k < count; ++k) {
      for (int l = 0; l < kLanes<T>; ++l) to[l][k] = LaneOf(numbers[k], l);
    }
  }
};

}  // namespace retrace::simulation::lanes
