#include "retrace/control/pushes.h"

#include <nlohmann/json.hpp>

namespace retrace::control {

std::string BodyName(const Scene& scene, int body) {
  const simulation::Layout layout = scene.layout();
  if (layout.IsFree(body)) return scene.world.environment.bodies[layout.FreeIndexOf(body)].name;
  const size_t character = layout.CharacterOf(body);
  const std::string& name = scene.characters[character].bodies[static_cast<size_t>(layout.LocalBody(body))].name;
  return scene.characters.size() == 1 ? name : std::to_string(character + 1).append(":").append(name);
}

std::string NamesOfBodies(const Scene& scene) {
  std::string names;
  const auto count = static_cast<int>(scene.layout().num_character_bodies());
  for (int body = 0; body < count; ++body) names.append(names.empty() ? "" : ", ").append(BodyName(scene, body));
  return names;
}

int FindBody(const Scene& scene, const std::string& name) {
  const auto count = static_cast<int>(scene.layout().num_bodies());
  for (int body = 0; body < count; ++body) {
    if (BodyName(scene, body) == name) return body;
  }
  const bool only = scene.characters.size() == 1 && name.starts_with("1:");
  return only ? scene.characters[0].FindBody(name.substr(2)) : -1;
}

io::Json PushesToJson(const Scene& scene, const std::vector<Push>& pushes) {
  io::Json list = io::Json::array();
  for (const Push& push : pushes) {
    list.push_back({{"body", BodyName(scene, push.body)},
                    {"force", {push.force.x(), push.force.y(), push.force.z()}},
                    {"start", push.start},
                    {"duration", push.duration}});
  }
  return list;
}

std::vector<Push> ReadPushes(const io::JsonView& view, const Scene& scene) {
  std::vector<Push> pushes;
  for (const io::JsonView& entry : view.Elements(kMostPushes)) {
    Push& push = pushes.emplace_back();
    push.body = FindBody(scene, entry["body"].String());
    if (push.body < 0) entry["body"].Expect("one of " + NamesOfBodies(scene));
    push.force = entry["force"].Vector(kPushForces);
    push.start = entry["start"].Number(kPushTimes);
    push.duration = entry["duration"].Number(kPushDurations);
  }
  return pushes;
}

}  // namespace retrace::control
