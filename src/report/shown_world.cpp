#include "shown_world.h"

namespace retrace::report {

io::Json ShapeToJson(const character::Shape& shape) {
  io::Json json;
  switch (shape.kind) {
    case character::Shape::Kind::kBox:
      json["kind"] = "box";
      json["size"] = io::ToJson(shape.size);
      break;
    case character::Shape::Kind::kCapsule:
      json["kind"] = "capsule";
      json["radius"] = shape.radius;
      json["length"] = shape.length;
      json["axis"] = shape.axis;
      break;
    case character::Shape::Kind::kMesh: {
      json["kind"] = "mesh";
      Floats vertices;
      for (const Vec3& vertex : shape.mesh.vertices) vertices.Add(vertex);
      std::vector<uint32_t> indices;
      for (const auto& triangle : shape.mesh.triangles) {
        for (const int index : triangle) indices.push_back(static_cast<uint32_t>(index));
      }
      json["vertices"] = vertices.Packed();
      json["triangles"] = Pack(indices);
      break;
    }
  }
  json["offset"] = io::ToJson(shape.offset);
  return json;
}

io::Json WorldToJson(const simulation::WorldOptions& options) {
  const simulation::Environment& environment = options.environment;
  io::Json json;
  json["gravity"] = options.gravity;
  json["ground"] = {{"present", environment.ground.present}, {"height", environment.ground.height}};
  json["boxes"] = io::Json::array();
  for (const simulation::Box& box : environment.boxes) {
    json["boxes"].push_back({{"name", box.name},
                             {"size", io::ToJson(box.size)},
                             {"position", io::ToJson(box.position)},
                             {"orientation", io::ToJson(box.orientation)},
                             {"moves", box.course.has_value()}});
  }
  if (environment.height_field) {
    const simulation::HeightField& field = *environment.height_field;
    Floats heights;
    for (const double height : field.heights) heights.Add(height);
    json["height_field"] = {{"name", field.name},
                            {"position", io::ToJson(field.position)},
                            {"orientation", io::ToJson(field.orientation)},
                            {"spacing", field.spacing},
                            {"columns", field.columns},
                            {"rows", field.rows},
                            {"heights", heights.Packed()}};
  }
  json["bodies"] = io::Json::array();
  for (const simulation::FreeBody& body : environment.bodies) {
    io::Json shapes = io::Json::array();
    for (const simulation::OrientedShape& turned : body.AllShapes()) {
      shapes.push_back(ShapeToJson(turned.shape));
      shapes.back()["orientation"] = io::ToJson(turned.orientation);
    }
    json["bodies"].push_back({{"name", body.name}, {"shapes", shapes}});
  }
  return json;
}

void MovingThings::State(const character::State& state) {
  for (size_t k = 0; k < bodies_.size(); ++k) {
    const character::BodyState& now = state[first_body_ + k];
    Place& place = bodies_[k];
    if (!place.known) place.start = now;
    place.known = true;
    place.moves = place.moves || now.position != place.start.position ||
                  now.orientation.coeffs() != place.start.orientation.coeffs();
  }
}

void MovingThings::Frame(const character::State& state, double time) {
  for (const simulation::Box& box : environment_.boxes) {
    if (box.course) courses_.Add(Vec3(box.position + box.course->At(time)));
  }
  for (size_t k = 0; k < bodies_.size(); ++k) frames_.Add(state[first_body_ + k]);
}

void MovingThings::AddTo(io::Json& world) {
  constexpr size_t kNumbers = 7;  // of a position
  Floats start;
  std::vector<uint32_t> moving;
  for (size_t k = 0; k < bodies_.size(); ++k) {
    start.Add(bodies_[k].start);
    if (bodies_[k].moves) moving.push_back(static_cast<uint32_t>(k));
  }
  std::vector<float> frames;
  const std::vector<float>& all = frames_.values();
  for (size_t frame = 0; frame < all.size(); frame += kNumbers * bodies_.size()) {
    for (const uint32_t k : moving) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(frame + kNumbers * k);
      frames.insert(frames.end(), from, from + kNumbers);
    }
  }
  world["courses"] = courses_.Packed();
  world["start"] = start.Packed();
  world["moving"] = Pack(moving);
  world["frames"] = Pack(frames);
}

}  // namespace retrace::report
