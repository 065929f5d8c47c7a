#include "film_figures.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "packed.h"
#include "retrace/math/rotation.h"

namespace retrace::report {
namespace {

Vec3 VectorOf(const io::Json& numbers) {
  return {numbers.at(0).get<double>(), numbers.at(1).get<double>(), numbers.at(2).get<double>()};
}
Quat RotationOf(const io::Json& numbers) {
  return Quat(numbers.at(0).get<double>(), numbers.at(1).get<double>(), numbers.at(2).get<double>(),
              numbers.at(3).get<double>());
}

character::BodyState PoseOf(const float* numbers) {
  character::BodyState pose;
  pose.position = Vec3(numbers[0], numbers[1], numbers[2]);
  pose.orientation = Quat(numbers[3], numbers[4], numbers[5], numbers[6]).normalized();
  return pose;
}

/// The frames around a time, and how far it is from the first to the second.
struct Around {
  size_t frame = 0, next = 0;
  double share = 0;
};
Around FramesAround(double time, double frame_time, size_t frames) {
  const double at = std::clamp(time / frame_time, 0.0, static_cast<double>(frames - 1));
  const auto frame = static_cast<size_t>(at);
  return {frame, std::min(frame + 1, frames - 1), at - static_cast<double>(frame)};
}

rendering::Solid ShapeSolid(const io::Json& shape, const rendering::Color& color) {
  const std::string kind = shape.at("kind");
  if (kind == "box") return rendering::BoxSolid(VectorOf(shape.at("size")), color);
  if (kind == "capsule")
    return rendering::CapsuleSolid(shape.at("radius"), shape.at("length"), shape.at("axis"), color);
  TriangleMesh mesh;
  const std::vector<float> vertices = Unpack<float>(shape.at("vertices"));
  for (size_t k = 0; k + 2 < vertices.size(); k += 3)
    mesh.vertices.emplace_back(vertices[k], vertices[k + 1], vertices[k + 2]);
  const std::vector<uint32_t> indices = Unpack<uint32_t>(shape.at("triangles"));
  for (size_t k = 0; k + 2 < indices.size(); k += 3) {
    mesh.triangles.push_back(
        {static_cast<int>(indices[k]), static_cast<int>(indices[k + 1]), static_cast<int>(indices[k + 2])});
  }
  return rendering::MeshSolid(mesh, color);
}

skin::BodySkin SkinOf(const io::Json& json) {
  skin::BodySkin skin;
  const Vec3 low = VectorOf(json.at("low"));
  const double step = json.at("step");
  const std::vector<uint16_t> places = Unpack<uint16_t>(json.at("vertices"));
  for (size_t k = 0; k + 2 < places.size(); k += 3) {
    skin.surface.vertices.push_back(low + step * Vec3(places[k], places[k + 1], places[k + 2]));
  }
  const auto add = [&](const auto& indices) {
    for (size_t k = 0; k + 2 < indices.size(); k += 3) {
      skin.surface.triangles.push_back(
          {static_cast<int>(indices[k]), static_cast<int>(indices[k + 1]), static_cast<int>(indices[k + 2])});
    }
  };
  const io::Json& triangles = json.at("triangles");
  if (triangles.at("type") == kTypeName<uint16_t>) {
    add(Unpack<uint16_t>(triangles));
  } else {
    add(Unpack<uint32_t>(triangles));
  }
  const std::vector<uint8_t> bodies = Unpack<uint8_t>(json.at("bodies")), shares = Unpack<uint8_t>(json.at("shares"));
  for (size_t v = 0; v < skin.surface.vertices.size(); ++v) {
    auto& influences = skin.influences.emplace_back();
    for (size_t k = 0; k < skin::kInfluences; ++k) {
      const size_t at = skin::kInfluences * v + k;
      influences[k] = {bodies[at], shares[at] / 255.0};
    }
  }
  const std::vector<float> binds = Unpack<float>(json.at("binds"));
  for (size_t k = 0; k + 6 < binds.size(); k += 7) {
    const character::BodyState pose = PoseOf(binds.data() + k);
    skin.binds.push_back({pose.position, pose.orientation});
  }
  return skin;
}

int SideOf(const std::string& name) {
  return name.starts_with("left_") ? 1 : name.starts_with("right_") ? -1 : 0;
}

}  // namespace

PackedPoses::PackedPoses(const io::Json& packed, size_t bodies, double frame_time)
    : numbers_(Unpack<float>(packed)), bodies_(bodies), frame_time_(frame_time) {}

character::State PackedPoses::At(double time) const {
  const Around around = FramesAround(time, frame_time_, num_frames());
  character::State state;
  for (size_t b = 0; b < bodies_; ++b) {
    character::BodyState pose = PoseOf(numbers_.data() + 7 * (around.frame * bodies_ + b));
    const character::BodyState next = PoseOf(numbers_.data() + 7 * (around.next * bodies_ + b));
    pose.position += around.share * (next.position - pose.position);
    pose.orientation = Nlerp(pose.orientation, next.orientation, around.share);
    state.push_back(pose);
  }
  return state;
}

Vec3 PackedPoses::PositionAt(size_t frame, size_t body) const {
  const float* const numbers = numbers_.data() + 7 * (frame * bodies_ + body);
  return {numbers[0], numbers[1], numbers[2]};
}

std::vector<rendering::Solid> SolidsOf(const io::Json& shapes, const rendering::Color& color) {
  std::vector<rendering::Solid> solids;
  for (const io::Json& shape : shapes) {
    const Quat turn = shape.contains("orientation") ? RotationOf(shape.at("orientation")) : Quat(Quat::Identity());
    solids.push_back(rendering::Placed(ShapeSolid(shape, color), turn, VectorOf(shape.at("offset"))));
  }
  return solids;
}

FigureShape::FigureShape(const io::Json& character, bool shapes) : height_(character.at("height")) {
  for (const io::Json& body : character.at("bodies")) {
    if (shapes || !character.contains("skin")) {
      for (rendering::Solid& solid : SolidsOf(body.at("shapes"), {}))
        parts_.push_back({sides_.size(), std::move(solid)});
    }
    sides_.push_back(SideOf(body.at("name")));
  }
  if (!shapes && character.contains("skin")) skin_ = SkinOf(character.at("skin"));
}

std::vector<rendering::Solid> FigureShape::At(const character::State& state, const FigureColors& colors) const {
  const auto color_of = [&](size_t body) {
    return sides_[body] > 0 ? colors.left : sides_[body] < 0 ? colors.right : colors.middle;
  };
  std::vector<rendering::Solid> solids;
  for (const Part& part : parts_) {
    solids.push_back(rendering::Placed(part.solid, state[part.body].orientation, state[part.body].position));
    solids.back().colors = {color_of(part.body)};
  }
  if (skin_.empty()) return solids;
  rendering::Solid& solid = solids.emplace_back();
  solid.smooth = true;
  solid.vertices = skin::Posed(skin_, state);
  solid.triangles = skin_.surface.triangles;
  for (const auto& influences : skin_.influences) {
    rendering::Color color = {};
    for (const skin::Influence& influence : influences) {
      const rendering::Color own = color_of(static_cast<size_t>(influence.body));
      for (size_t k = 0; k < 3; ++k) color[k] += static_cast<float>(influence.share) * own[k];
    }
    solid.colors.push_back(color);
  }
  return solids;
}

void FilmedForces::Read(const io::Json& json) {
  offsets = Unpack<uint32_t>(json.at("offsets"));
  points = Unpack<float>(json.at("points"));
  forces = Unpack<float>(json.at("forces"));
}

void FilmedForces::AddTo(rendering::Picture& picture, size_t frame, double meters_per_newton,
                         const rendering::Color& color) const {
  constexpr double kShortest = 0.005;  // [m]
  if (frame + 1 >= offsets.size()) return;
  for (size_t k = offsets[frame]; k < offsets[frame + 1]; ++k) {
    const Vec3 point(points[3 * k], points[3 * k + 1], points[3 * k + 2]);
    const Vec3 arrow = meters_per_newton * Vec3(forces[3 * k], forces[3 * k + 1], forces[3 * k + 2]);
    if (arrow.norm() < kShortest) continue;
    if (end_where_they_act) {
      picture.arrows.push_back({point - arrow, point, color});
    } else {
      picture.arrows.push_back({point, point + arrow, color});
    }
  }
}

FilmedCharacter::FilmedCharacter(const io::Json& run, bool shapes)
    : shape(run.at("character"), shapes),
      frame_time(run.at("frame_steps").get<double>() * run.at("time_step").get<double>()),
      duration(run.at("steps").get<double>() * run.at("time_step").get<double>()) {
  const size_t bodies = run.at("character").at("bodies").size();
  simulated = PackedPoses(run.at("simulated").at("frames"), bodies, frame_time);
  for (const char* motion : {"recording", "reference"}) {
    if (!recorded.empty() || !run.contains(motion)) continue;
    recorded = PackedPoses(run.at(motion).at("frames"), bodies, frame_time);
  }
  contacts.Read(run.at("arrows"));
  meters_per_newton = run.at("arrows").at("metres_per_newton");
  if (run.contains("push_arrows")) pushes.Read(run.at("push_arrows"));
  pushes.end_where_they_act = true;
  const io::Json& prints = run.at("footprints");
  print_offsets = Unpack<uint32_t>(prints.at("offsets"));
  print_places = Unpack<float>(prints.at("places"));
  pressures = Unpack<float>(prints.at("pressures"));
  print_side = prints.at("side");
  usual_peak = prints.at("usual_peak");
}

FilmedWorld::FilmedWorld(const io::Json& world, double frame_time) : frame_time_(frame_time) {
  const rendering::Color color = rendering::ColorOf("#c9c3b4");
  has_ground_ = world.at("ground").at("present");
  ground_ = world.at("ground").at("height");
  for (const io::Json& box : world.at("boxes")) {
    const rendering::Solid solid = rendering::BoxSolid(VectorOf(box.at("size")), color);
    const Quat turn = RotationOf(box.at("orientation"));
    if (!box.at("moves")) {
      still_.push_back(rendering::Placed(solid, turn, VectorOf(box.at("position"))));
      continue;
    }
    Body& body = boxes_.emplace_back();
    body.solids = {solid};
    body.start.orientation = turn;
  }
  courses_ = Unpack<float>(world.at("courses"));
  if (world.contains("height_field")) {
    const io::Json& field = world.at("height_field");
    const int columns = field.at("columns"), rows = field.at("rows");
    const double spacing = field.at("spacing");
    const std::vector<float> heights = Unpack<float>(field.at("heights"));
    rendering::Solid solid;
    solid.colors = {color};
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        solid.vertices.emplace_back(
            (c - 0.5 * (columns - 1)) * spacing,
            heights[static_cast<size_t>(r) * static_cast<size_t>(columns) + static_cast<size_t>(c)],
            (r - 0.5 * (rows - 1)) * spacing);
        if (r + 1 == rows || c + 1 == columns) continue;
        const int a = r * columns + c;
        solid.triangles.push_back({a, a + columns + 1, a + 1});
        solid.triangles.push_back({a, a + columns, a + columns + 1});
      }
    }
    still_.push_back(rendering::Placed(solid, RotationOf(field.at("orientation")), VectorOf(field.at("position"))));
  }
  const std::vector<float> start = Unpack<float>(world.at("start"));
  const std::vector<uint32_t> moving = Unpack<uint32_t>(world.at("moving"));
  for (const io::Json& body : world.at("bodies")) {
    const size_t k = bodies_.size();
    const auto found = std::find(moving.begin(), moving.end(), k);
    bodies_.push_back({SolidsOf(body.at("shapes"), color), PoseOf(start.data() + 7 * k),
                       found == moving.end() ? -1 : static_cast<int>(found - moving.begin())});
  }
  if (!moving.empty()) poses_ = PackedPoses(world.at("frames"), moving.size(), frame_time);
}

void FilmedWorld::AddTo(rendering::Picture& picture, double time) const {
  picture.has_ground = has_ground_;
  picture.ground = ground_;
  picture.solids.insert(picture.solids.end(), still_.begin(), still_.end());
  const auto add = [&](const Body& body, const character::BodyState& pose) {
    for (const rendering::Solid& solid : body.solids) {
      picture.solids.push_back(rendering::Placed(solid, pose.orientation, pose.position));
    }
  };
  if (!boxes_.empty()) {
    const Around around = FramesAround(time, frame_time_, courses_.size() / (3 * boxes_.size()));
    const auto place = [&](size_t frame, size_t box) {
      const float* const numbers = courses_.data() + 3 * (frame * boxes_.size() + box);
      return Vec3(numbers[0], numbers[1], numbers[2]);
    };
    for (size_t k = 0; k < boxes_.size(); ++k) {
      character::BodyState pose = boxes_[k].start;
      pose.position = place(around.frame, k) + around.share * (place(around.next, k) - place(around.frame, k));
      add(boxes_[k], pose);
    }
  }
  const character::State moved = poses_.empty() ? character::State() : poses_.At(time);
  for (const Body& body : bodies_) add(body, body.moving < 0 ? body.start : moved[static_cast<size_t>(body.moving)]);
}

}  // namespace retrace::report
