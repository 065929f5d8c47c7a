#include "retrace/body_fitting/character_of_mesh.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "retrace/body_fitting/mesh_volume.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "segments.h"

namespace retrace::body_fitting {
namespace {

using character::Shape;
using io::Json;

constexpr double kCells = 200;          // along the height, of the volume
constexpr double kWidest = 3;           // width and depth of a body, as a multiple of its height
constexpr int kTrunkSlices = 2;         // one capsule each
constexpr double kTouching = 0.005;     // bodies nearer than this in the rest pose pass through each other [m]
constexpr double kPlaceDigits = 1e-6;   // of positions in the file [m]
constexpr double kMomentDigits = 1e-9;  // of moments of inertia [kg m^2]
constexpr double kGainDigits = 1e-3;    // of servo gains

/// The nearest number with that many decimals, so that it is printed with no more.
double Rounded(double value, double unit) {
  const double scale = std::round(1 / unit);
  return std::round(value * scale) / scale + 0.0;
}
Vec3 Rounded(const Vec3& v) {
  return {Rounded(v.x(), kPlaceDigits), Rounded(v.y(), kPlaceDigits), Rounded(v.z(), kPlaceDigits)};
}

void CheckLike(const character::Character& human, const Segments& body) {
  const std::string place = "character \"" + human.name + "\"";
  if (human.planar) throw InputError(place, "a planar character", "one that moves in space, such as human");
  for (const std::string& segment : body.names) {
    if (human.FindBody(segment) >= 0) continue;
    throw InputError(place, "no body " + segment, "a body for each part of the mesh, as the character human has them");
  }
}

/// Scales the body to a height, where one is given, and puts its feet on y = 0, its hips over the origin.
void PlaceOnFloor(Segments& body, const BodyOptions& options, const std::string& name) {
  Eigen::AlignedBox3d box;
  for (const Vec3& vertex : body.surface.vertices) box.extend(vertex);
  const Vec3 size = box.sizes();
  if (!(size.y() > 0) || size.maxCoeff() > kWidest * size.y()) {
    throw InputError(name,
                     "a body that is " + io::Number(size.x()) + " wide, " + io::Number(size.y()) + " high and " +
                         io::Number(size.z()) + " deep",
                     "a standing human");
  }
  if (!options.height && !kBodyHeights.Contains(size.y())) {
    throw InputError(
        name, "a body that is " + io::Number(size.y()) + " m tall",
        io::Number(kBodyHeights.min) + " to " + io::Number(kBodyHeights.max) + " m, or a height to which it is scaled");
  }
  const double scale = options.height ? *options.height / size.y() : 1;
  const Vec3 hips = 0.5 * (body.bases[Index(body.Find("left_thigh"))] + body.bases[Index(body.Find("right_thigh"))]);
  const Vec3 origin(hips.x(), box.min().y(), hips.z());
  for (Vec3& vertex : body.surface.vertices) vertex = scale * (vertex - origin);
  for (Vec3& base : body.bases) base = scale * (base - origin);
  for (Eigen::Isometry3d& move : body.moves) move.translation() = scale * (move.translation() - origin);
  body.scale = scale;
}

/// The joints of a mesh have to be where the character has its own.
void CheckJoints(const Segments& body, const character::Character& character, const std::string& name) {
  constexpr double kFar = 0.01;  // [body heights]
  for (size_t s = 0; s < body.names.size(); ++s) {
    const int of_body = character.FindBody(body.names[s]);
    const int joint = of_body < 0 ? -1 : character.JointOf(of_body);
    if (of_body >= 0 && joint < 0) continue;  // the root
    const double away =
        joint < 0 ? 0 : (character.joints[Index(joint)].anchor - body.bases[s]).norm() / character.height;
    if (joint >= 0 && away < kFar) continue;
    throw InputError(name,
                     joint < 0 ? "a " + body.names[s] + ", which the character " + character.name + " does not have"
                               : "the joint of " + body.names[s] + " " + io::Fixed(100 * away * character.height, 1) +
                                     " cm from where the character " + character.name + " has it",
                     "the mesh that the character was made of");
  }
}

/// The vertices of a segment, each for a third of the triangles around it that are the segment's.
SurfacePoints PointsOf(const Segments& body, int segment) {
  std::vector<double> areas(body.surface.vertices.size(), 0.0);
  for (size_t t = 0; t < body.of_triangle.size(); ++t) {
    if (body.of_triangle[t] != segment) continue;
    const auto& corners = body.surface.triangles[t];
    const auto at = [&](size_t k) { return body.surface.vertices[Index(corners[k])]; };
    const double area = 0.5 * (at(1) - at(0)).cross(at(2) - at(0)).norm();
    for (const int corner : corners) areas[Index(corner)] += area / 3;
  }
  SurfacePoints points;
  for (size_t v = 0; v < areas.size(); ++v) {
    if (areas[v] <= 0) continue;
    points.places.push_back(body.surface.vertices[v]);
    points.areas.push_back(areas[v]);
  }
  return points;
}

/// Points between heights that divide a part into equally high slices.
SurfacePoints Slice(const SurfacePoints& points, int slice, int slices) {
  const auto [low, high] = std::minmax_element(points.places.begin(), points.places.end(),
                                               [](const Vec3& a, const Vec3& b) { return a.y() < b.y(); });
  const double step = (high->y() - low->y()) / slices;
  const double begin = low->y() + slice * step;
  SurfacePoints inside;
  for (size_t i = 0; i < points.places.size(); ++i) {
    const double y = points.places[i].y();
    if (y < begin || (y >= begin + step && slice + 1 < slices)) continue;
    inside.places.push_back(points.places[i]);
    inside.areas.push_back(points.areas[i]);
  }
  return inside;
}

/// A box with its sole where the mesh has it, because the sole decides how the body stands.
Shape OnSole(Shape foot, const SurfacePoints& points) {
  double sole = points.places.front().y();
  for (const Vec3& place : points.places) sole = std::min(sole, place.y());
  const double top = foot.offset.y() + 0.5 * foot.size.y();
  foot.size.y() = top - sole;
  foot.offset.y() = 0.5 * (top + sole);
  return foot;
}

/// The points that each shape of a part is fitted to.
std::vector<SurfacePoints> PointsOfShapes(const Segments& body, int segment, const std::string& name) {
  const std::string& part = body.names[Index(segment)];
  const SurfacePoints points = PointsOf(body, segment);
  constexpr size_t kFewest = 8;
  if (points.places.size() < kFewest) {
    throw InputError(name, std::to_string(points.places.size()) + " vertices of " + part,
                     "a surface that the joints of each part move");
  }
  std::vector<SurfacePoints> all;
  for (int slice = 0; part == "trunk" && slice < kTrunkSlices; ++slice) {
    SurfacePoints of_slice = Slice(points, slice, kTrunkSlices);
    if (of_slice.places.size() >= kFewest) all.push_back(std::move(of_slice));
  }
  if (all.empty()) all.push_back(points);
  return all;
}

Shape FitShape(const std::string& part, const SurfacePoints& points, const SurfaceDistance& surface) {
  if (part.ends_with("foot")) return OnSole(FitBox(points, surface).shape, points);
  if (part.ends_with("hand")) return FitBox(points, surface).shape;
  if (part.ends_with("arm") || part.ends_with("clavicle")) return FitCapsule(points, surface, 0).shape;
  if (part.ends_with("thigh") || part.ends_with("shin")) return FitCapsule(points, surface, 1).shape;
  if (part == "head") return FitCapsule(points, surface).shape;
  // Across the body: a back and hips have no edges to roll over.
  return FitCapsule(points, surface, 0).shape;
}

/// Whether shapes come nearer than a distance to each other: a point of the surface of one, inside the other.
bool Touch(const Shape& a, const Shape& b, double distance) {
  const auto has_point_in = [&](const Shape& of, const Shape& in) {
    const SurfacePoints points = SurfaceOf(of);
    return std::any_of(points.places.begin(), points.places.end(),
                       [&](const Vec3& point) { return SignedDistance(in, point) < distance; });
  };
  return has_point_in(a, b) || has_point_in(b, a);
}
bool Touch(const PartReport& a, const PartReport& b, double distance) {
  for (const Fit& p : a.fits) {
    for (const Fit& q : b.fits) {
      if (Touch(p.shape, q.shape, distance)) return true;
    }
  }
  return false;
}

/// A shape with what it was fitted to.
struct FittedShape {
  size_t part = 0;
  Shape shape;
  SurfacePoints points;
};

double VolumeOf(const Shape& shape) {
  if (shape.kind == Shape::Kind::kBox) return shape.size.prod();
  return kPi * shape.radius * shape.radius * (shape.length + 4.0 / 3 * shape.radius);
}

/// Volume of all shapes together: of each, the share that is in none before it. The points that tell are the same of
/// each shape, relative to its box, and evenly spread without a grid, which the sides of boxes would meet in steps.
double VolumeOfUnion(const std::vector<Shape>& shapes) {
  constexpr int kPoints = 20000;
  // Steps of the additive low-discrepancy sequence in three dimensions, from the root of x^4 = x + 1 (Roberts 2018).
  const Vec3 step(0.8191725133961645, 0.6710436067037893, 0.5497004779019703);
  double volume = 0;
  for (size_t s = 0; s < shapes.size(); ++s) {
    const Vec3 half = shapes[s].HalfExtents();
    int inside = 0, alone = 0;
    for (int i = 0; i < kPoints; ++i) {
      const Eigen::Array3d unit = (i + 0.5) * step.array();
      const Vec3 point = shapes[s].offset + half.cwiseProduct((2 * (unit - unit.floor()) - 1).matrix());
      if (SignedDistance(shapes[s], point) >= 0) continue;
      ++inside;
      alone += std::none_of(shapes.begin(), shapes.begin() + static_cast<std::ptrdiff_t>(s),
                            [&](const Shape& before) { return SignedDistance(before, point) < 0; });
    }
    volume += VolumeOf(shapes[s]) * alone / inside;
  }
  return volume;
}

/// The shapes with their surfaces moved outwards by a distance. Soles stay where they are.
std::vector<Shape> Moved(const std::vector<FittedShape>& fitted, const Segments& body, double distance) {
  std::vector<Shape> shapes;
  for (const FittedShape& f : fitted) {
    const Shape moved = MovedOutwards(f.shape, distance);
    shapes.push_back(body.names[f.part].ends_with("foot") ? OnSole(moved, f.points) : moved);
  }
  return shapes;
}

/// Shapes that hold a volume together, what they share counted once. By their distances alone they hold 4 to 6 % more
/// than the mesh: boxes have corners that hands and feet have not, and ends inside of neighbors, far from any skin,
/// grow towards it. Among all changes of the volume, an equal displacement of the whole surface moves it least in
/// the mean square.
std::vector<Shape> WithVolume(const std::vector<FittedShape>& fitted, const Segments& body, double volume,
                              BodyReport& report) {
  constexpr double kFarthest = 0.02;  // as a share of the height
  constexpr int kHalvings = 12;
  const auto of_distance = [&](double distance) { return VolumeOfUnion(Moved(fitted, body, distance)); };
  report.fitted_volume = of_distance(0);
  double low = -kFarthest * report.height, high = -low;
  for (int i = 0; i < kHalvings; ++i) {
    report.moved = 0.5 * (low + high);
    (of_distance(report.moved) > volume ? high : low) = report.moved;
  }
  report.shape_volume = of_distance(report.moved);
  return Moved(fitted, body, report.moved);
}

Json ShapeJson(const Fit& fit, const Vec3& center) {
  const Shape& shape = fit.shape;
  const auto digits = [](double length) { return Rounded(length, kPlaceDigits); };
  Json json;
  if (shape.kind == Shape::Kind::kBox) {
    json["box"] = io::ToJson(Rounded(shape.size));
  } else {
    json["capsule"] = {{"radius", digits(shape.radius)},
                       {"length", digits(shape.length)},
                       {"axis", std::string(1, static_cast<char>('x' + shape.axis))}};
  }
  json["offset"] = io::ToJson(Rounded(Vec3(shape.offset - center)));
  return json;
}

Json InertiaJson(const Mat3& i) {
  Json json = Json::array();
  for (const double value : {i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)}) {
    json.push_back(Rounded(value, kMomentDigits));
  }
  return json;
}

/// What a rigid body of one density is, by the part of the mesh that it stands for.
struct PartSolid {
  MassProperties solid;
  double mass = 0;
};

/// The character of `human` with other bodies.
class Document {
 public:
  Document(const character::Character& human, const Segments& body) : json_(human.json), human_(human), body_(body) {}

  void SetBodies(const std::vector<PartSolid>& solids, const std::vector<PartReport>& parts) {
    Json bodies = Json::array();
    for (const Json& entry : json_["bodies"]) {
      const int s = body_.Find(entry["name"].get<std::string>());
      if (s < 0) continue;
      const PartSolid& part = solids[Index(s)];
      const Vec3 center = Rounded(part.solid.center);
      Json body = {{"name", entry["name"]},
                   {"mass", Rounded(part.mass, kPlaceDigits)},
                   {"inertia", InertiaJson(part.mass / part.solid.volume * part.solid.inertia)},
                   {"position", io::ToJson(center)},
                   {"shapes", Json::array()}};
      for (const Fit& fit : parts[Index(s)].fits) body["shapes"].push_back(ShapeJson(fit, center));
      bodies.push_back(std::move(body));
    }
    json_["bodies"] = std::move(bodies);
  }

  void SetJoints(double servo_scale) {
    Json joints = Json::array();
    for (Json joint : json_["joints"]) {
      const int s = body_.Find(joint["child"].get<std::string>());
      if (s < 0) {
        removed_.push_back(joint["name"].get<std::string>());
        continue;
      }
      joint["parent"] = body_.names[Index(body_.parents[Index(s)])];
      joint["anchor"] = io::ToJson(Rounded(body_.bases[Index(s)]));
      for (const char* gain : {"kp", "kd"}) joint[gain] = Rounded(servo_scale * joint[gain].get<double>(), kGainDigits);
      if (joint.contains("effort")) {
        const auto scale = [&](Json& effort) { effort = Rounded(servo_scale * effort.get<double>(), kGainDigits); };
        Json& effort = joint["effort"];
        if (effort.is_array()) std::for_each(effort.begin(), effort.end(), scale);
        if (effort.is_number()) scale(effort);
      }
      joints.push_back(std::move(joint));
    }
    json_["joints"] = std::move(joints);
    for (auto& preset : json_["contact_presets"]) {
      for (const std::string& joint : removed_) preset.erase(joint);
    }
  }

  /// Keeps the human's pairs and adds those whose shapes touch in the rest pose.
  void SetPassing(const std::vector<PartReport>& parts, BodyReport& report) {
    Json pairs = Json::array();
    const auto is_listed = [&](const std::string& a, const std::string& b) {
      return std::any_of(pairs.begin(), pairs.end(), [&](const Json& pair) {
        return pair == Json{a, b} || pair == Json{b, a};
      });
    };
    for (const Json& pair : json_["no_self_collision"]) {
      if (body_.Find(pair[0].get<std::string>()) >= 0 && body_.Find(pair[1].get<std::string>()) >= 0) {
        pairs.push_back(pair);
      }
    }
    for (size_t a = 0; a < parts.size(); ++a) {
      for (size_t b = a + 1; b < parts.size(); ++b) {
        const bool neighbors = body_.parents[b] == static_cast<int>(a) || body_.parents[a] == static_cast<int>(b);
        if (neighbors || is_listed(parts[a].segment, parts[b].segment) || !Touch(parts[a], parts[b], kTouching))
          continue;
        pairs.push_back({parts[a].segment, parts[b].segment});
        report.passing.emplace_back(parts[a].segment, parts[b].segment);
      }
    }
    json_["no_self_collision"] = std::move(pairs);
  }

  character::Character Build(const BodyOptions& options, const BodyReport& report, const std::string& name) {
    json_["name"] = options.name;
    json_["source"] =
        "Made by make-body: joints, masses and inertias [kg m^2: xx, yy, zz, xy, xz, yz] of a skinned "
        "mesh of " +
        io::Fixed(1000 * report.mesh_volume, 2) +
        " liters, shapes by the two-sided distance of Al Borno et al. 2018. Servos, windows and contact "
        "presets are those of the character \"" +
        human_.name + "\", kp [N m/rad] and kd [N m s/rad] " + GainsText(options.servos, report.servo_scale) +
        ". Positions [m] and axes: rest pose, y up, z forward, x left.";
    json_["height"] = Rounded(report.height, kPlaceDigits);
    return character::ParseCharacter(json_, name);
  }

 private:
  static std::string GainsText(character::Servos servos, double scale) {
    switch (servos) {
      case character::Servos::kScaled:
        return "times " + io::Fixed(scale, 4);
      case character::Servos::kKept:
        return "as they are there";
      case character::Servos::kPaper:
        break;
    }
    return "those of Al Borno et al. 2018";
  }

  Json json_;
  const character::Character& human_;
  const Segments& body_;
  std::vector<std::string> removed_;
};

}  // namespace

BodyOfMesh MakeCharacter(const SkinnedMesh& mesh, const character::Character& human, const BodyOptions& options,
                         const std::string& name, const io::JsonView* map) {
  BodyOfMesh made;
  BodyReport& report = made.report;
  RestPose pose = PoseAtRest(mesh, name, map);
  Segments& body = pose.segments;
  report.joints_by = body.joints_by;
  report.turned = pose.turned;
  CheckLike(human, body);
  PlaceOnFloor(body, options, name);
  for (const Vec3& vertex : body.surface.vertices) report.height = std::max(report.height, vertex.y());

  const SurfaceDistance surface(body.surface);
  std::vector<FittedShape> fitted;
  for (size_t s = 0; s < body.names.size(); ++s) {
    report.parts.push_back({body.names[s], 0, {}});
    for (SurfacePoints& points : PointsOfShapes(body, static_cast<int>(s), name)) {
      const Shape shape = FitShape(body.names[s], points, surface);
      fitted.push_back({s, shape, std::move(points)});
    }
  }
  // What is inside belongs to the part whose skin is nearest.
  std::vector<std::vector<VolumeCell>> cells(body.names.size());
  double volume = 0;
  for (const VolumeCell& cell : FillWithCells(body.surface, report.height / kCells)) {
    cells[Index(body.of_triangle[Index(surface.Find(cell.center).triangle)])].push_back(cell);
    volume += cell.volume();
  }
  report.mesh_volume = volume;
  report.mass = options.mass ? *options.mass : options.density * volume;
  std::vector<PartSolid> solids;
  for (size_t s = 0; s < cells.size(); ++s) {
    PartSolid part;
    part.solid = SolidOf(cells[s]);
    if (!(part.solid.volume > 0)) {
      throw InputError(name, "no volume inside of " + body.names[s], "a surface around each part");
    }
    part.mass = report.mass * part.solid.volume / volume;
    report.parts[s].volume = part.solid.volume;
    solids.push_back(part);
  }
  const std::vector<Shape> shapes = WithVolume(fitted, body, volume, report);
  for (size_t i = 0; i < shapes.size(); ++i) {
    report.parts[fitted[i].part].fits.push_back(Compare(shapes[i], fitted[i].points, surface));
  }
  report.servo_scale = report.mass * report.height / (human.total_mass() * human.height);

  Document document(human, body);
  document.SetBodies(solids, report.parts);
  document.SetJoints(report.servo_scale);
  document.SetPassing(report.parts, report);
  made.character = character::WithServos(document.Build(options, report, name), human, options.servos, report.servos);
  return made;
}

skin::BodySkin SkinOfMesh(const SkinnedMesh& mesh, const character::Character& character, const std::string& name,
                          const io::JsonView* map) {
  RestPose pose = PoseAtRest(mesh, name, map);
  Segments& body = pose.segments;
  BodyOptions options;
  options.height = character.height;
  PlaceOnFloor(body, options, name);
  CheckJoints(body, character, name);
  skin::BodySkin skin;
  skin.surface = mesh.surface;
  for (Vec3& vertex : skin.surface.vertices) vertex *= body.scale;
  for (const character::Body& of_body : character.bodies)
    skin.binds.push_back({of_body.rest_position, Quat::Identity()});
  std::vector<int> body_of;
  for (size_t s = 0; s < body.names.size(); ++s) {
    body_of.push_back(character.FindBody(body.names[s]));
    const Eigen::Isometry3d back = body.moves[s].inverse();
    skin::Bind& bind = skin.binds[Index(body_of[s])];
    bind.position = back * bind.position;
    bind.orientation = Quat(back.linear());
  }
  for (const std::vector<SkinWeight>& weights : mesh.weights) {
    std::vector<double> shares(character.bodies.size(), 0);
    for (const SkinWeight& weight : weights) {
      shares[Index(body_of[Index(body.of_joint[Index(weight.joint)])])] += weight.share;
    }
    skin.influences.push_back(skin::LargestShares(shares));
  }
  return skin;
}

}  // namespace retrace::body_fitting
