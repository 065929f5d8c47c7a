// The bundled clips: what their generator promises, checked on the files themselves as well as on its motions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "body.h"
#include "clips.h"
#include "curve.h"
#include "retrace/io/file.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"

namespace retrace::make_clips {
namespace {

std::filesystem::path ClipFile(const std::string& name) {
  return std::filesystem::path(RETRACE_SOURCE_DIR) / "data" / "clips" / name;
}

motion::Clip Bundled(const std::string& name) {
  return motion::ReadBvh(ClipFile(name));
}

const std::vector<std::string> kNames = {"walk.bvh", "roll_sideways.bvh", "squat.bvh", "stand.bvh"};

std::vector<motion::GlobalPose> Poses(const motion::Clip& clip) {
  std::vector<motion::GlobalPose> poses(clip.frames.size());
  for (size_t i = 0; i < poses.size(); ++i) motion::ForwardKinematics(clip.skeleton, clip.frames[i], poses[i]);
  return poses;
}

// Corners of the sole: left and right of heel and toe.
std::vector<Vec3> Sole(const motion::GlobalPose& pose, Side side) {
  const int foot = kLeftFoot + side * kSideJoints;
  std::vector<Vec3> corners;
  for (const double x : {-kSoleHalfWidth, kSoleHalfWidth}) {
    for (const double z : {-kHeelBack, kToeFront}) {
      corners.push_back(pose.positions[foot] + pose.orientations[foot] * Vec3(x, -kAnkleHeight, z));
    }
  }
  return corners;
}

// A corner that is lower stands on the floor; between the stances the feet leave and approach it smoothly [m].
constexpr double kTouch = 5e-5;

double Lowest(const std::vector<Vec3>& points) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const Vec3& p : points) lowest = std::min(lowest, p.y());
  return lowest;
}

// Distance on the floor from a point to the convex hull of points: 0 inside. The hull is the intersection of the
// half-planes through pairs of points that have all others on one side.
double OutsideHull(const Vec3& p, const std::vector<Vec3>& points) {
  double outside = 0;
  for (const Vec3& a : points) {
    for (const Vec3& b : points) {
      const Vec3 along(b.x() - a.x(), 0, b.z() - a.z());
      if (along.norm() < 1e-6) continue;
      const Vec3 normal = along.normalized().cross(Vec3::UnitY());
      const bool edge =
          std::all_of(points.begin(), points.end(), [&](const Vec3& c) { return normal.dot(c - a) < 1e-6; });
      if (edge) outside = std::max(outside, normal.dot(Vec3(p.x() - a.x(), 0, p.z() - a.z())));
    }
  }
  return outside;
}

std::vector<Vec3> Near(const std::vector<Vec3>& points, double height) {
  std::vector<Vec3> low;
  std::copy_if(points.begin(), points.end(), std::back_inserter(low), [&](const Vec3& p) { return p.y() < height; });
  return low;
}

TEST(MakeClips, RegeneratesTheBundledFilesByteForByte) {
  const std::vector<ClipText> files = MakeFiles();
  ASSERT_EQ(files.size(), 7u);
  for (const ClipText& file : files) {
    // Not EXPECT_EQ, which would print both files.
    EXPECT_TRUE(io::ReadFile(ClipFile(file.name)) == file.text) << file.name << " differs: run make_clips again";
  }
}

TEST(MakeClips, TheTrotGoesOnDiagonalPairsOfFeetThatDoNotSlide) {
  const motion::Clip clip = Bundled("trot.bvh");
  const std::vector<motion::GlobalPose> poses = Poses(clip);
  const double duration = clip.duration();
  EXPECT_NEAR(duration, 2.5, 1e-9);
  const double way = poses.back().positions[0].z() - poses.front().positions[0].z();
  EXPECT_NEAR(way / duration, 1.2, 1e-4);
  const std::vector<std::string> feet = {"LeftHindFoot", "RightForeFoot", "RightHindFoot", "LeftForeFoot"};
  constexpr double kSole = 0.05;  // under the ankle [m]
  std::vector<std::vector<bool>> stands(feet.size());
  for (size_t foot = 0; foot < feet.size(); ++foot) {
    const auto joint = static_cast<size_t>(clip.skeleton.Find(feet[foot]));
    int standing = 0;
    for (size_t f = 0; f < poses.size(); ++f) {
      const double height = poses[f].positions[joint].y() - kSole;
      EXPECT_GT(height, -1e-5);
      stands[foot].push_back(height < 1e-5);
      standing += height < 1e-5;
      if (f == 0 || !stands[foot][f] || !stands[foot][f - 1]) continue;
      EXPECT_LT((poses[f].positions[joint] - poses[f - 1].positions[joint]).norm(), 1e-5) << feet[foot] << " slides";
    }
    EXPECT_NEAR(standing / static_cast<double>(poses.size()), 0.55, 0.05);
  }
  EXPECT_EQ(stands[0], stands[1]) << "diagonal feet go together";
  EXPECT_EQ(stands[2], stands[3]);
  for (size_t f = 0; f < poses.size(); ++f) EXPECT_TRUE(stands[0][f] || stands[2][f]) << "never in the air";
}

TEST(MakeClips, FilesReadBackAsTheMotionsTheyCameFrom) {
  const std::vector<motion::Clip> made = {MakeWalk(), MakeRoll(), MakeSquat(), MakeStand()};
  const std::vector<double> durations = {3.2, 3, 3, 2};
  for (size_t c = 0; c < made.size(); ++c) {
    SCOPED_TRACE(kNames[c]);
    const motion::Clip clip = Bundled(kNames[c]);
    EXPECT_NEAR(clip.duration(), durations[c], 1e-9);
    EXPECT_NEAR(clip.frame_time, 1.0 / 60, 1e-12);
    ASSERT_EQ(clip.skeleton.joints.size(), size_t{kJointCount});
    for (int j = 0; j < kJointCount; ++j) {
      EXPECT_EQ(clip.skeleton.joints[j].parent, made[c].skeleton.joints[j].parent);
      if (!clip.skeleton.joints[j].end_site) {
        EXPECT_EQ(clip.skeleton.joints[j].name, made[c].skeleton.joints[j].name);
      }
    }
    ASSERT_EQ(clip.frames.size(), made[c].frames.size());
    const auto read = Poses(clip), expected = Poses(made[c]);
    double worst = 0;
    for (size_t i = 0; i < read.size(); ++i) {
      for (int j = 0; j < kJointCount; ++j) {
        worst = std::max(worst, (read[i].positions[j] - expected[i].positions[j]).norm());
      }
    }
    EXPECT_LT(worst, 5e-6);  // six decimals
  }
}

TEST(MakeClips, AcclaimSquatIsTheBvhSquat) {
  const motion::Clip bvh = Bundled("squat.bvh");
  const motion::Clip acclaim = motion::ReadAsfAmc(ClipFile("squat.asf"), ClipFile("squat.amc"));
  EXPECT_NEAR(acclaim.unit, 1, 1e-12);
  EXPECT_TRUE(acclaim.frame_time_known);
  EXPECT_NEAR(acclaim.frame_time, bvh.frame_time, 1e-12);
  ASSERT_EQ(acclaim.frames.size(), bvh.frames.size());
  const auto a = Poses(acclaim), b = Poses(bvh);
  for (size_t j = 0; j < bvh.skeleton.joints.size(); ++j) {
    if (bvh.skeleton.joints[j].end_site) continue;
    const int k = acclaim.skeleton.Find(bvh.skeleton.joints[j].name);
    ASSERT_GE(k, 0) << bvh.skeleton.joints[j].name;
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, (a[i].positions[k] - b[i].positions[j]).norm());
    EXPECT_LT(worst, 5e-6) << bvh.skeleton.joints[j].name;
  }
}

TEST(MakeClips, MotionsAreSmoothAndWithinHumanSpeed) {
  for (const std::string& name : kNames) {
    SCOPED_TRACE(name);
    const motion::Clip clip = Bundled(name);
    const double dt = clip.frame_time;
    double speed = 0, acceleration = 0, jump = 0;
    for (int j = 0; j < kJointCount; ++j) {
      const auto velocity = [&](size_t i) {
        return Vec3(RotationVector(clip.frames[i + 1].rotations[j] * clip.frames[i].rotations[j].conjugate()) / dt);
      };
      Vec3 last = Vec3::Zero();
      for (size_t i = 0; i + 2 < clip.frames.size(); ++i) {
        const Vec3 a = (velocity(i + 1) - velocity(i)) / dt;
        speed = std::max(speed, velocity(i).norm());
        acceleration = std::max(acceleration, a.norm());
        if (i > 0) jump = std::max(jump, (a - last).norm());
        last = a;
      }
    }
    RecordProperty("speed", std::to_string(speed));
    EXPECT_LT(speed, 10);          // rad/s; knees in walking reach 7
    EXPECT_LT(acceleration, 250);  // rad/s2; a step of 1 rad/s in a frame would give 60 on top, and of the angle 3600
    EXPECT_LT(jump, 150);          // from frame to frame
  }
}

TEST(MakeClips, NothingIsBelowTheFloor) {
  for (const std::string& name : kNames) {
    SCOPED_TRACE(name);
    double lowest = 1;
    for (const auto& pose : Poses(Bundled(name))) {
      const double height = LowestPoint(pose);
      lowest = std::min(lowest, height);
      EXPECT_LT(height, 0.006);  // nor does the body float
    }
    EXPECT_GT(lowest, -0.002);
  }
}

TEST(MakeClips, WalkStepsWithoutSliding) {
  const auto poses = Poses(Bundled("walk.bvh"));
  int strikes = 0;
  for (const Side side : kSides) {
    for (size_t i = 1; i < poses.size(); ++i) {
      const auto before = Sole(poses[i - 1], side), now = Sole(poses[i], side);
      if (Lowest(before) > kTouch && Lowest(now) < kTouch) ++strikes;
      EXPECT_GT(Lowest(now), -0.002);
      for (size_t k = 0; k < now.size(); ++k) {
        if (before[k].y() > kTouch || now[k].y() > kTouch) continue;
        const Vec3 slide = now[k] - before[k];
        EXPECT_LT(std::hypot(slide.x(), slide.z()), 0.001) << "frame " << i << " side " << side << " corner " << k;
      }
    }
  }
  EXPECT_GE(strikes, 4);
  EXPECT_LE(strikes, 6);
}

TEST(MakeClips, WalkLooksLikeWalking) {
  const motion::Clip clip = Bundled("walk.bvh");
  const auto poses = Poses(clip);
  const double speed = (poses.back().positions[kHips].z() - poses.front().positions[kHips].z()) / clip.duration();
  EXPECT_NEAR(speed, 1.125, 0.005);
  double low = 9, high = 0, straightest = 9, most_bent = 0;
  for (size_t i = 0; i < poses.size(); ++i) {
    const double height = CenterOfMass(poses[i]).y();
    low = std::min(low, height);
    high = std::max(high, height);
    for (const Side side : kSides) {
      const double knee = RotationVector(clip.frames[i].rotations[kLeftLeg + side * kSideJoints]).x();
      straightest = std::min(straightest, knee);
      most_bent = std::max(most_bent, knee);
    }
  }
  EXPECT_GT(high - low, 0.02);
  EXPECT_LT(high - low, 0.045);
  EXPECT_GT(straightest, 0.1);
  EXPECT_NEAR(Degrees(most_bent), 58, 5);
}

TEST(MakeClips, FloorCanSupportTheWalk) {
  const motion::Clip clip = Bundled("walk.bvh");
  const auto poses = Poses(clip);
  const auto points = ZeroMomentPoints(clip.frames, clip.frame_time, false);
  double sum = 0;
  for (size_t i = 1; i + 1 < poses.size(); ++i) {
    std::vector<Vec3> soles = Near(Sole(poses[i], kLeft), 0.005);
    for (const Vec3& p : Near(Sole(poses[i], kRight), 0.005)) soles.push_back(p);
    const double outside = OutsideHull(points[i], soles);
    sum += outside;
    // The human forefoot bends; that of the rigid foot stands on its edge from the lifting of the heel on.
    EXPECT_LT(outside, 0.05) << "frame " << i;
  }
  EXPECT_LT(sum / static_cast<double>(poses.size()), 0.01);
}

TEST(MakeClips, SquatAndStandAreBalanced) {
  for (const std::string name : {"squat.bvh", "stand.bvh"}) {
    SCOPED_TRACE(name);
    const motion::Clip clip = Bundled(name);
    const auto poses = Poses(clip);
    const auto points = ZeroMomentPoints(clip.frames, clip.frame_time, false);
    for (size_t i = 0; i < poses.size(); ++i) {
      std::vector<Vec3> soles = Sole(poses[i], kLeft);
      for (const Vec3& p : Sole(poses[i], kRight)) soles.push_back(p);
      for (const Vec3& p : soles) EXPECT_NEAR(p.y(), 0, 1e-4);
      EXPECT_EQ(OutsideHull(CenterOfMass(poses[i]), soles), 0);
      EXPECT_EQ(OutsideHull(points[i], soles), 0);
    }
  }
}

TEST(MakeClips, RollTurnsOnceWithoutSliding) {
  const motion::Clip clip = Bundled("roll_sideways.bvh");
  const auto poses = Poses(clip);
  double turn = 0;  // of the pelvis about the long axis of the lying body, which is the world's x
  double worst = 0;
  for (size_t i = 1; i < poses.size(); ++i) {
    turn += RotationVector(poses[i].orientations[kHips] * poses[i - 1].orientations[kHips].conjugate()).x();
    for (const Segment& s : Segments()) {
      for (const Vec3& rim : s.rim) {
        const Vec3 now = poses[i].positions[s.joint] + poses[i].orientations[s.joint] * rim;
        const Vec3 before = poses[i - 1].positions[s.joint] + poses[i - 1].orientations[s.joint] * rim;
        const double alone = LowestPoint(poses[i]) + 1e-4;
        if (now.y() - s.radius > alone || before.y() - s.radius > LowestPoint(poses[i - 1]) + 1e-4) continue;
        worst = std::max(worst, std::hypot(now.x() - before.x(), now.z() - before.z()));
      }
    }
  }
  EXPECT_NEAR(Degrees(turn), 360, 5);  // the pelvis also tilts on the way, and rotations do not add up exactly
  EXPECT_LT(worst, 0.003);
  EXPECT_GT(poses.back().positions[kHips].z() - poses.front().positions[kHips].z(), 0.6);
  for (const size_t i : {size_t{0}, poses.size() - 2}) {
    EXPECT_LT((poses[i + 1].positions[kHips] - poses[i].positions[kHips]).norm(), 1e-5);
    EXPECT_LT(AngleBetween(poses[i + 1].orientations[kHips], poses[i].orientations[kHips]), 1e-5);
  }
  // On the back at both ends.
  EXPECT_GT((poses.front().orientations[kHips] * Vec3::UnitZ()).y(), 0.99);
  EXPECT_GT((poses.back().orientations[kHips] * Vec3::UnitZ()).y(), 0.99);
}

TEST(MakeClipsCurves, PolynomialMeetsItsConditions) {
  std::vector<Condition> conditions = State(0.4, 1, -2, 3);
  for (const Condition& c : State(1.3, -1, 0.5, 0)) conditions.push_back(c);
  conditions.push_back({0.8, 0, 2});
  const Polynomial polynomial(conditions);
  for (const Condition& c : conditions) EXPECT_NEAR(polynomial(c.time, c.order), c.value, 1e-9);
  const double h = 1e-5;
  EXPECT_NEAR(polynomial(0.9, 1), (polynomial(0.9 + h) - polynomial(0.9 - h)) / (2 * h), 1e-6);
}

TEST(MakeClipsCurves, SplinePassesItsKnotsWithContinuousAcceleration) {
  const std::vector<double> times = {0, 0.3, 0.5, 1}, values = {1, -1, 2, 0};
  const Spline spline(times, values);
  for (size_t k = 0; k < times.size(); ++k) EXPECT_NEAR(spline(times[k]), values[k], 1e-12);
  const double h = 1e-4;
  const auto acceleration = [&](double t) { return (spline(t + h) - 2 * spline(t) + spline(t - h)) / (h * h); };
  for (const double t : {0.3, 0.5}) EXPECT_NEAR(acceleration(t - 2 * h), acceleration(t + 2 * h), 1);
  EXPECT_NEAR((spline(h) - spline(0)) / h, 0, 0.1);
  EXPECT_NEAR((spline(1) - spline(1 - h)) / h, 0, 0.1);
  EXPECT_EQ(spline(-1), 1);
  EXPECT_EQ(spline(2), 0);
}

TEST(MakeClipsBody, LegReachesWhereItIsTold) {
  motion::Frame frame = RestFrame();
  frame.rotations[kHips] = AxisRotation(1, 0.2) * AxisRotation(2, 0.1);
  for (const Side side : kSides) {
    const Vec3 ankle = Mirrored(side, Vec3(0.15, 0.2, 0.25));
    const Quat foot = Mirrored(side, AxisRotation(1, 0.3) * AxisRotation(0, -0.2));
    const double knee = PlaceFoot(frame, side, ankle, foot);
    const auto pose = Globals(frame);
    const int joint = kLeftFoot + side * kSideJoints;
    EXPECT_LT((pose.positions[joint] - ankle).norm(), 1e-12);
    EXPECT_LT(AngleBetween(pose.orientations[joint], foot), 1e-7);
    EXPECT_GT(knee, 0);
    EXPECT_NEAR(RotationVector(frame.rotations[joint - 1]).x(), knee, 1e-12);
  }
  EXPECT_THROW(PlaceFoot(frame, kLeft, {0, -1, 0}, Quat::Identity()), std::logic_error);
}

TEST(MakeClipsBody, HangingBodyHasItsZeroMomentPointBelowTheCenterOfMass) {
  motion::Frame frame = RestFrame();
  frame.rotations[kSpine] = AxisRotation(0, 0.5);
  const auto points = ZeroMomentPoints({frame, frame, frame}, kFrameTime, false);
  const Vec3 center = CenterOfMass(Globals(frame));
  EXPECT_NEAR(points[1].x(), center.x(), 1e-9);
  EXPECT_NEAR(points[1].z(), center.z(), 1e-9);
  EXPECT_NEAR(TotalMass(), 62.53, 0.01);  // Liu et al. 2010, Table 1
}

}  // namespace
}  // namespace retrace::make_clips
