/// What was read against MuJoCo: mass matrix, bias forces, and the accelerations of a fall.
#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <Eigen/Dense>
#include <filesystem>
#include <memory>
#include <regex>

#include "retrace/dynamics/character_dynamics.h"
#include "retrace/io/file.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/robots/read_robot.h"
#include "retrace/robots/robot_character.h"
#include "robots/sample_robot.h"
#include "sample_folder.h"

namespace retrace::robots {
namespace {

using character::Character;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// From MuJoCo's axes to ours.
Mat3 Turn() {
  return (Mat3() << 0, 1, 0, 0, 0, 1, 1, 0, 0).finished();
}

/// A model of MuJoCo beside the character that was read from the same file.
class Beside {
 public:
  /// @param text what MuJoCo gets, in the file's folder
  Beside(const std::filesystem::path& file, const std::string& text)
      : character_(MakeRobotCharacter(ReadRobot(io::ReadFile(file), file), file.string()).character),
        dynamics_(character_, 9.81) {
    const std::filesystem::path copy = file.parent_path() / ("of_mujoco_" + file.filename().string());
    io::WriteFile(copy, text);
    char error[1000] = "";
    model_.reset(mj_loadXML(copy.c_str(), nullptr, error, sizeof error));
    if (model_ == nullptr) {
      ADD_FAILURE() << error;
      return;
    }
    model_->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_PASSIVE | mjDSBL_ACTUATION | mjDSBL_LIMIT | mjDSBL_CONSTRAINT;
    model_->opt.integrator = mjINT_RK4;
    model_->opt.timestep = 1e-4;
    data_.reset(mj_makeData(model_.get()));
    mj_resetData(model_.get(), data_.get());
    for (int j = 0; j < model_->njnt; ++j) {
      const char* name = mj_id2name(model_.get(), mjOBJ_JOINT, j);
      const int found = name == nullptr ? -1 : character_.FindJoint(name);
      if (model_->jnt_type[j] == mjJNT_FREE) {
        // Defaults of joints may give it armature, as if the air had rotors: that is left out.
        for (int i = 0; i < 6; ++i) model_->dof_armature[model_->jnt_dofadr[j] + i] = 0;
      } else {
        ASSERT_OR_FAIL(found >= 0, name);
        joints_.push_back({j, found});
      }
    }
    mj_forward(model_.get(), data_.get());
    const Eigen::Map<const Vec3> position(data_->qpos), com(data_->subtree_com + 3);
    const Eigen::Map<const Eigen::Vector4d> q(data_->qpos + 3);
    rest_ = Quat(q[0], q[1], q[2], q[3]);
    character::Pose pose;
    pose.root_position = character_.bodies[static_cast<size_t>(character_.root)].rest_position;
    pose.joint_rotations.assign(character_.joints.size(), Quat::Identity());
    dynamics_.SetMotion(pose, VectorXd::Zero(dynamics_.size()));
    // From the root's frame to its center of mass, at rest in the world.
    to_center_ = pose.root_position - dynamics_.CenterOfMass() + Turn() * (com - position);
  }

  bool ready() const { return data_ != nullptr && joints_.size() == character_.joints.size(); }
  const Character& character() const { return character_; }
  double Mass() const { return mj_getTotalmass(model_.get()); }

  /// Any motion: joints within 1 rad, rates within 3.
  void SetAnyMotion(uint32_t number) {
    RandomStream random(3, RandomStage::kTest, number, 0);
    for (int i = 0; i < 3; ++i) data_->qpos[i] = random.Uniform(-1, 1);
    const Quat any = FromRotationVector(Vec3(random.Uniform(-2, 2), random.Uniform(-2, 2), random.Uniform(-1, 1)));
    const double q[] = {any.w(), any.x(), any.y(), any.z()};
    for (int i = 0; i < 4; ++i) data_->qpos[3 + i] = q[i];
    for (int i = 7; i < model_->nq; ++i) data_->qpos[i] = random.Uniform(-1, 1);
    for (int i = 0; i < model_->nv; ++i) data_->qvel[i] = random.Uniform(-3, 3);
    mj_forward(model_.get(), data_.get());
  }
  void Fall(int steps) {
    for (int i = 0; i < steps; ++i) mj_step(model_.get(), data_.get());
    mj_forward(model_.get(), data_.get());
  }

  /// Takes MuJoCo's motion over, and finds what MuJoCo's velocity is of ours: qvel = T v, with the rest of its
  /// derivative.
  void TakeOver() {
    const Eigen::Map<const Eigen::Vector4d> q(data_->qpos + 3);
    const Quat orientation(q[0], q[1], q[2], q[3]);
    const Mat3 turn = Turn();
    const Mat3 rotation = turn * (orientation * rest_.conjugate()).toRotationMatrix() * turn.transpose();
    character::Pose pose;
    pose.root_orientation = Quat(rotation);
    const Vec3 arm = rotation * to_center_;  // from the frame to the center
    pose.root_position = turn * Vec3(data_->qpos[0], data_->qpos[1], data_->qpos[2]) + arm;
    pose.joint_rotations.assign(character_.joints.size(), Quat::Identity());
    const int n = dynamics_.size();
    to_mujoco_ = MatrixXd::Zero(n, n);
    const Mat3 cross = (Mat3() << 0, -arm.z(), arm.y(), arm.z(), 0, -arm.x(), -arm.y(), arm.x(), 0).finished();
    to_mujoco_.block<3, 3>(0, 0) = turn.transpose();
    to_mujoco_.block<3, 3>(0, 3) = turn.transpose() * cross;  // v - w x arm
    to_mujoco_.block<3, 3>(3, 3) = orientation.toRotationMatrix().transpose() * turn.transpose();
    for (const auto& [theirs, ours] : joints_) {
      const character::Joint& joint = character_.joints[static_cast<size_t>(ours)];
      pose.joint_rotations[static_cast<size_t>(ours)] =
          FromRotationVector(data_->qpos[model_->jnt_qposadr[theirs]] * joint.direction());
      to_mujoco_(model_->jnt_dofadr[theirs], dynamics_.coordinates().FirstOf(ours)) = 1;
    }
    const Eigen::Map<const VectorXd> velocity(data_->qvel, n);
    velocity_ = to_mujoco_.partialPivLu().solve(velocity);
    rest_of_rate_ = VectorXd::Zero(n);
    const Vec3 spin = velocity_.segment<3>(3);
    rest_of_rate_.head<3>() = -turn.transpose() * spin.cross(spin.cross(arm));
    dynamics_.SetMotion(pose, velocity_);
  }

  void ExpectTheSameEquations() {
    TakeOver();
    const int n = dynamics_.size();
    RowMajor theirs(n, n);
    mj_fullM(model_.get(), theirs.data(), data_->qM);
    const MatrixXd expected = to_mujoco_.transpose() * theirs * to_mujoco_;
    MatrixXd mass(n, n);
    dynamics_.MassMatrix(mass);
    const VectorXd scale = expected.diagonal().cwiseSqrt();
    const MatrixXd difference = (mass - expected).cwiseQuotient(scale * scale.transpose());
    Eigen::Index row = 0, column = 0;
    EXPECT_LT(difference.cwiseAbs().maxCoeff(&row, &column), 1e-6) << row << " " << column << ": " << mass(row, column);
    const Eigen::Map<const VectorXd> their_bias(data_->qfrc_bias, n);
    const VectorXd expected_bias = to_mujoco_.transpose() * (their_bias + theirs * rest_of_rate_);
    VectorXd bias(n), acceleration(n);
    dynamics_.BiasForces(bias);
    EXPECT_LT((bias - expected_bias).cwiseAbs().maxCoeff(), 1e-6 * expected_bias.cwiseAbs().maxCoeff());
    dynamics_.ForwardDynamics(VectorXd::Zero(n), {}, acceleration);
    const Eigen::Map<const VectorXd> their_acceleration(data_->qacc, n);
    // As forces, because a light limb that whirls has accelerations without end.
    const VectorXd missed = theirs * (to_mujoco_ * acceleration + rest_of_rate_ - their_acceleration);
    EXPECT_LT(missed.cwiseAbs().maxCoeff(), 1e-6 * expected_bias.cwiseAbs().maxCoeff());
  }

 private:
  static void ASSERT_OR_FAIL(bool good, const char* name) { EXPECT_TRUE(good) << (name == nullptr ? "?" : name); }

  struct Delete {
    void operator()(mjModel* model) const { mj_deleteModel(model); }
    void operator()(mjData* data) const { mj_deleteData(data); }
  };
  Character character_;
  dynamics::CharacterDynamics dynamics_;
  std::unique_ptr<mjModel, Delete> model_;
  std::unique_ptr<mjData, Delete> data_;
  struct Pair {
    int theirs = 0;
    int ours = 0;
  };
  std::vector<Pair> joints_;
  Quat rest_ = Quat::Identity();
  Vec3 to_center_ = Vec3::Zero();
  MatrixXd to_mujoco_;
  VectorXd velocity_, rest_of_rate_;
};

void ExpectTheSame(Beside& beside) {
  ASSERT_TRUE(beside.ready());
  EXPECT_NEAR(beside.character().total_mass(), beside.Mass(), 1e-6 * beside.Mass());
  for (uint32_t number = 0; number < 3; ++number) {
    beside.SetAnyMotion(number);
    beside.ExpectTheSameEquations();
    for (int k = 0; k < 2; ++k) {  // a fall of 0.1 s
      beside.Fall(500);
      beside.ExpectTheSameEquations();
    }
  }
}

class OfMuJoCo : public ::testing::Test {
 protected:
  std::filesystem::path Write(const std::string& name, const std::string& text) {
    io::WriteFile(folder_ / name, text);
    return folder_ / name;
  }
  /// A robot of ../shared/robots with all that lies beside it; empty where it is absent.
  std::filesystem::path Shared(const std::string& robot, const std::string& file) {
    const std::filesystem::path from = std::filesystem::path(RETRACE_SHARED_DIR) / "robots" / robot;
    if (!std::filesystem::exists(from / file)) return {};
    std::filesystem::copy(from, folder_ / robot, std::filesystem::copy_options::recursive);
    return folder_ / robot / file;
  }
  SampleFolder folder_;
};

/// Attributes that came after MuJoCo 2.2.2 are left out.
std::string ForOldMuJoCo(const std::string& text) {
  const std::string without =
      std::regex_replace(text, std::regex(R"RE( (actuatorfrc(range|limited)|kv)="[^"]*")RE"), "");
  const size_t compiler = without.find("<compiler ");
  const bool has_it = compiler == std::string::npos || without.find("autolimits") != std::string::npos;
  return has_it ? without : std::string(without).insert(compiler + 10, "autolimits=\"true\" ");
}

/// A URDF whose root is free in MuJoCo, without meshes that are only shown.
std::string WithFloatingRoot(const std::string& text, const std::string& root) {
  const std::string added =
      R"(<mujoco><compiler discardvisual="true" balanceinertia="false" strippath="false" inertiafromgeom="false"/></mujoco>
    <link name="world_of_test"/><joint name="floating_of_test" type="floating"><parent link="world_of_test"/>
    <child link=")" +
      root + R"("/></joint></robot>)";
  std::string changed = text;
  const size_t end = changed.rfind("</robot>");
  return changed.replace(end, 8, added);
}

TEST_F(OfMuJoCo, AMjcfHasTheSameEquationsOfMotion) {
  Beside beside(Write("sample.xml", SampleMjcf()), SampleMjcf());
  ExpectTheSame(beside);
}

TEST_F(OfMuJoCo, ArmatureIsPartOfTheMassMatrix) {
  Beside beside(Write("sample.xml", SampleMjcf(true)), ForOldMuJoCo(SampleMjcf(true)));
  ExpectTheSame(beside);
}

TEST_F(OfMuJoCo, AUrdfHasTheSameEquationsOfMotion) {
  Beside beside(Write("sample.urdf", SampleUrdf()), WithFloatingRoot(SampleUrdf(), "pelvis"));
  ExpectTheSame(beside);
}

/// Several joints between two bodies, masses of shapes, joints apart from the frames of bodies.
TEST_F(OfMuJoCo, SeveralJointsOfABodyAreOneAfterTheOther) {
  const std::string text = R"(<mujoco><worldbody><body name="trunk" pos="0 0 1" euler="10 20 30"><freejoint/>
    <geom type="ellipsoid" size="0.1 0.2 0.3"/><geom type="cylinder" size="0.05 0.1" pos="0 0.2 0" euler="40 0 0"/>
    <body name="limb" pos="0.1 0 0.2"><joint name="a" axis="1 0 0" pos="0 0 0.01"/><joint name="b" axis="0 1 1"/>
      <joint name="c" axis="0 0 1" pos="0.02 0 0" armature="0.003"/>
      <geom type="capsule" fromto="0 0 0 0.1 0.2 -0.3" size="0.04" density="700"/><geom size="0.05" mass="0.3" pos="0.1 0.2 -0.3"/>
      <body name="end" pos="0.1 0.2 -0.3"><joint name="d" axis="2 1 1"/><geom type="box" size="0.03 0.05 0.1" zaxis="1 1 0"/>
      </body></body></body></worldbody></mujoco>)";
  Beside beside(Write("limb.xml", text), text);
  ExpectTheSame(beside);
}

TEST_F(OfMuJoCo, PublicRobotsHaveTheSameEquationsOfMotion) {
  struct Robot {
    const char* folder;
    const char* file;
    const char* root;
  };
  size_t read = 0;
  for (const Robot& robot : {Robot{"unitree_g1", "g1_29dof_rev_1_0.xml", ""}, Robot{"unitree_h1", "h1.xml", ""},
                             Robot{"dm_control", "humanoid.xml", ""}, Robot{"unitree_go2", "urdf/go2.urdf", "base"}}) {
    const std::filesystem::path file = Shared(robot.folder, robot.file);
    if (file.empty()) continue;
    SCOPED_TRACE(robot.file);
    const std::string text = io::ReadFile(file);
    Beside beside(file, *robot.root == '\0' ? ForOldMuJoCo(text) : WithFloatingRoot(text, robot.root));
    ExpectTheSame(beside);
    ++read;
  }
  if (read == 0) GTEST_SKIP() << "there is no ../shared/robots";
}

}  // namespace
}  // namespace retrace::robots
