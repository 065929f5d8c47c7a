#include <cmath>
#include <nlohmann/json.hpp>

#include "read_back.h"
#include "retrace/character/character.h"

namespace {

using namespace retrace;

void RequireFinite(const character::Character& character) {
  const auto finite = [](const Vec3& v) { return v.allFinite(); };
  fuzz::Require(std::isfinite(character.height) && character.height > 0, "the height is positive");
  fuzz::Require(std::isfinite(character.total_mass()) && character.total_mass() > 0, "the mass is positive");
  for (const character::Body& body : character.bodies) {
    fuzz::Require(finite(body.inertia) && body.inertia.minCoeff() > 0, "moments of inertia are positive");
    fuzz::Require(body.InertiaTensor().allFinite(), "tensors of inertia are finite");
    fuzz::Require(finite(body.rest_position), "positions are finite");
    for (const character::Shape& shape : body.shapes) {
      fuzz::Require(finite(shape.offset) && std::isfinite(shape.BoundingRadius()), "shapes are finite");
      fuzz::Require(finite(shape.HalfExtents()), "shapes are finite");
    }
  }
  for (const character::Joint& joint : character.joints) {
    fuzz::Require(finite(joint.anchor) && finite(joint.strength_scale) && finite(joint.window), "joints are finite");
    fuzz::Require(std::isfinite(joint.kp) && std::isfinite(joint.kd), "servos are finite");
    fuzz::Require(joint.contact_scale_min <= joint.contact_scale_max, "a range of contact scales is none");
    fuzz::Require(joint.parent >= 0 && joint.child >= 0 && joint.parent != joint.child, "a joint joins two bodies");
  }
}

}  // namespace

// The bytes are a character.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::IsReadBack(std::string(reinterpret_cast<const char*>(data), size), [](const std::string& document) {
    const character::Character character = character::ParseCharacter(io::ParseJson(document, "fuzz.json"), "fuzz.json");
    RequireFinite(character);
    return character.json->dump();
  });
  return 0;
}
