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
  const Vec3 axis = ToOpenSim(Vec3(Vec3::Unit(joint.axis)));
  int index = 0;
  axis.cwiseAbs().maxCoeff(&index);
  return {index, axis[index]};
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
        const double turn = HingeAxis(joint).second * RotationVector(rotation)[joint.axis];
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

std::vector<ForcePlate> ForcePlates(const ExportedMotion& motion) {
  const character::Character& character = motion.character;
  const auto is_foot = [&](int body) {
    return character.bodies[static_cast<size_t>(body)].part == character::Part::kFoot;
  };
  std::vector<ForcePlate> plates;
  std::vector<int> plate_of(character.bodies.size(), -1);
  const auto add = [&](int body) {
    plate_of[static_cast<size_t>(body)] = static_cast<int>(plates.size());
    plates.push_back({body, {body}});
  };
  for (int body = 0; body < static_cast<int>(character.bodies.size()); ++body) {
    const int joint = character.JointOf(body);
    const bool carried = joint >= 0 && is_foot(character.joints[static_cast<size_t>(joint)].parent);
    if (is_foot(body) && !carried) add(body);
  }
  for (const character::Joint& joint : character.joints) {  // each after the joint that moves its parent
    const int plate = plate_of[static_cast<size_t>(joint.parent)];
    if (!is_foot(joint.child) || plate < 0 || !is_foot(joint.parent)) continue;
    plate_of[static_cast<size_t>(joint.child)] = plate;
    plates[static_cast<size_t>(plate)].bodies.push_back(joint.child);
  }
  std::vector<char> touched(character.bodies.size(), 0);
  for (const auto& contacts : motion.trajectory.contacts) {
    for (const simulation::Contact& contact : contacts) {
      if (contact.other < 0 && (contact.force.array() != 0).any()) touched[static_cast<size_t>(contact.body)] = 1;
    }
  }
  for (size_t b = 0; b < touched.size(); ++b) {
    if (touched[b] && plate_of[b] < 0) add(static_cast<int>(b));
  }
  return plates;
}

AppliedForce ForceOn(const ForcePlate& plate, const std::vector<simulation::Contact>& contacts) {
  const auto counts = [&](const simulation::Contact& contact) {
    return contact.other < 0 && (contact.force.array() != 0).any() &&
           std::find(plate.bodies.begin(), plate.bodies.end(), contact.body) != plate.bodies.end();
  };
  AppliedForce applied;
  double pressed = 0;
  int points = 0;
  Vec3 mean = Vec3::Zero();
  for (const simulation::Contact& contact : contacts) {
    if (!counts(contact)) continue;
    const double normal_force = std::max(0.0, contact.force.dot(contact.normal));
    applied.force += contact.force;
    applied.point += normal_force * contact.point;
    pressed += normal_force;
    mean += contact.point;
    ++points;
  }
  if (points == 0) return applied;
  applied.point = pressed > 0 ? Vec3(applied.point / pressed) : Vec3(mean / points);
  for (const simulation::Contact& contact : contacts) {
    if (counts(contact)) applied.moment += (contact.point - applied.point).cross(contact.force);
  }
  return applied;
}

std::string FormatGroundForces(const ExportedMotion& motion) {
  const std::vector<ForcePlate> plates = ForcePlates(motion);
  std::vector<std::string> names = {"time"};
  for (size_t i = 1; i <= plates.size(); ++i) {
    for (const char* kind : {"ground_force_N_v", "ground_force_N_p", "ground_torque_N_"}) {
      std::string prefix = kind;
      prefix.replace(prefix.find('N'), 1, std::to_string(i));
      for (const char* axis : kAxisNames) names.push_back(prefix + axis);
    }
  }
  Storage storage(std::move(names));
  static const std::vector<simulation::Contact> kNone;
  for (size_t i = 0; i < motion.trajectory.states.size(); ++i) {
    storage.Add(static_cast<double>(i) * motion.trajectory.time_step);
    for (const ForcePlate& plate : plates) {
      const AppliedForce applied = ForceOn(plate, i == 0 ? kNone : motion.trajectory.contacts[i - 1]);
      for (const Vec3& v : {applied.force, applied.point, applied.moment}) storage.Add(ToOpenSim(v));
    }
    storage.EndRow();
  }
  return storage.Take("ground_forces");
}

std::string FormatExternalLoads(const ExportedMotion& motion) {
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OpenSimDocument Version=\"40000\">\n"
      "  <ExternalLoads name=\"ground_forces\">\n    <objects>\n";
  const std::vector<ForcePlate> plates = ForcePlates(motion);
  for (size_t i = 0; i < plates.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const std::string body =
        io::EscapeXml(ColumnName(motion.character.bodies[static_cast<size_t>(plates[i].body)].name));
    xml += "      <ExternalForce name=\"" + body + "\">\n        <appliesForce>true</appliesForce>\n";
    const auto element = [&](const char* name, const std::string& value) {
      xml.append("        <").append(name).append(">").append(value).append("</").append(name).append(">\n");
    };
    element("applied_to_body", body);
    element("force_expressed_in_body", "ground");
    element("point_expressed_in_body", "ground");
    element("force_identifier", "ground_force_" + number + "_v");
    element("point_identifier", "ground_force_" + number + "_p");
    element("torque_identifier", "ground_torque_" + number + "_");
    xml += "      </ExternalForce>\n";
  }
  return xml +
         "    </objects>\n    <groups />\n    <datafile>ground_forces.sto</datafile>\n  </ExternalLoads>\n"
         "</OpenSimDocument>\n";
}

}  // namespace retrace::exports
