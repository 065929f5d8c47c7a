#include "retrace/exports/sto.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "opensim.h"
#include "retrace/character/kinematics.h"
#include "retrace/io/number.h"
#include "retrace/io/xml.h"
#include "retrace/math/euler.h"
#include "retrace/math/rotation.h"
#include "retrace/metrics/ground_forces.h"

namespace retrace::exports {
namespace {

/// Rows of a storage file.
class Storage {
 public:
  explicit Storage(std::vector<std::string> names) : names_(std::move(names)) {}

  void Add(double value) {
    rows_ += ++column_ == 1 ? "" : "\t";
    io::AppendNumber(rows_, value);
  }
  void Add(const Vec3& v) {
    for (int axis = 0; axis < 3; ++axis) Add(v[axis]);
  }
  void EndRow() {
    rows_ += '\n';
    ++num_rows_;
    column_ = 0;
  }
  std::string Take(const std::string& title) {
    std::string text = title + "\nversion=1\nnRows=" + std::to_string(num_rows_) +
                       "\nnColumns=" + std::to_string(names_.size()) + "\ninDegrees=yes\nendheader\n";
    for (size_t i = 0; i < names_.size(); ++i) text.append(i == 0 ? "" : "\t").append(ColumnName(names_[i]));
    return text + "\n" + rows_;
  }

 private:
  std::vector<std::string> names_;
  std::string rows_;
  size_t num_rows_ = 0;
  size_t column_ = 0;
};

constexpr std::array<int, 3> kOrder = {2, 0, 1};  // z, x, y
constexpr const char* kAxisNames[] = {"x", "y", "z"};

/// The three angles of a rotation over time: of the two that make each, the one nearer to the last, in whole turns.
class Angles {
 public:
  std::array<double, 3> Next(const Quat& q) {
    const std::array<double, 3> first =
        EulerAngles(ToOpenSim(q).normalized().toRotationMatrix(), kOrder[0], kOrder[1], kOrder[2]);
    if (!begun_) {
      begun_ = true;
      return last_ = first;
    }
    const std::array<double, 3> second = {first[0] + kPi, kPi - first[1], first[2] + kPi};
    const auto [a, a_far] = Near(first);
    const auto [b, b_far] = Near(second);
    return last_ = a_far <= b_far ? a : b;
  }

 private:
  std::pair<std::array<double, 3>, double> Near(std::array<double, 3> angles) const {
    double far = 0;
    for (size_t k = 0; k < 3; ++k) {
      angles[k] -= 2 * kPi * std::round((angles[k] - last_[k]) / (2 * kPi));
      far += std::abs(angles[k] - last_[k]);
    }
    return {angles, far};
  }
  std::array<double, 3> last_ = {};
  bool begun_ = false;
};

/// Axis of a hinge in OpenSim's axes, and the sign of turns about it.
std::pair<int, double> HingeAxis(const character::Joint& joint) {
  const Vec3 axis = ToOpenSim(joint.direction());
  int index = 0;
  axis.cwiseAbs().maxCoeff(&index);
  return {index, axis[index]};
}

/// What the names of a plate's columns begin with: force, point of application, moment.
std::array<std::string, 3> PrefixesOf(const ExportedMotion& motion, const metrics::ForcePlate& plate) {
  const std::string body = ColumnName(motion.character.bodies[static_cast<size_t>(plate.body)].name);
  return {"ground_force_" + body + "_v", "ground_force_" + body + "_p", "ground_torque_" + body + "_"};
}

}  // namespace

std::string FormatCoordinates(const ExportedMotion& motion) {
  const character::Character& character = motion.character;
  std::vector<std::string> names = {"time"};
  const auto name = [&](const std::string& of, const char* kind, int axis) {
    names.push_back(of + "_" + kind + kAxisNames[axis]);
  };
  for (const int axis : kOrder) name("root", "r", axis);
  for (int axis = 0; axis < 3; ++axis) name("root", "t", axis);
  for (const character::Joint& joint : character.joints) {
    if (joint.type == character::JointType::kHinge) {
      name(joint.name, "r", HingeAxis(joint).first);
    } else {
      for (const int axis : kOrder) name(joint.name, "r", axis);
    }
  }
  Storage storage(std::move(names));
  std::vector<Angles> angles(character.joints.size() + 1);
  std::vector<double> hinge(character.joints.size(), 0.0);
  for (size_t i = 0; i < motion.trajectory.states.size(); ++i) {
    const character::State& state = motion.trajectory.states[i];
    const character::BodyState& root = state[static_cast<size_t>(character.root)];
    storage.Add(static_cast<double>(i) * motion.trajectory.time_step);
    for (const double angle : angles.back().Next(root.orientation)) storage.Add(Degrees(angle));
    storage.Add(ToOpenSim(root.position));
    for (size_t j = 0; j < character.joints.size(); ++j) {
      const character::Joint& joint = character.joints[j];
      const Quat rotation = character::JointRotation(joint, state);
      if (joint.type == character::JointType::kHinge) {
        const double turn = HingeAxis(joint).second * joint.Along(RotationVector(rotation));
        hinge[j] = turn - 2 * kPi * std::round((turn - hinge[j]) / (2 * kPi));
        storage.Add(Degrees(hinge[j]));
      } else {
        for (const double angle : angles[j].Next(rotation)) storage.Add(Degrees(angle));
      }
    }
    storage.EndRow();
  }
  return storage.Take("Coordinates");
}

std::string FormatGroundForces(const ExportedMotion& motion) {
  const std::vector<metrics::ForcePlate> plates = metrics::ForcePlates(motion.character, motion.trajectory);
  std::vector<std::string> names = {"time"};
  for (const metrics::ForcePlate& plate : plates) {
    for (const std::string& prefix : PrefixesOf(motion, plate)) {
      for (const char* axis : kAxisNames) names.push_back(prefix + axis);
    }
  }
  Storage storage(std::move(names));
  const control::Trajectory& trajectory = motion.trajectory;
  const auto add = [&](double time, const std::vector<simulation::Contact>& contacts) {
    storage.Add(time);
    for (const metrics::ForcePlate& plate : plates) {
      const metrics::AppliedForce applied = metrics::ForceOn(plate, contacts);
      for (const Vec3& v : {applied.force, applied.point, applied.moment}) storage.Add(ToOpenSim(v));
    }
    storage.EndRow();
  };
  const auto& contacts = trajectory.contacts;
  add(0, {});
  for (size_t i = 0; i < contacts.size(); ++i) add((static_cast<double>(i) + 0.5) * trajectory.time_step, contacts[i]);
  if (!contacts.empty()) add(static_cast<double>(contacts.size()) * trajectory.time_step, contacts.back());
  return storage.Take("ground_forces");
}

std::string FormatExternalLoads(const ExportedMotion& motion) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40000\">\n"
      "  <ExternalLoads name=\"ground_forces\">\n    <objects>\n";
  const std::vector<metrics::ForcePlate> plates = metrics::ForcePlates(motion.character, motion.trajectory);
  for (const metrics::ForcePlate& plate : plates) {
    const std::string body = io::EscapeXml(ColumnName(motion.character.bodies[static_cast<size_t>(plate.body)].name));
    xml += "      <ExternalForce name=\"" + body + "\">\n        <appliesForce>true</appliesForce>\n";
    const auto element = [&](const char* name, const std::string& value) {
      xml.append("        <").append(name).append(">").append(value).append("</").append(name).append(">\n");
    };
    element("applied_to_body", body);
    element("force_expressed_in_body", "ground");
    element("point_expressed_in_body", "ground");
    const std::array<std::string, 3> prefixes = PrefixesOf(motion, plate);
    element("force_identifier", io::EscapeXml(prefixes[0]));
    element("point_identifier", io::EscapeXml(prefixes[1]));
    element("torque_identifier", io::EscapeXml(prefixes[2]));
    xml += "      </ExternalForce>\n";
  }
  return xml +
         "    </objects>\n    <groups />\n    <datafile>ground_forces.sto</datafile>\n  </ExternalLoads>\n"
         "</OpenSimDocument>\n";
}

}  // namespace retrace::exports
