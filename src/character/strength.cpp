#include "retrace/character/strength.h"

#include "retrace/character/builder.h"
#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"
#include "retrace/io/number.h"

namespace retrace::character {
namespace {

bool IsMeant(const JointEffort& effort, const Joint& joint) {
  return effort.joint.empty() || joint.name == effort.joint || joint.name.ends_with("_" + effort.joint);
}

}  // namespace

io::Words<Servos> ServosWords() {
  return {{{Servos::kScaled, "scaled"}, {Servos::kKept, "kept"}, {Servos::kPaper, "paper"}}};
}

JointEffort ParseJointEffort(const std::string& text) {
  JointEffort effort;
  const size_t equals = text.rfind('=');
  const std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
  if (equals != std::string::npos) effort.joint = text.substr(0, equals);
  const bool named = equals == std::string::npos || !effort.joint.empty();
  if (!named || !io::ParseNumber(number, effort.effort) || !kEfforts.Contains(effort.effort)) {
    throw UsageError("found \"" + text + "\", expected a torque in N m from 0 to 1e9, or JOINT=TORQUE");
  }
  return effort;
}

Character WithServos(const Character& character, const Character& made_from, Servos servos,
                     std::vector<std::string>& notes) {
  if (servos == Servos::kScaled) return character;
  CharacterBuilder builder(character);
  for (const Joint& joint : character.joints) {
    if (servos == Servos::kPaper) {
      builder.SetServo(joint.name, kPaperStiffness, kPaperDamping, Vec3::Ones());
      builder.SetEffort(joint.name, Vec3::Constant(kPaperEffort));
      continue;
    }
    const int index = made_from.FindJoint(joint.name);
    if (index < 0) continue;
    const Joint& of_other = made_from.joints[static_cast<size_t>(index)];
    builder.SetServo(joint.name, of_other.kp, of_other.kd, of_other.strength_scale);
    builder.SetEffort(joint.name, of_other.effort);
  }
  notes.push_back(servos == Servos::kPaper
                      ? "all joints have kp 700 N m/rad, kd 1 N m s/rad and at most 100 N m, as in Al Borno et al. 2018"
                      : "the servos are those of " + made_from.name + ", whatever the body weighs");
  return builder.Build(character.name);
}

Character WithEfforts(const Character& character, const std::vector<JointEffort>& efforts,
                      std::vector<std::string>& notes) {
  if (efforts.empty()) return character;
  CharacterBuilder builder(character);
  std::string text;
  for (const JointEffort& effort : efforts) {
    bool found = false;
    for (const Joint& joint : character.joints) {
      if (!IsMeant(effort, joint)) continue;
      found = true;
      builder.SetEffort(joint.name, Vec3::Constant(effort.effort));
    }
    if (!found) {
      std::vector<std::string> names;
      for (const Joint& joint : character.joints) names.push_back(joint.name);
      throw UsageError("found a largest torque of the joint \"" + effort.joint +
                       "\", expected the name of a joint of " + character.name + " or what follows its side; " +
                       io::DidYouMean(effort.joint, names));
    }
    text += text.empty() ? "" : ", ";
    text += (effort.joint.empty() ? "all joints" : effort.joint) + " " +
            (effort.effort > 0 ? io::Number(effort.effort) + " N m" : "any");
  }
  notes.push_back("largest torques: " + text);
  return builder.Build(character.name);
}

}  // namespace retrace::character
