#include "contact_laws.h"

#include <algorithm>
#include <limits>

namespace retrace::simulation {
namespace {

Material Together(const Material& a, const Material& b) {
  Material both = a;
  if (b.friction) both.friction = a.friction ? std::min(*a.friction, *b.friction) : *b.friction;
  if (b.spring && (!a.spring || b.spring->stiffness < a.spring->stiffness)) both.spring = b.spring;
  return both;
}

ContactLaw LawOf(const Material& material, const ContactLaw& plain, double h) {
  ContactLaw law = plain;
  if (material.friction) law.friction = *material.friction;
  if (material.spring) {
    const double stiffness = h * material.spring->stiffness;
    law.erp = stiffness / (stiffness + material.spring->damping);
    law.cfm = 1 / (stiffness + material.spring->damping);
    law.fastest_push = std::numeric_limits<double>::infinity();
  }
  return law;
}

}  // namespace

ContactLaws::ContactLaws(const WorldOptions& options, const ContactLaw& plain)
    : boxes_(options.environment.boxes.size()) {
  const Environment& environment = options.environment;
  std::vector<Material> materials = {Material{}, environment.ground.material};
  for (const Box& box : environment.boxes) materials.push_back(box.material);
  materials.push_back(environment.height_field ? environment.height_field->material : Material{});
  for (const FreeBody& body : environment.bodies) materials.push_back(body.material);
  owners_ = materials.size();
  table_.assign(owners_ * owners_, 0);
  std::vector<Material> known;
  for (size_t a = 0; a < owners_; ++a) {
    for (size_t b = 0; b < owners_; ++b) {
      const Material both = Together(materials[a], materials[b]);
      if (both == Material{}) continue;
      const auto found = std::find(known.begin(), known.end(), both);
      table_[a * owners_ + b] = static_cast<int>(found - known.begin()) + 1;
      if (found == known.end()) known.push_back(both);
    }
  }
  for (const Material& material : known) others_.push_back(LawOf(material, plain, options.time_step));
}

}  // namespace retrace::simulation
