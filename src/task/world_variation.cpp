#include "retrace/task/world_variation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "retrace/character/builder.h"
#include "retrace/character/kinematics.h"
#include "retrace/character/limits.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/motion_editing/adapted_reference.h"

namespace retrace::task {
namespace {

using character::Character;
using character::Pose;
using character::ReferenceMotion;
using character::Shape;
using character::State;
using io::JsonView;
using simulation::Environment;

constexpr size_t kMostScatters = 100;
constexpr int kMostTries = 10000;  // of the bodies of a scatter
constexpr double kVisible = 0.05;  // [m] a warning names what the reference is deeper in than this

// ---- reading

void ReadRange(const JsonView& view, double range[2]) {
  const std::vector<double> numbers = view.Numbers(character::kSizes, 2);
  if (numbers.size() != 2 || numbers[0] > numbers[1]) view.Expect("two numbers, the smallest and the largest");
  range[0] = numbers[0];
  range[1] = numbers[1];
}

Scatter ReadScatter(const JsonView& view) {
  view.AllowOnly({"name", "per_square_metre", "half_width", "from", "beyond", "width", "height", "density", "seed"});
  Scatter scatter;
  scatter.name = view["name"].Name();
  scatter.per_square_metre = view["per_square_metre"].Number({0, 1000, true});
  scatter.half_width = view["half_width"].Number({0, 100, true});
  scatter.from = view["from"].Number({-100, 100});
  scatter.beyond = view["beyond"].Number({-100, 100});
  ReadRange(view["width"], scatter.width);
  ReadRange(view["height"], scatter.height);
  scatter.density = view["density"].Number(simulation::kDensities);
  scatter.seed = static_cast<uint64_t>(view["seed"].Integer(0, std::numeric_limits<int>::max()));
  return scatter;
}

/// Whether a body of the scatter could have that name: the scatter's, an underscore and a number.
bool MayName(const Scatter& scatter, const std::string& name) {
  const size_t length = scatter.name.size() + 1;
  return name.size() > length && name.starts_with(scatter.name) && name[length - 1] == '_' &&
         name.find_first_not_of("0123456789", length) == std::string::npos;
}

/// A name of two scatters, or one that an object has and a body of a scatter may get; empty: there is none.
std::string FindCommonName(const WorldVariation& world) {
  std::set<std::string> names;
  for (const Scatter& scatter : world.scatters) {
    if (!names.insert(scatter.name).second) return scatter.name;
    for (size_t object = 0; object < world.environment.num_objects(); ++object) {
      if (MayName(scatter, world.environment.ObjectName(object))) return world.environment.ObjectName(object);
    }
  }
  return "";
}

// ---- what does not fit

/// Points of a shape's core and how thick it is about them.
template <typename Function>
void ForEachCorePoint(const Shape& shape, const character::BodyState& body, const Function& visit) {
  const Vec3 center = body.position + body.orientation * shape.offset;
  if (shape.kind != Shape::Kind::kCapsule) {
    const Vec3 half = shape.HalfExtents();
    for (int k = 0; k < 8; ++k) {
      const Vec3 sign(k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 1 : -1);
      visit(Vec3(center + body.orientation * sign.cwiseProduct(half)), 0.0);
    }
    visit(center, half.minCoeff());
    return;
  }
  const Vec3 half = body.orientation * Vec3(0.5 * shape.length * Vec3::Unit(shape.axis));
  for (const double along : {-1.0, 0.0, 1.0}) visit(Vec3(center + along * half), shape.radius);
}

/// How deep a ball is in a box.
double DepthIn(const Vec3& position, const Quat& orientation, const Vec3& size, const Vec3& point, double radius) {
  const Vec3 beyond = (orientation.conjugate() * Vec3(point - position)).cwiseAbs() - 0.5 * size;
  const double outside = beyond.cwiseMax(0.0).norm();
  return radius - (outside > 0 ? outside : beyond.maxCoeff());
}

struct Worst {
  double depth = kVisible;
  double time = -1;
  double first = -1;
  size_t body = 0;
};

void CheckFit(const Environment& environment, const ReferenceMotion& reference, std::vector<std::string>& warnings) {
  const Character& character = reference.character();
  std::vector<Worst> worst(environment.num_objects());
  const size_t first_free = environment.num_objects() - environment.bodies.size();
  double nothing_from = -1;
  State state;
  Pose pose;
  constexpr double kInterval = 1.0 / 30;
  for (int i = 0; i * kInterval <= reference.duration(); ++i) {
    const double time = i * kInterval;
    reference.PoseAt(time, pose);
    character::ForwardKinematics(character, pose, state);
    const Vec3& root = pose.root_position;
    const double ground = environment.HeightAt(root.x(), root.z(), root.y());
    if (nothing_from < 0 && !std::isfinite(ground)) nothing_from = time;
    for (size_t b = 0; b < state.size(); ++b) {
      const auto note = [&](size_t object, double depth) {
        Worst& at = worst[object];
        if (depth <= kVisible) return;
        if (at.first < 0) at.first = time;
        if (depth > at.depth) at = {depth, time, at.first, b};
      };
      for (const Shape& shape : character.bodies[b].shapes) {
        ForEachCorePoint(shape, state[b], [&](const Vec3& point, double radius) {
          for (size_t k = 0; k < environment.boxes.size(); ++k) {
            const simulation::Box& box = environment.boxes[k];
            const Vec3 place = box.position + (box.course ? box.course->At(time) : Vec3(Vec3::Zero()));
            note(k, DepthIn(place, box.orientation, box.size, point, radius));
          }
          if (i > 0) return;  // free bodies move
          for (size_t f = 0; f < environment.bodies.size(); ++f) {
            const simulation::FreeBody& body = environment.bodies[f];
            for (const simulation::OrientedShape& turned : body.AllShapes()) {
              const Vec3 extent = 2 * turned.shape.HalfExtents();
              const Vec3 center = body.position + body.orientation * turned.shape.offset;
              note(first_free + f, DepthIn(center, body.orientation * turned.orientation, extent, point, radius));
            }
          }
        });
      }
    }
  }
  for (size_t k = 0; k < worst.size(); ++k) {
    if (worst[k].time < 0) continue;
    std::string warning = "the reference is inside ";
    warning.append(environment.ObjectName(k)).append(" from ").append(io::Fixed(worst[k].first, 2));
    warning.append(" s on, by ").append(Meters(worst[k].depth)).append(" at ").append(io::Fixed(worst[k].time, 2));
    warnings.push_back(warning.append(" s with ").append(character.bodies[worst[k].body].name));
  }
  if (nothing_from >= 0) {
    std::string warning = "there is nothing under the reference's root from ";
    warnings.push_back(warning.append(io::Fixed(nothing_from, 2)).append(" s on"));
  }
}

// ---- what lies about

void AddScatteredBodies(const Scatter& scatter, const Frame& frame, const ReferenceMotion& reference,
                        Environment& environment, std::vector<std::string>& notes) {
  const Character& character = reference.character();
  State start;
  character::ForwardKinematics(character, reference.poses().front(), start);
  struct Disc {
    Vec3 center = Vec3::Zero();
    double radius = 0;
  };
  std::vector<Disc> taken;
  for (size_t b = 0; b < start.size(); ++b) {
    if (character::LowestPoint(character.bodies[b], start[b]) > 2 * scatter.height[1]) continue;
    for (const Shape& shape : character.bodies[b].shapes) {
      taken.push_back({start[b].position + start[b].orientation * shape.offset, shape.BoundingRadius()});
    }
  }
  const double length = std::max(0.0, frame.length + scatter.beyond - scatter.from);
  const double wanted = std::round(scatter.per_square_metre * 2 * scatter.half_width * length);
  if (wanted > static_cast<double>(kMostTries)) {
    throw UsageError("the scatter " + scatter.name + ": found " + io::Number(wanted) + " bodies on a way of " +
                     io::Fixed(frame.length, 1) + " m, expected at most " + std::to_string(kMostTries));
  }
  const int count = static_cast<int>(wanted);
  RandomStream random(scatter.seed, RandomStage::kWorld, 0, 0);
  int kept = 0;
  double mass = 0;
  for (int i = 0; i < count; ++i) {
    simulation::FreeBody body;
    const double x = random.Uniform(-scatter.half_width, scatter.half_width);
    const double z = random.Uniform(scatter.from, scatter.from + length);
    body.shape.size.x() = random.Uniform(scatter.width[0], scatter.width[1]);
    body.shape.size.z() = random.Uniform(scatter.width[0], scatter.width[1]);
    body.shape.size.y() = random.Uniform(scatter.height[0], scatter.height[1]);
    body.orientation = frame.heading * AxisRotation(1, random.Uniform(0, 2 * kPi));
    body.position = frame.origin + frame.heading * Vec3(x, 0, z);
    const double radius = 0.5 * std::hypot(body.shape.size.x(), body.shape.size.z());
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const Disc& other) {
      return std::hypot(other.center.x() - body.position.x(), other.center.z() - body.position.z()) <
             other.radius + radius;
    });
    const double ground = environment.HeightAt(body.position.x(), body.position.z(), 1);
    if (!free || !std::isfinite(ground)) continue;
    body.position.y() = ground + 0.5 * body.shape.size.y();
    body.mass = scatter.density * simulation::Volume(body.shape);
    body.name = scatter.name;
    body.name.append("_").append(std::to_string(++kept));
    taken.push_back({body.position, radius});
    mass += body.mass;
    environment.bodies.push_back(body);
  }
  std::string note = std::to_string(kept);
  note.append(" of ").append(std::to_string(count)).append(" ").append(scatter.name);
  note.append("s lie along the way, ").append(io::Fixed(mass, 1)).append(" kg (the others would lie on something)");
  notes.push_back(note);
}

std::string Describe(const WorldVariation& world) {
  std::string text;
  const auto add = [&](const std::string& part) { text.append(text.empty() ? "" : ", ").append(part); };
  const auto describe = [&](const std::string& name, const simulation::Material& material) {
    if (material.friction) add(std::string(name).append(" friction ").append(io::Number(*material.friction)));
    if (material.spring) {
      std::string spring = name;
      spring.append(" soft (").append(io::Number(std::round(material.spring->stiffness))).append(" N/m, ");
      add(spring.append(io::Number(std::round(10 * material.spring->damping) / 10)).append(" N s/m)"));
    }
  };
  const simulation::Ground& ground = world.environment.ground;
  if (world.gravity) add(std::string("gravity ").append(io::Number(*world.gravity)).append(" m/s^2"));
  if (!ground.present) add("no ground");
  if (ground.height != 0) add(std::string("ground at ").append(Meters(ground.height)));
  describe("ground", ground.material);
  for (const simulation::Box& box : world.environment.boxes) {
    add(box.course ? std::string(box.name).append(" (moves)") : box.name);
    describe(box.name, box.material);
  }
  if (world.environment.height_field) add(world.environment.height_field->name);
  for (const simulation::FreeBody& body : world.environment.bodies) {
    add(std::string(body.name).append(" (").append(io::Number(body.mass)).append(" kg, free)"));
  }
  for (const Load& load : world.loads) {
    add(io::Number(load.mass).append(" kg on ").append(load.body));
  }
  return text;
}

}  // namespace

WorldVariation ReadAlteredWorld(const JsonView& view, const std::string& name) {
  view.AllowOnly({"format", "version", "description", "gravity", "environment", "scatter", "loads", "reference"});
  if (view["format"].String() != "retrace-world") view["format"].Expect("\"retrace-world\"");
  view["version"].Integer(1, 1);
  WorldVariation world;
  world.names = {name};
  if (view.Has("description")) world.description = view["description"].String();
  if (view.Has("gravity")) world.gravity = view["gravity"].Number(simulation::kGravities);
  if (view.Has("environment")) world.environment = simulation::ReadEnvironment(view["environment"]);
  if (view.Has("scatter")) {
    for (const JsonView& entry : view["scatter"].Elements(kMostScatters)) {
      world.scatters.push_back(ReadScatter(entry));
      const std::string common = FindCommonName(world);
      if (common.empty()) continue;
      entry["name"].Fail("the name \"" + common + "\" of what there is already", "a name that nothing else has");
    }
  }
  if (view.Has("loads")) {
    for (const JsonView& entry : view["loads"].Elements(character::kMostBodies)) {
      entry.AllowOnly({"body", "mass", "radius"});
      Load& load = world.loads.emplace_back();
      load.body = entry["body"].Name();
      load.mass = entry["mass"].Number({0, character::kMasses.max});
      if (entry.Has("radius")) load.radius = entry["radius"].Number(character::kSizes);
    }
  }
  if (view.Has("reference")) {
    view["reference"].AllowOnly({"follow_ground", "feet_on_ground", "legs_on_line"});
    if (view["reference"].Has("follow_ground")) world.follow_ground = view["reference"]["follow_ground"].Boolean();
    if (view["reference"].Has("feet_on_ground")) world.feet_on_ground = view["reference"]["feet_on_ground"].Boolean();
    if (view["reference"].Has("legs_on_line")) world.legs_on_line = view["reference"]["legs_on_line"].Boolean();
  }
  return world;
}

void Combine(WorldVariation& world, const WorldVariation& other) {
  if (world.empty()) {
    world = other;
    return;
  }
  const auto refuse = [&](const std::string& what) {
    std::string message = "the worlds ";
    for (const std::string& name : world.names) message.append(name).append(", ");
    throw UsageError(message.append(other.names.front())
                         .append(": found ")
                         .append(what)
                         .append(" twice, expected worlds that go together"));
  };
  Environment& mine = world.environment;
  const Environment& its = other.environment;
  if (world.gravity && other.gravity) refuse("gravity");
  if (other.gravity) world.gravity = other.gravity;
  const bool shaped = !mine.ground.present || mine.ground.height != 0;
  if (!its.ground.present || its.ground.height != 0) {
    if (shaped) refuse("the shape of the ground");
    mine.ground.present = its.ground.present;
    mine.ground.height = its.ground.height;
  }
  simulation::Material& material = mine.ground.material;
  if (material.friction && its.ground.material.friction) refuse("the ground's friction");
  if (material.spring && its.ground.material.spring) refuse("the ground's spring");
  if (its.ground.material.friction) material.friction = its.ground.material.friction;
  if (its.ground.material.spring) material.spring = its.ground.material.spring;
  if (mine.height_field && its.height_field) refuse("a height field");
  std::set<std::string> names;
  for (size_t i = 0; i < mine.num_objects(); ++i) names.insert(mine.ObjectName(i));
  for (size_t i = 0; i < its.num_objects(); ++i) {
    if (!names.insert(its.ObjectName(i)).second) refuse(its.ObjectName(i));
  }
  if (its.height_field) mine.height_field = its.height_field;
  mine.boxes.insert(mine.boxes.end(), its.boxes.begin(), its.boxes.end());
  mine.bodies.insert(mine.bodies.end(), its.bodies.begin(), its.bodies.end());
  world.scatters.insert(world.scatters.end(), other.scatters.begin(), other.scatters.end());
  if (const std::string name = FindCommonName(world); !name.empty()) refuse(name);
  world.loads.insert(world.loads.end(), other.loads.begin(), other.loads.end());
  world.follow_ground = world.follow_ground || other.follow_ground;
  world.feet_on_ground = world.feet_on_ground || other.feet_on_ground;
  world.legs_on_line = world.legs_on_line || other.legs_on_line;
  world.names.insert(world.names.end(), other.names.begin(), other.names.end());
  world.description.append("; ").append(other.description);
}

Character WithLoads(const Character& character, const WorldVariation& world) {
  if (world.loads.empty()) return character;
  character::CharacterBuilder builder(character);
  for (const Load& load : world.loads) {
    if (character.FindBody(load.body) < 0) {
      std::string names;
      for (const auto& known : character.bodies) names.append(names.empty() ? "" : ", ").append(known.name);
      throw InputError(std::string("world: load on \"").append(load.body).append("\""), "no such body of the character",
                       "one of " + names);
    }
    builder.AddLoad(load.body, load.mass, load.radius);
  }
  return builder.Build(character.name + " with loads");
}

io::Json PlacedWorld::ToJson(const WorldVariation& world) const {
  io::Json json;
  json["names"] = world.names;
  json["notes"] = notes;
  json["warnings"] = warnings;
  json["loads"] = io::Json::array();
  for (const Load& load : world.loads) {
    json["loads"].push_back({{"body", load.body}, {"mass", load.mass}, {"radius", load.radius}});
  }
  json["follow_ground"] = world.follow_ground;
  json["feet_on_ground"] = world.feet_on_ground;
  json["legs_on_line"] = world.legs_on_line;
  json["objects"] = environment.num_objects();
  json["free_bodies"] = environment.bodies.size();
  return json;
}

PlacedWorld PlaceWorld(const WorldVariation& world, const ReferenceMotion& recorded) {
  PlacedWorld placed{{}, recorded, {}, {}};
  if (world.empty()) return placed;
  std::string names;
  for (const std::string& name : world.names) names.append(names.empty() ? "" : " + ").append(name);
  placed.notes.push_back(names.append(": ").append(Describe(world)));
  const Frame frame = FrameOf(recorded);
  Environment& environment = placed.environment;
  environment = world.environment;
  environment.Place(frame.heading, frame.origin);
  for (const Scatter& scatter : world.scatters) AddScatteredBodies(scatter, frame, recorded, environment, placed.notes);
  if (world.legs_on_line || world.follow_ground || world.feet_on_ground) {
    AdaptedReference adapted(recorded);
    if (world.legs_on_line) adapted.PutLegsOnLine(frame, world.names.front());
    if (world.follow_ground) adapted.FollowGround(environment, std::max(world.gravity.value_or(kStandardGravity), 0.1));
    if (world.feet_on_ground) adapted.PutFeetOnGround(environment);
    placed.notes.insert(placed.notes.end(), adapted.notes().begin(), adapted.notes().end());
    placed.reference = recorded.WithPoses(adapted.poses());
  }
  CheckFit(environment, placed.reference, placed.warnings);
  return placed;
}

}  // namespace retrace::task
