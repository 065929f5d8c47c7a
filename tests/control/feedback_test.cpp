#include "retrace/control/feedback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "control/sample_control.h"
#include "retrace/control/command_recorder.h"
#include "retrace/control/control_file.h"
#include "retrace/control/feedback_controller.h"
#include "retrace/control/feedback_law.h"
#include "retrace/control/sensed_controller.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::control {
namespace {

/// Keeps the states that a controller sees.
class Seeing final : public Controller {
 public:
  explicit Seeing(std::span<const Fragment> fragments) : open_loop_(fragments) {}
  void Command(const StepContext& now, std::span<simulation::JointCommand> commands) override {
    states.push_back(now.state);
    open_loop_.Command(now, commands);
  }
  bool RestartsAt(int step) override { return open_loop_.RestartsAt(step); }

  std::vector<character::State> states;

 private:
  OpenLoop open_loop_;
};

/// What a control does as its controller sees it.
std::vector<character::State> StatesOf(const OpenLoopControl& control) {
  Seeing seeing(control.fragments);
  Controller* const controller = &seeing;
  const character::Character* const human = &Human();
  const Trajectory motion =
      Simulate({&human, 1}, control.world, control.start, {&controller, 1}, 0, control.num_steps());
  seeing.states.push_back(motion.states.back());
  return seeing.states;
}

/// Feedback with random gains along what a control does.
Feedback AnyFeedback(RandomStream& random, const OpenLoopControl& control, int interval, double largest_gain) {
  const dynamics::Coordinates coordinates(Human());
  Feedback feedback;
  feedback.control_sha256 = "c";
  feedback.character_sha256 = CharacterSha256(Human());
  feedback.num_steps = control.num_steps();
  feedback.interval = interval;
  const std::vector<character::State> states = StatesOf(control);
  const int nodes = (feedback.num_steps + interval - 1) / interval;
  for (int node = 0; node <= nodes; ++node) {
    const auto step = static_cast<size_t>(std::min(node * interval, feedback.num_steps));
    dynamics::Reduce(coordinates, states[step], feedback.nominal.emplace_back());
  }
  feedback.largest_torque = Eigen::VectorXd::Constant(coordinates.size() - 6, 50);
  const auto size = static_cast<size_t>(2 * coordinates.size() * (coordinates.size() - 6));
  for (size_t i = 0; i < static_cast<size_t>(nodes) * size; ++i) {
    feedback.gains.push_back(static_cast<float>(random.Uniform(-largest_gain, largest_gain)));
  }
  return feedback;
}

TEST(Feedback, IsZeroOnTheMotionAndLinearBesideIt) {
  RandomStream random(1, RandomStage::kTest, 0, 0);
  const OpenLoopControl control = Standing(2);
  const Feedback feedback = AnyFeedback(random, control, 4, 100);
  FeedbackLaw law(Human(), feedback);
  const dynamics::Coordinates coordinates(Human());
  const Eigen::Index n = coordinates.size();
  for (const int node : {0, 3, feedback.num_nodes()}) {
    const int gains_of = std::min(node, feedback.num_nodes() - 1);
    character::State state;
    const dynamics::MotionPoint& nominal = feedback.nominal[static_cast<size_t>(node)];
    dynamics::Expand(coordinates, nominal, state);
    dynamics::MotionPoint point;
    dynamics::Reduce(coordinates, state, point);
    for (const Eigen::Index i : {Eigen::Index{1}, Eigen::Index{5}, n - 1, n, 2 * n - 1}) {
      Eigen::VectorXd difference = Eigen::VectorXd::Zero(2 * n);
      difference[i] = 0.01;
      point = nominal;
      dynamics::Apply(coordinates, difference, point);
      dynamics::Expand(coordinates, point, state);
      const Eigen::VectorXd torques = law.TorquesAt(node, state);
      EXPECT_TRUE(law.differs());
      EXPECT_NEAR((law.difference() - difference).norm(), 0, 1e-12);
      for (Eigen::Index k = 0; k < n - 6; ++k) {
        EXPECT_NEAR(torques[k], 0.01 * feedback.GainOf(gains_of)[static_cast<size_t>(i * (n - 6) + k)], 1e-5);
      }
      difference[i] = 100;  // far away: clamped, and of a rotation within half a turn
      point = nominal;
      dynamics::Apply(coordinates, difference, point);
      dynamics::Expand(coordinates, point, state);
      EXPECT_LE(law.TorquesAt(node, state).cwiseAbs().maxCoeff(), 50);
    }
  }
  EXPECT_EQ(law.TorquesAt(1, StatesOf(control)[4]), Eigen::VectorXd::Zero(n - 6));
  EXPECT_FALSE(law.differs());
}

TEST(Feedback, LeavesTheMotionAsItIsToTheBit) {
  RandomStream random(2, RandomStage::kTest, 0, 0);
  const OpenLoopControl control = Standing(5);
  const Feedback feedback = AnyFeedback(random, control, 7, 1e4);  // intervals that do not fit the fragments
  FeedbackController controller(Human(), control.fragments, control.fragments, feedback);
  Controller* const pointer = &controller;
  const character::Character* const human = &Human();
  const Trajectory with = Simulate({&human, 1}, control.world, control.start, {&pointer, 1}, 0, control.num_steps());
  const Trajectory without = Replay(Human(), control);
  ASSERT_EQ(with.states.size(), without.states.size());
  for (size_t i = 0; i < with.states.size(); ++i) EXPECT_TRUE(SameBits(with.states[i], without.states[i])) << i;
}

TEST(Feedback, ItsCommandsAreAControlThatMakesTheSameMotion) {
  RandomStream random(3, RandomStage::kTest, 0, 0);
  const OpenLoopControl control = Standing(5);
  const Feedback feedback = AnyFeedback(random, control, 4, 0.2);
  FeedbackController controller(Human(), control.fragments, control.fragments, feedback);
  CommandRecorder recorder(controller);
  Controller* const pointer = &recorder;
  const character::Character* const human = &Human();
  const Push push{Human().FindBody("trunk"), Vec3(30, 0, 40), 0.05, 0.1};
  const Trajectory with =
      Simulate({&human, 1}, control.world, control.start, {&pointer, 1}, 0, control.num_steps(), {&push, 1});
  OpenLoopControl recorded{control.world, control.start, recorder.TakeFragments()};
  EXPECT_EQ(recorded.fragments.size(), control.fragments.size());
  recorded = ParseControl(FormatControl(Human(), recorded), "recorded").control;
  const Trajectory again = Replay(Human(), recorded, {&push, 1});
  ASSERT_EQ(with.states.size(), again.states.size());
  for (size_t i = 0; i < with.states.size(); ++i) EXPECT_TRUE(SameBits(with.states[i], again.states[i])) << i;
  EXPECT_FALSE(SameBits(with.states.back(), Replay(Human(), control, {&push, 1}).states.back()));
}

TEST(Feedback, AFileReadsBackToTheSameBits) {
  RandomStream random(4, RandomStage::kTest, 0, 0);
  Feedback feedback = AnyFeedback(random, Standing(2), 5, 10);
  feedback.full_servos = true;
  const std::string bytes = FormatFeedback(feedback);
  const Feedback read = ParseFeedback(bytes, "feedback.bin");
  EXPECT_EQ(FormatFeedback(read), bytes);
  EXPECT_EQ(read.gains, feedback.gains);
  EXPECT_TRUE(read.nominal.back() == feedback.nominal.back());
  EXPECT_TRUE(read.full_servos);
}

/// What a reader says of bytes.
std::string Complaint(const std::string& bytes) {
  try {
    ParseFeedback(bytes, "feedback.bin");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Feedback, RefusesDamagedFiles) {
  RandomStream random(5, RandomStage::kTest, 0, 0);
  const std::string bytes = FormatFeedback(AnyFeedback(random, Standing(1), 5, 10));
  const size_t line = bytes.find('\n');
  EXPECT_THAT(Complaint(""), testing::HasSubstr("found another format"));
  EXPECT_THAT(Complaint("{}\n"), testing::HasSubstr("found another format"));
  EXPECT_THAT(Complaint("{\n"), testing::HasSubstr("feedback.bin:1:"));
  EXPECT_THAT(Complaint(bytes.substr(0, bytes.size() - 1)), testing::HasSubstr("bytes after the first line"));
  EXPECT_THAT(Complaint(bytes + "x"), testing::HasSubstr("bytes after the first line"));
  std::string flipped = bytes;
  flipped[bytes.size() - 7] = static_cast<char>(flipped[bytes.size() - 7] ^ 1);
  EXPECT_THAT(Complaint(flipped), testing::HasSubstr("found other numbers than were written"));
  const auto with = [&](const char* key, const io::Json& value) {
    io::Json header = io::ParseJson(bytes.substr(0, line), "");
    header[key] = value;
    return Complaint(io::Dump(header) + bytes.substr(line));
  };
  EXPECT_THAT(with("version", 2), testing::HasSubstr("/version"));
  EXPECT_THAT(with("nodes", 4), testing::HasSubstr("/nodes"));
  EXPECT_THAT(with("interval", 0), testing::HasSubstr("/interval"));
  EXPECT_THAT(with("coordinates", 7), testing::HasSubstr("/coordinates"));
  EXPECT_THAT(with("joints", 255), testing::HasSubstr("bytes after the first line"));
  // Numbers that are none, with the right hash.
  std::string numbers = bytes.substr(line + 1);
  for (size_t i = 0; i < 8; ++i) numbers[i] = static_cast<char>(0xff);
  io::Json header = io::ParseJson(bytes.substr(0, line), "");
  header["numbers_sha256"] = io::Sha256(numbers);
  EXPECT_THAT(Complaint(io::Dump(header) + "\n" + numbers), testing::HasSubstr("a number that is none"));
}

/// The states that a controller sees through sensors, of a control that is simulated from any start.
std::vector<character::State> SeenThrough(const Sensors& sensors, const OpenLoopControl& control,
                                          const character::State& start) {
  Seeing seeing(control.fragments);
  SensedController sensed(seeing, Human(), StatesOf(control), 0, control.world.time_step, sensors);
  Controller* const controller = &sensed;
  const character::Character* const human = &Human();
  Simulate({&human, 1}, control.world, start, {&controller, 1}, 0, control.num_steps());
  return seeing.states;
}

TEST(Sensors, SeeWhatWasMeasuredBesideTheMotionOfThatTime) {
  const OpenLoopControl control = Standing(2);
  const std::vector<character::State> undisturbed = StatesOf(control);
  Sensors sensors;
  sensors.delay = 5 * control.world.time_step;
  const std::vector<character::State> calm = SeenThrough(sensors, control, control.start);
  for (size_t k = 0; k < calm.size(); ++k) {
    EXPECT_LT((calm[k][0].position - undisturbed[k][0].position).norm(), 1e-7);
    EXPECT_LT(AngleBetween(calm[k].back().orientation, undisturbed[k].back().orientation), 1e-6);
  }
  // A push that begins at the start: what is seen of it is five steps old.
  OpenLoopControl pushed = control;
  for (character::BodyState& body : pushed.start) body.linear_velocity.x() += 0.3;
  std::vector<character::State> motion = StatesOf(pushed);
  const std::vector<character::State> seen = SeenThrough(sensors, control, pushed.start);
  const auto root = static_cast<size_t>(Human().root);
  for (size_t k = 5; k < seen.size(); ++k) {
    const Vec3 old = motion[k - 5][root].position - undisturbed[k - 5][root].position;
    EXPECT_LT((seen[k][root].position - undisturbed[k][root].position - old).norm(), 1e-7);
  }
  EXPECT_GT((motion[20][root].position - undisturbed[20][root].position).norm(), 0.005);
}

TEST(Sensors, AddNoiseOfTheSeedToJointsAndTurns) {
  const OpenLoopControl control = Standing(2);
  const std::vector<character::State> undisturbed = StatesOf(control);
  Sensors sensors;
  sensors.noise = 0.2;
  const std::vector<character::State> seen = SeenThrough(sensors, control, control.start);
  EXPECT_EQ(seen[7][3].position, SeenThrough(sensors, control, control.start)[7][3].position);
  sensors.seed = 2;
  EXPECT_NE(seen[7][3].position, SeenThrough(sensors, control, control.start)[7][3].position);
  const dynamics::Coordinates coordinates(Human());
  const Eigen::Index n = coordinates.size();
  Eigen::VectorXd difference(2 * n);
  double angles = 0, rates = 0;
  for (size_t k = 0; k < seen.size(); ++k) {
    dynamics::MotionPoint from, to;
    dynamics::Reduce(coordinates, undisturbed[k], from);
    dynamics::Reduce(coordinates, seen[k], to);
    dynamics::Difference(coordinates, from, to, difference);
    EXPECT_LT(difference.head<3>().norm(), 1e-7) << "the root is where it is";
    angles += difference.segment(3, n - 3).squaredNorm();
    rates += difference.tail(n - 3).squaredNorm();
  }
  const double count = static_cast<double>(seen.size()) * static_cast<double>(n - 3);
  EXPECT_NEAR(std::sqrt(angles / count), 0.02, 0.002);
  EXPECT_NEAR(std::sqrt(rates / count), 0.2, 0.02);
}

}  // namespace
}  // namespace retrace::control
