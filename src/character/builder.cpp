#include "retrace/character/builder.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "part_names.h"

namespace retrace::character {
namespace {

using io::Json;

constexpr const char* kAxisNames[] = {"x", "y", "z"};

/// The moments about the body's axes where these are principal axes, else the whole tensor: xx, yy, zz, xy, xz, yz.
Json InertiaToJson(const Mat3& tensor) {
  Json json = {tensor(0, 0), tensor(1, 1), tensor(2, 2)};
  if (tensor(1, 0) == 0 && tensor(2, 0) == 0 && tensor(2, 1) == 0) return json;
  json.insert(json.end(), {tensor(1, 0), tensor(2, 0), tensor(2, 1)});
  return json;
}

Json ShapeToJson(const Shape& shape) {
  Json json;
  switch (shape.kind) {
    case Shape::Kind::kBox:
      json["box"] = io::ToJson(shape.size);
      break;
    case Shape::Kind::kCapsule:
      json["capsule"] = {{"radius", shape.radius}, {"length", shape.length}, {"axis", kAxisNames[shape.axis]}};
      break;
    case Shape::Kind::kMesh:
      json["mesh"]["vertices"] = Json::array();
      for (const Vec3& vertex : shape.mesh.vertices) json["mesh"]["vertices"].push_back(io::ToJson(vertex));
      json["mesh"]["triangles"] = shape.mesh.triangles;
      break;
  }
  if (shape.offset != Vec3::Zero()) json["offset"] = io::ToJson(shape.offset);
  return json;
}

Json ShapesToJson(const std::vector<Shape>& shapes) {
  Json json = Json::array();
  for (const Shape& shape : shapes) json.push_back(ShapeToJson(shape));
  return json;
}

const char* NameOf(Part part) {
  for (const auto& [name, value] : kParts) {
    if (value == part) return name;
  }
  throw std::invalid_argument("a part of a body that no character file can name");
}

/// A value per axis: three numbers for a ball, one for a hinge.
Json PerAxis(bool hinge, int axis, const Vec3& values) {
  return hinge ? Json(values[axis]) : io::ToJson(values);
}

}  // namespace

CharacterBuilder::CharacterBuilder(const std::string& name, double height)
    : document_({{"format", "retrace-character"},
                 {"version", 1},
                 {"name", name},
                 {"height", height},
                 {"bodies", Json::array()},
                 {"joints", Json::array()},
                 {"end_effectors", Json::array()},
                 {"no_self_collision", Json::array()},
                 {"contact_presets", Json::object()}}) {}

CharacterBuilder::CharacterBuilder(const Character& character) : document_(character.json) {}

void CharacterBuilder::SetName(const std::string& name) {
  (*document_)["name"] = name;
}

void CharacterBuilder::SetSource(const std::string& source) {
  (*document_)["source"] = source;
}

void CharacterBuilder::SetRootScale(RootScale scale) {
  (*document_)["root_scale"] = scale == RootScale::kHeight ? "height" : "legs";
}

void CharacterBuilder::SetHeight(double height) {
  (*document_)["height"] = height;
}

void CharacterBuilder::SetPlanar() {
  (*document_)["planar"] = true;
}

void CharacterBuilder::SetRootFrame(const Vec3& position, const Quat& rotation) {
  Json frame = {{"position", io::ToJson(position)}};
  if (rotation.vec().norm() > 1e-12) frame["rotation"] = {rotation.w(), rotation.x(), rotation.y(), rotation.z()};
  (*document_)["root_frame"] = std::move(frame);
}

int CharacterBuilder::AddBody(const Body& body) {
  Json json = {{"name", body.name}};
  if (!body.segment.empty() && body.segment != body.name) json["segment"] = body.segment;
  json["part"] = NameOf(body.part);
  json["mass"] = body.mass;
  json["inertia"] = body.turned ? InertiaToJson(body.InertiaTensor()) : io::ToJson(body.inertia);
  json["position"] = io::ToJson(body.rest_position);
  json["shapes"] = ShapesToJson(body.shapes);
  (*document_)["bodies"].push_back(std::move(json));
  return static_cast<int>((*document_)["bodies"].size()) - 1;
}

void CharacterBuilder::SetMass(const std::string& body, double mass) {
  Entry("bodies", body)["mass"] = mass;
}

void CharacterBuilder::SetPosition(const std::string& body, const Vec3& position) {
  Entry("bodies", body)["position"] = io::ToJson(position);
}

void CharacterBuilder::SetInertia(const std::string& body, const Mat3& tensor) {
  Entry("bodies", body)["inertia"] = InertiaToJson(tensor);
}

void CharacterBuilder::ScaleMass(double factor) {
  const auto scale = [&](Json& number) { number = number.get<double>() * factor; };
  for (Json& body : (*document_)["bodies"]) {
    scale(body["mass"]);
    for (Json& moment : body["inertia"]) scale(moment);
  }
  for (Json& joint : (*document_)["joints"]) {
    scale(joint["kp"]);
    scale(joint["kd"]);
    if (!joint.contains("effort")) continue;
    if (joint["effort"].is_number()) scale(joint["effort"]);
    if (joint["effort"].is_array()) std::for_each(joint["effort"].begin(), joint["effort"].end(), scale);
  }
}

void CharacterBuilder::SetShapes(const std::string& body, const std::vector<Shape>& shapes) {
  Entry("bodies", body)["shapes"] = ShapesToJson(shapes);
}

void CharacterBuilder::AddLoad(const std::string& body, double mass, double radius) {
  Json& entry = Entry("bodies", body);
  entry["mass"] = entry["mass"].get<double>() + mass;
  for (size_t m = 0; m < 3; ++m) {  // of a tensor, the moments come first
    Json& moment = entry["inertia"][m];
    moment = moment.get<double>() + 0.4 * mass * radius * radius;
  }
}

void CharacterBuilder::AddJoint(const Joint& joint) {
  const Json& bodies = (*document_)["bodies"];
  for (const int body : {joint.parent, joint.child}) {
    if (body < 0 || static_cast<size_t>(body) >= bodies.size()) {
      throw std::invalid_argument("joint \"" + joint.name + "\" of body " + std::to_string(body) + ", of " +
                                  std::to_string(bodies.size()));
    }
  }
  const bool hinge = joint.type == JointType::kHinge;
  Json json = {{"name", joint.name},
               {"parent", bodies[static_cast<size_t>(joint.parent)]["name"]},
               {"child", bodies[static_cast<size_t>(joint.child)]["name"]},
               {"type", hinge ? "hinge" : "ball"}};
  if (hinge) json["axis"] = joint.oblique ? io::ToJson(*joint.oblique) : Json(kAxisNames[joint.axis]);
  json["anchor"] = io::ToJson(joint.anchor);
  json["kp"] = joint.kp;
  json["kd"] = joint.kd;
  json["strength_scale"] = PerAxis(hinge, joint.axis, joint.strength_scale);
  json["window"] = PerAxis(hinge, joint.axis, joint.window);
  json["contact_scale"] = {joint.contact_scale_min, joint.contact_scale_max};
  if (joint.cost_weight != 1) json["cost_weight"] = joint.cost_weight;
  if (joint.range) json["range"] = {joint.range->first, joint.range->second};
  if (joint.effort != Vec3::Zero()) json["effort"] = PerAxis(hinge, joint.axis, joint.effort);
  if (joint.speed > 0) json["speed"] = joint.speed;
  if (joint.armature > 0) json["armature"] = joint.armature;
  (*document_)["joints"].push_back(std::move(json));
}

void CharacterBuilder::SetAnchor(const std::string& joint, const Vec3& anchor) {
  Entry("joints", joint)["anchor"] = io::ToJson(anchor);
}

void CharacterBuilder::SetServo(const std::string& joint, double kp, double kd) {
  Json& entry = Entry("joints", joint);
  entry["kp"] = kp;
  entry["kd"] = kd;
}

void CharacterBuilder::SetServo(const std::string& joint, double kp, double kd, const Vec3& strength_scale) {
  SetServo(joint, kp, kd);
  Json& entry = Entry("joints", joint);
  entry["strength_scale"] = entry["type"] == "hinge" ? Json(strength_scale.maxCoeff()) : io::ToJson(strength_scale);
}

void CharacterBuilder::SetEffort(const std::string& joint, const Vec3& effort) {
  Json& entry = Entry("joints", joint);
  entry["effort"] = entry["type"] == "hinge" ? Json(effort.maxCoeff()) : io::ToJson(effort);
  if (effort == Vec3::Zero()) entry.erase("effort");
}

void CharacterBuilder::SetWindow(const std::string& joint, const Vec3& window) {
  Json& entry = Entry("joints", joint);
  const bool hinge = entry["type"] == "hinge";
  const int axis = hinge ? entry["axis"].get<std::string>().front() - 'x' : 0;
  entry["window"] = PerAxis(hinge, axis, window);
  entry.erase("window_axes");  // in the order x, y, z now
}

void CharacterBuilder::AddEndEffector(const std::string& body) {
  (*document_)["end_effectors"].push_back(Entry("bodies", body)["name"]);
}

void CharacterBuilder::ExcludePair(const std::string& body, const std::string& other) {
  (*document_)["no_self_collision"].push_back({Entry("bodies", body)["name"], Entry("bodies", other)["name"]});
}

void CharacterBuilder::SetContactScale(const std::string& preset, const std::string& joint, double scale) {
  Entry("joints", joint);
  (*document_)["contact_presets"][preset][joint] = scale;
}

void CharacterBuilder::AddContactPreset(const std::string& preset) {
  Json& presets = (*document_)["contact_presets"];
  if (!presets.contains(preset)) presets[preset] = Json::object();
}

Character CharacterBuilder::Build(const std::string& name) const {
  return ParseCharacter(document_, name);
}

std::string FormatCharacter(const Json& document) {
  std::string text = "{";
  for (const auto& [key, value] : document.items()) {
    text += (text == "{" ? "\n  " : ",\n  ") + io::Dump(Json(key)) + ": ";
    const bool is_table = value.is_array() && !value.empty() && value.front().is_structured();
    if (!is_table) {
      text += io::Dump(value);
      continue;
    }
    for (size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n    " : ",\n    ") + io::Dump(value[i]);
    text += "\n  ]";
  }
  return text + "\n}\n";
}

/// The entry of that name among the bodies or the joints.
Json& CharacterBuilder::Entry(const char* list, const std::string& name) {
  for (Json& entry : (*document_)[list]) {
    if (entry["name"] == name) return entry;
  }
  throw std::invalid_argument("a character without \"" + name + "\" among its " + list);
}

}  // namespace retrace::character
