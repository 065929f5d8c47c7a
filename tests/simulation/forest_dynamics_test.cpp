/// The project's own step against ODE's, and the parts of it against what defines them.
#include "simulation/forest_dynamics.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdarg>
#include <numeric>

#include "long_trials.h"
#include "retrace/math/random.h"
#include "retrace/simulation/solver_proof.h"
#include "simulation/available_passes.h"
#include "simulation/collision.h"
#include "simulation/contact_forces.h"
#include "simulation/ode_of_library.h"
#include "simulation/ode_stepper.h"
#include "simulation/sample_characters.h"

namespace retrace::simulation {
namespace {

StepLaw Law(double time_step) {
  StepLaw law;
  law.time_step = time_step;
  law.gravity = 9.81;
  law.joint_erp = 0.6;
  law.contact = {0.67, 4e-6, 1, 0.8, 1e-10};
  return law;
}

/// A character in any state: limbs anywhere, joints pulled apart a little, on the ground, in it or above it.
class AnyMotion {
 public:
  AnyMotion(const character::Character& character, double time_step, uint32_t number)
      : character_(character),
        random_(7, RandomStage::kTest, number, 0),
        forest_(character),
        collision_(forest_, Options(time_step)),
        near_(collision_, kScalarPasses) {
    character::Pose pose = RestPose(character);
    for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
      const Vec3 turn = AnyVector(random_.Uniform() < 0.3 ? 2 : 0.4);
      pose.joint_rotations[j] = character.joints[j].type == character::JointType::kHinge
                                    ? FromRotationVector(turn.x() * character.joints[j].direction())
                                    : FromRotationVector(turn);
    }
    pose.root_orientation = FromRotationVector(AnyVector(random_.Uniform() < 0.5 ? 3 : 0.2));
    pose.root_position = Vec3(0, 1, 0);
    character::State state = StateOf(character, pose);
    double lowest = 1e9;
    for (size_t b = 0; b < state.size(); ++b) {
      lowest = std::min(lowest, character::LowestPoint(character.bodies[b], state[b]));
    }
    const double height = random_.Uniform() < 0.8 ? random_.Uniform(-0.02, 0.005) : 1;
    const Vec3 velocity = AnyVector(1), spin = AnyVector(2);
    SetRigidMotion(character, velocity, spin, state);
    for (const auto& s : state) {
      BodyMotion& body = bodies.emplace_back();
      body.position = s.position + Vec3(0, height - lowest, 0) + AnyVector(1e-3);
      body.orientation = FromRotationVector(AnyVector(1e-3)) * s.orientation;
      body.orientation.normalize();
      body.rotation = body.orientation.toRotationMatrix();
      body.linear_velocity = s.linear_velocity + AnyVector(0.2);
      body.angular_velocity = s.angular_velocity + AnyVector(2);
    }
    const bool driven = random_.Uniform() < 0.8;
    for (size_t j = 0; j < character.joints.size(); ++j) {
      Motor& motor = motors.emplace_back();
      if (!driven) continue;
      motor.rate = AnyVector(5);
      for (int a = 0; a < 3; ++a) motor.compliance[a] = std::pow(10, random_.Uniform(-3, 1));
    }
    if (random_.Uniform() < 0.5) {
      for (size_t b = 0; b < bodies.size(); ++b) torques.push_back(AnyVector(20));
    }
    if (random_.Uniform() < 0.5) {
      for (size_t b = 0; b < bodies.size(); ++b) forces.push_back(AnyVector(200));
    }
    Collide();
  }

  void Collide() {
    near_.Find(reinterpret_cast<const std::byte*>(bodies.data()));
    collision_.Find(bodies, near_.OfLane(0));
    contacts = collision_.points();
  }
  StepInput Input() const { return {contacts, motors, torques, forces}; }

  std::vector<BodyMotion> bodies;
  std::vector<Motor> motors;
  std::vector<Vec3> torques;
  std::vector<Vec3> forces;
  std::vector<ContactPoint> contacts;

 private:
  static CollisionOptions Options(double time_step) {
    CollisionOptions options;
    options.time_step = time_step;
    options.gravity = 9.81;
    return options;
  }
  Vec3 AnyVector(double size) {
    return {random_.Uniform(-size, size), random_.Uniform(-size, size), random_.Uniform(-size, size)};
  }

  const character::Character& character_;
  RandomStream random_;
  const Forest forest_;
  Collision collision_;
  NearShapeFinder near_;
};

bool Step(ForestDynamics& tree, ContactForces& contacts, const StepLaw& law, const StepInput& input,
          std::vector<BodyMotion>& bodies) {
  const LaneStep step{bodies, input};
  tree.Take({&step, 1});
  tree.Begin({&step, 1});
  ContactSolver solver;
  ContactSolver::Begin(input.contacts, tree);
  tree.FindResponses();
  if (!solver.Solve(input.contacts, law, tree, 0, bodies, contacts)) return false;
  tree.Finish({&step, 1});
  return true;
}

/// A step without contacts.
void Step(ForestDynamics& tree, const StepInput& input, std::vector<BodyMotion>& bodies) {
  const LaneStep step{bodies, input};
  tree.Take({&step, 1});
  tree.Begin({&step, 1});
  tree.Finish({&step, 1});
}

double Difference(const std::vector<BodyMotion>& a, const std::vector<BodyMotion>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    largest = std::max({largest, (a[i].linear_velocity - b[i].linear_velocity).norm(),
                        (a[i].angular_velocity - b[i].angular_velocity).norm(), (a[i].position - b[i].position).norm(),
                        AngleBetween(a[i].orientation, b[i].orientation)});
  }
  return largest;
}

double Fastest(const std::vector<BodyMotion>& bodies) {
  double fastest = 1;
  for (const BodyMotion& body : bodies) {
    fastest = std::max({fastest, body.linear_velocity.norm(), body.angular_velocity.norm()});
  }
  return fastest;
}

std::atomic<int> ode_messages = 0;  // "LCP internal error, s <= 0": then ODE's solver has given up

struct Agreement {
  int steps = 0;
  int with_contacts = 0;
  int with_self_contacts = 0;
  int ode_gave_up = 0;
  double worst = 0;  // difference of velocities beside the fastest
};

/// Steps of both from the same states: some steps from each of many random starts.
Agreement Compare(const character::Character& character, double time_step, int starts, int steps_each) {
  const StepLaw law = Law(time_step);
  const Forest forest(character);
  OdeStepper ode(forest, law);
  retrace_dSetMessageHandler([](int, const char*, va_list) { ++ode_messages; });
  ForestDynamics tree(forest, law);
  ContactForces contacts;
  Agreement agreement;
  for (int start = 0; start < starts; ++start) {
    AnyMotion motion(character, time_step, static_cast<uint32_t>(start));
    contacts.Reset();
    for (int step = 0; step < steps_each; ++step) {
      motion.Collide();
      std::vector<BodyMotion> expected = motion.bodies;
      const int messages = ode_messages;
      ode.Step(expected, motion.Input(), nullptr);
      if (!Step(tree, contacts, law, motion.Input(), motion.bodies)) {
        ADD_FAILURE() << "not solved: start " << start << " step " << step;
        break;
      }
      ++agreement.steps;
      agreement.with_contacts += !motion.contacts.empty();
      agreement.with_self_contacts += std::any_of(motion.contacts.begin(), motion.contacts.end(),
                                                  [](const ContactPoint& c) { return c.other >= 0; });
      if (ode_messages != messages) {
        ++agreement.ode_gave_up;
      } else {
        const double difference = Difference(motion.bodies, expected) / Fastest(expected);
        agreement.worst = std::max(agreement.worst, difference);
        EXPECT_LT(difference, 1e-6) << "start " << start << " step " << step << ", " << motion.contacts.size()
                                    << " contacts";
      }
      if (Fastest(motion.bodies) > 200) break;  // thrown apart: a wild start
    }
  }
  return agreement;
}

#if defined(RETRACE_SANITIZED)
constexpr int kStarts = 100;  // ten times slower, and not for finding rare states
#else
const int kStarts = LongTrials() ? 4500 : 1000;
#endif

TEST(ForestDynamics, StepsLikeOdeInAnyState) {
  const character::Character human = Human();
  const Agreement agreement = Compare(human, 1.0 / 240, kStarts, 25);
  EXPECT_GT(agreement.steps, 22 * kStarts);
  EXPECT_GT(agreement.with_contacts, 0.5 * agreement.steps);
  EXPECT_GT(agreement.with_self_contacts, 0.1 * agreement.steps);
  EXPECT_LT(agreement.ode_gave_up, 0.01 * agreement.steps);
  RecordProperty("worst", std::to_string(agreement.worst));
  std::printf("%d steps, %d with contacts, %d with self contacts, ODE gave up in %d, largest difference %.2g\n",
              agreement.steps, agreement.with_contacts, agreement.with_self_contacts, agreement.ode_gave_up,
              agreement.worst);
}

TEST(ForestDynamics, StepsLikeOdeAtOtherStepsAndWithOtherMechanisms) {
  Compare(Human(), 1.0 / 120, 200, 10);
  Compare(Human(), 0.0005, 200, 10);
  Compare(character::Oblique(), 1.0 / 240, 200, 10);
  Compare(ArmOnPost("hinge", 100, 10, 5), 1.0 / 240, 200, 10);
  Compare(ArmOnPost("ball", 100, 10, 5), 1.0 / 240, 200, 10);
  Compare(Block(), 1.0 / 240, 200, 10);
}

TEST(ForestDynamics, StepsLikeOdeWhereTheRootIsHeldInAPlane) {
  const character::Character planar =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/planar_human.json");
  const Agreement agreement = Compare(planar, 1.0 / 240, 300, 25);
  EXPECT_GT(agreement.steps, 300 * 20);
  EXPECT_GT(agreement.with_contacts, 0.4 * agreement.steps);
  EXPECT_LT(agreement.ode_gave_up, 0.05 * agreement.steps);
}

TEST(ForestDynamics, StepsLikeOdeWhereInertiaIsTurnedAndShapesAreMeshes) {
  const character::Character robot =
      character::LoadCharacter(std::string(RETRACE_SOURCE_DIR) + "/data/characters/asimo.json");
  ASSERT_TRUE(robot.bodies[static_cast<size_t>(robot.FindBody("left_thigh"))].turned);
  const Agreement agreement = Compare(robot, 1.0 / 240, 300, 25);
  EXPECT_GT(agreement.steps, 300 * 20);
  EXPECT_GT(agreement.with_contacts, 0.4 * agreement.steps);
  EXPECT_GT(agreement.with_self_contacts, 0.1 * agreement.steps);
  EXPECT_LT(agreement.ode_gave_up, 0.05 * agreement.steps);
}

TEST(ForestDynamics, WithoutFrictionToo) {
  const character::Character human = Human();
  StepLaw law = Law(1.0 / 240);
  law.contact.friction = 0;
  const Forest forest(human);
  OdeStepper ode(forest, law);
  ForestDynamics tree(forest, law);
  ContactForces contacts;
  for (uint32_t start = 0; start < 50; ++start) {
    AnyMotion motion(human, law.time_step, start);
    std::vector<BodyMotion> expected = motion.bodies;
    ode.Step(expected, motion.Input(), nullptr);
    contacts.Reset();
    ASSERT_TRUE(Step(tree, contacts, law, motion.Input(), motion.bodies));
    EXPECT_LT(Difference(motion.bodies, expected), 1e-6 * Fastest(expected)) << start;
  }
}

TEST(ForestDynamics, ForcesAreThoseOfOde) {
  const character::Character human = Human();
  const StepLaw law = Law(1.0 / 240);
  const Forest forest(human);
  OdeStepper ode(forest, law);
  ForestDynamics tree(forest, law);
  ContactForces contacts;
  for (uint32_t start = 0; start < 50; ++start) {
    AnyMotion motion(human, law.time_step, start);
    std::vector<BodyMotion> other = motion.bodies;
    StepForces expected;
    ode.Step(other, motion.Input(), &expected);
    contacts.Reset();
    const std::vector<BodyMotion> before = motion.bodies;
    ASSERT_TRUE(Step(tree, contacts, law, motion.Input(), motion.bodies));
    for (size_t j = 0; j < human.joints.size(); ++j) {
      const Vec3 torque =
          tree.MotorTorque(0, static_cast<int>(j), before[static_cast<size_t>(human.joints[j].parent)].rotation);
      EXPECT_LT((torque - expected.motors[j]).norm(), 1e-4 * (1 + expected.motors[j].norm())) << human.joints[j].name;
    }
    Vec3 sum = Vec3::Zero(), expected_sum = Vec3::Zero();  // how friction is shared between points hardly matters
    for (size_t c = 0; c < motion.contacts.size(); ++c) {
      if (motion.contacts[c].other >= 0) continue;
      sum += contacts.forces[c];
      expected_sum += expected.contacts[c];
    }
    EXPECT_LT((sum - expected_sum).norm(), 1e-4 * (1 + expected_sum.norm())) << start;
  }
}

TEST(ForestDynamics, AnImpulseChangesVelocitiesByTheResponse) {
  const character::Character human = Human();
  const StepLaw law = Law(1.0 / 240);
  const Forest forest(human);
  ForestDynamics tree(forest, law);
  AnyMotion motion(human, law.time_step, 3);
  const int hand = human.FindBody("left_hand"), foot = human.FindBody("right_foot"), head = human.FindBody("head");
  const std::vector<int> set = {hand, foot, head, human.root};
  Vec6 impulse;
  impulse << 1, -2, 0.5, 0.1, 0.3, -0.2;
  std::vector<BodyMotion> without = motion.bodies;
  const LaneStep step_without{without, motion.Input()};
  tree.Take({&step_without, 1});
  tree.Begin({&step_without, 1});
  for (const int body : set) tree.Want(body);
  tree.FindResponses();
  Vec6 free;
  tree.FreeVelocity(0, foot, free);
  using Mat6 = Eigen::Matrix<double, 6, 6>;
  const auto read = [&](int a, int b) {
    const MatrixView view = tree.Response(0, a, b);
    Mat6 response;
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < 6; ++c) response(r, c) = view.numbers[r * view.row + c * view.col];
    }
    return response;
  };
  Mat6 responses[4], back;
  const int bodies[4] = {hand, foot, head, human.root};
  for (int i = 0; i < 4; ++i) {
    responses[i] = read(bodies[i], hand);
    back = read(hand, bodies[i]);
    EXPECT_LT((responses[i] - back.transpose()).norm(), 1e-12) << i;
  }
  tree.Finish({&step_without, 1});
  EXPECT_LT((free.head<3>() - without[static_cast<size_t>(foot)].linear_velocity).norm(), 1e-12);
  std::vector<BodyMotion> with = motion.bodies;
  const LaneStep step_with{with, motion.Input()};
  tree.Take({&step_with, 1});
  tree.Begin({&step_with, 1});
  tree.AddImpulse(0, hand, impulse);
  tree.Finish({&step_with, 1});
  for (int i = 0; i < 4; ++i) {
    const auto b = static_cast<size_t>(bodies[i]);
    Vec6 change;
    change << with[b].linear_velocity - without[b].linear_velocity,
        with[b].angular_velocity - without[b].angular_velocity;
    EXPECT_LT((change - responses[i] * impulse).norm(), 1e-10) << i;
  }
}

TEST(ForestDynamics, ForcesInsideChangeNoMomentum) {
  const character::Character human = Human();
  StepLaw law = Law(1.0 / 240);
  law.gravity = 0;
  const Forest forest(human);
  ForestDynamics tree(forest, law);
  for (uint32_t start = 0; start < 20; ++start) {
    AnyMotion motion(human, law.time_step, start);
    motion.torques.clear();
    motion.forces.clear();
    motion.contacts.clear();
    const auto momentum = [&] {
      Vec3 sum = Vec3::Zero();
      for (size_t b = 0; b < motion.bodies.size(); ++b) sum += human.bodies[b].mass * motion.bodies[b].linear_velocity;
      return sum;
    };
    const Vec3 before = momentum();
    Step(tree, motion.Input(), motion.bodies);
    EXPECT_LT((momentum() - before).norm(), 1e-10 * (1 + before.norm()));
  }
}

/// Largest change of the energy of a limp human that tumbles through the air for a second, as a share of what moves.
double EnergyDrift(double time_step) {
  const character::Character human = Human();
  StepLaw law = Law(time_step);
  const Forest forest(human);
  ForestDynamics tree(forest, law);
  AnyMotion motion(human, time_step, 11);
  motion.torques.clear();
  motion.forces.clear();
  motion.contacts.clear();
  for (Motor& motor : motion.motors) motor = {};
  for (size_t j = 0; j < human.joints.size(); ++j) {  // joints as they should be
    const auto child = static_cast<size_t>(human.joints[j].child);
    motion.bodies[child].angular_velocity += Vec3(0.5, -0.3, 0.2) * static_cast<double>(j % 3);
  }
  const auto energy = [&](double& kinetic) {
    double sum = 0;
    kinetic = 0;
    for (size_t b = 0; b < motion.bodies.size(); ++b) {
      const BodyMotion& body = motion.bodies[b];
      const Vec3 w = body.rotation.transpose() * body.angular_velocity;
      kinetic += 0.5 * human.bodies[b].mass * body.linear_velocity.squaredNorm() +
                 0.5 * w.dot(human.bodies[b].inertia.cwiseProduct(w));
      sum += human.bodies[b].mass * law.gravity * body.position.y();
    }
    return sum + kinetic;
  };
  // The first steps bring the joints together, which costs energy.
  double time = -0.2, begin = 0, largest = 0, kinetic = 0, most = 0;
  for (; time < 1; time += time_step) {
    if (time < 0) begin = energy(kinetic);
    Step(tree, motion.Input(), motion.bodies);
    if (time < 0) continue;
    largest = std::max(largest, std::abs(energy(kinetic) - begin));
    most = std::max(most, kinetic);
  }
  return largest / most;
}

TEST(ForestDynamics, EnergyOfALimpFlightDriftsByTheOrderOfTheIntegrator) {
  const double coarse = EnergyDrift(1.0 / 240);
  const double fine = EnergyDrift(1.0 / 2400);
  EXPECT_LT(coarse, 0.01);
  EXPECT_LT(fine, 0.15 * coarse);
}

TEST(ForestDynamics, ProvesItself) {
  EXPECT_EQ(ProveTreeSolver().value_or(""), "");
}

}  // namespace
}  // namespace retrace::simulation
