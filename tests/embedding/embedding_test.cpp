/// The library in a program with another C library's mathematics: each keeps its own.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "embedding/probe.h"
#include "retrace/io/file.h"
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_files.h"
#include "retrace/math/elementary.h"
#include "retrace/math/rotation.h"

namespace retrace {
namespace {

using Function = double (*)(double);

uint64_t Bits(double x) {
  return std::bit_cast<uint64_t>(x);
}

/// The file that the code of a function is in.
std::string FileOf(Function function) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(function), &info) == 0) return "";
  return std::filesystem::path(info.dli_fname).filename();
}

TEST(Embedding, TheProgramKeepsTheFunctionsOfItsCLibrary) {
  for (const Function function : {Function(std::sin), Function(std::cos), Function(std::exp), Function(std::log)}) {
    EXPECT_TRUE(FileOf(function).starts_with("libm.so")) << FileOf(function);
  }
  EXPECT_FALSE(FileOf(retrace_sin).starts_with("libm.so"));
}

TEST(Embedding, BothRoundInTheirOwnWay) {
  int different = 0;
  for (int i = 1; i <= 100'000; ++i) {
    const double x = 1e-3 * i;
    different += Bits(std::sin(x)) != Bits(retrace_sin(x));
  }
  EXPECT_GT(different, 0);
  EXPECT_LT(different, 50'000);  // both are right but for the last bit
}

/// The first argument at which the two differ.
double WhereTheyDiffer() {
  double x = 1e-3;
  while (x < 1000 && Bits(std::sin(x)) == Bits(retrace_sin(x))) x += 1e-3;
  return x;
}

TEST(Embedding, EachHasItsOwnCopyOfAnInlineFunctionThatCallsASine) {
  const double x = WhereTheyDiffer();
  EXPECT_EQ(Bits(probe::TwiceSineOf(x)), Bits(2 * std::sin(x)));
  EXPECT_EQ(Bits(probe::TwiceSineInLibrary(x)), Bits(2 * retrace_sin(x)));
  const std::unique_ptr<probe::Shape> shape = std::make_unique<probe::Shape>();
  EXPECT_EQ(Bits(shape->At(x)), Bits(std::sin(x)));
  EXPECT_EQ(Bits(probe::ShapeInLibrary(x)), Bits(retrace_sin(x)));
}

TEST(Embedding, OtherInlineFunctionsAreShared) {
  EXPECT_EQ(&probe::Calls(), probe::CallsInLibrary());
}

/// Makes the compiler put inline functions of Eigen and of this library that call a sine into this program, which are
/// also in the library.
double UseInlineFunctions(double x) {
  const Quat q = FromRotationVector(Vec3(x, 2 * x, 3 * x));
  const Quat r = q.slerp(0.3, AxisRotation(1, x)) * Quat(Eigen::AngleAxisd(x, Vec3::UnitX()));
  return RotationVector(r).norm() + AngleBetween(q, r) + Eigen::AngleAxisd(r).angle() +
         Eigen::AngleAxisd(x, Vec3::UnitZ()).toRotationMatrix()(0, 1);
}

/// A line of tests/kept_runs.tsv: the hash of the control that the project's own program finds.
std::string KeptHash(const std::string& name) {
  std::ifstream table(std::string(RETRACE_SOURCE_DIR) + "/tests/kept_runs.tsv");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string found, launcher, hash;
    if (fields >> found >> launcher >> hash && found == name) return hash;
  }
  throw std::runtime_error("tests/kept_runs.tsv has no line " + name);
}

/// The run of that line that is made by ODE's solver.
TEST(Embedding, ARunHasTheBitsThatItHasInTheProjectsOwnProgram) {
  ASSERT_TRUE(std::isfinite(UseInlineFunctions(0.4)));
  runs::JobOptions options;
  options.clip.file = std::string(RETRACE_SOURCE_DIR) + "/data/clips/walk.bvh";
  options.clip.end = 0.8;
  options.configuration.run.method = runs::Method::kSampling;
  options.configuration.task.world.solver = simulation::Solver::kStock;
  options.configuration.UseSamples(60);
  options.configuration.sampling.selection.saved = 12;
  options.configuration.sampling.refinement.passes = 1;
  const runs::Job job(options);
  const runs::Reconstruction result = runs::Reconstruct(job);
  std::string folder = std::filesystem::temp_directory_path() / "retrace-embedding-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  runs::WriteRun(folder, job, result);
  const std::string hash = io::Sha256OfFile(folder + "/control.json");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(hash, KeptHash("ode_solver"));
}

}  // namespace
}  // namespace retrace
