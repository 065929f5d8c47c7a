#include <cmath>
#include <string>

#include "read_back.h"
#include "retrace/io/number.h"
#include "retrace/recordings/force_tables.h"

namespace {

using namespace retrace;
using motion::MeasuredForce;
using motion::MeasuredForces;

void Obeys(const MeasuredForces& measured) {
  const size_t instants = measured.times.size();
  fuzz::Require(instants >= 2 && measured.valid.size() == instants, "there are instants");
  for (size_t i = 0; i < instants; ++i) {
    fuzz::Require(std::isfinite(measured.times[i]), "a time is a number");
    fuzz::Require(i == 0 || measured.times[i] > measured.times[i - 1], "times grow");
  }
  fuzz::Require(!measured.forces.empty(), "there is a force");
  for (const MeasuredForce& force : measured.forces) {
    fuzz::Require(force.forces.size() == instants, "a force has all instants");
    fuzz::Require(force.points.empty() || force.points.size() == instants, "a point has all instants");
    fuzz::Require(force.moments.empty() || force.moments.size() == instants, "a moment has all instants");
    for (const Vec3& vector : force.forces) {
      fuzz::Require(vector.cwiseAbs().maxCoeff() <= motion::kLargestMeasuredForce, "a force is within its limits");
    }
    for (const Vec3& vector : force.moments) fuzz::Require(vector.allFinite(), "a moment is a number");
  }
}

/// All of it as a storage file of OpenSim, whose x is our z and whose z is our -x.
std::string Format(const MeasuredForces& measured) {
  Obeys(measured);
  const auto axes = [](std::string& text, const std::string& name) {
    for (const char* axis : {"x", "y", "z"}) text.append("\t").append(name).append(axis);
  };
  std::string text = "nRows=" + std::to_string(measured.times.size()) + "\nendheader\ntime";
  for (size_t f = 0; f < measured.forces.size(); ++f) {
    const MeasuredForce& force = measured.forces[f];
    std::string name = "f" + std::to_string(f);
    if (force.side) name += *force.side == motion::Side::kLeft ? "_l" : "_r";
    axes(text, "ground_force_" + name + "_v");
    if (!force.points.empty()) axes(text, "ground_force_" + name + "_p");
    if (!force.moments.empty()) axes(text, "ground_torque_" + name + "_");
  }
  const auto numbers = [&](const Vec3& vector) {
    for (const double number : {vector.z(), vector.y(), 0.0 - vector.x()}) {
      text.append("\t").append(std::isnan(number) ? "nan" : io::Number(number));
    }
  };
  for (size_t i = 0; i < measured.times.size(); ++i) {
    text.append("\n").append(io::Number(measured.times[i]));
    for (const MeasuredForce& force : measured.forces) {
      numbers(force.forces[i]);
      if (!force.points.empty()) numbers(force.points[i]);
      if (!force.moments.empty()) numbers(force.moments[i]);
    }
  }
  return text += "\n";
}

}  // namespace

// The bytes are measured forces, in either format.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::IsReadBack(std::string(reinterpret_cast<const char*>(data), size),
                   [](const std::string& text) { return Format(motion::ParseMeasuredForces(text, "fuzz.mot")); });
  return 0;
}
