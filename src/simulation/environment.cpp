#include "retrace/simulation/environment.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "retrace/character/limits.h"
#include "retrace/io/describe.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::simulation {
namespace {

using character::kPositions;
using character::kSizes;
using character::kVelocities;
using character::Shape;
using io::Json;
using io::JsonView;

// ---- writing: what is as it is by default is not written

Json ToJson(const Material& material) {
  Json json = Json::object();
  if (material.friction) json["friction"] = *material.friction;
  if (material.spring) {
    json["spring"] = {{"stiffness", material.spring->stiffness}, {"damping", material.spring->damping}};
  }
  return json;
}

void AddMaterial(const Material& material, Json& json) {
  if (material != Material{}) json["material"] = ToJson(material);
}

Json ToJson(const Shape& shape) {
  if (shape.kind == Shape::Kind::kBox) return {{"box", io::ToJson(shape.size)}};
  if (shape.length == 0) return {{"sphere", shape.radius}};
  const std::string axis(1, "xyz"[shape.axis]);
  return {{"capsule", {{"radius", shape.radius}, {"length", shape.length}, {"axis", axis}}}};
}

// ---- reading

Material ReadMaterial(const JsonView& view) {
  Material material;
  if (!view.Has("material")) return material;
  const JsonView from = view["material"];
  from.AllowOnly({"friction", "spring"});
  if (from.Has("friction")) material.friction = from["friction"].Number(kFrictions);
  if (!from.Has("spring")) return material;
  const JsonView spring = from["spring"];
  spring.AllowOnly({"stiffness", "damping", "erp", "cfm", "time_step"});
  if (spring.Has("erp") || spring.Has("cfm")) {
    // The spring and damper that are this error reduction and constraint force mixing in steps of that length.
    const double erp = spring["erp"].Number({0, 1, true});
    const double cfm = spring["cfm"].Number({1e-12, 1});
    const double step = spring["time_step"].Number(kTimeSteps);
    for (const char* other : {"stiffness", "damping"}) {
      if (spring.Has(other)) spring[other].Fail("it beside \"erp\"", "one way to describe a spring");
    }
    material.spring = {erp / (step * cfm), (1 - erp) / cfm};
    if (!kStiffnesses.Contains(material.spring->stiffness) || !kDampings.Contains(material.spring->damping)) {
      spring.Fail(
          "a spring of " + io::Number(material.spring->stiffness) + " N/m and " + io::Number(material.spring->damping) +
              " N s/m",
          "a stiffness of " + io::Real{kStiffnesses}.Legal() + " and a damping of " + io::Real{kDampings}.Legal());
    }
  } else {
    if (spring.Has("time_step")) spring["time_step"].Fail("it without \"erp\" and \"cfm\"", "both");
    material.spring = {spring["stiffness"].Number(kStiffnesses), spring["damping"].Number(kDampings)};
  }
  return material;
}

int ReadAxis(const JsonView& view) {
  const std::string axis = view.String();
  if (axis != "x" && axis != "y" && axis != "z") view.Expect("\"x\", \"y\" or \"z\"");
  return axis[0] - 'x';
}

Quat ReadOrientation(const JsonView& view) {
  if (view.Has("orientation")) {
    if (view.Has("rotation")) view["rotation"].Fail("it beside \"orientation\"", "one of the two");
    return io::ReadQuaternion(view["orientation"]);
  }
  if (!view.Has("rotation")) return Quat::Identity();
  const JsonView rotation = view["rotation"];
  rotation.AllowOnly({"axis", "degrees"});
  return AxisRotation(ReadAxis(rotation["axis"]), Radians(rotation["degrees"].Number({-3600, 3600})));
}

Vec3 ReadVector(const JsonView& view, const char* key, io::Range range) {
  return view.Has(key) ? view[key].Vector(range) : Vec3(Vec3::Zero());
}

Shape ReadShape(const JsonView& view) {
  Shape shape;
  const int kinds = int{view.Has("box")} + int{view.Has("sphere")} + int{view.Has("capsule")};
  if (kinds != 1) view.Fail(std::to_string(kinds).append(" shapes"), "one of \"box\", \"sphere\" and \"capsule\"");
  if (view.Has("box")) {
    shape.size = view["box"].Vector(kSizes);
    return shape;
  }
  shape.kind = Shape::Kind::kCapsule;
  if (view.Has("sphere")) {
    shape.radius = view["sphere"].Number(kSizes);
    return shape;
  }
  const JsonView capsule = view["capsule"];
  capsule.AllowOnly({"radius", "length", "axis"});
  shape.radius = capsule["radius"].Number(kSizes);
  shape.length = capsule["length"].Number(kSizes);
  shape.axis = ReadAxis(capsule["axis"]);
  return shape;
}

Ground ReadGround(const JsonView& view) {
  view.AllowOnly({"present", "height", "material"});
  Ground ground;
  if (view.Has("present")) ground.present = view["present"].Boolean();
  if (view.Has("height")) ground.height = view["height"].Number(kPositions);
  ground.material = ReadMaterial(view);
  return ground;
}

Box ReadBox(const JsonView& view) {
  view.AllowOnly({"name", "size", "position", "orientation", "rotation", "material", "course"});
  Box box;
  box.name = view["name"].Name();
  box.size = view["size"].Vector(kSizes);
  box.position = view["position"].Vector(kPositions);
  box.orientation = ReadOrientation(view);
  box.material = ReadMaterial(view);
  if (view.Has("course")) {
    const JsonView course = view["course"];
    course.AllowOnly({"velocity", "amplitude", "frequency", "phase_degrees", "phase"});
    box.course.emplace();
    box.course->velocity = ReadVector(course, "velocity", kVelocities);
    box.course->amplitude = ReadVector(course, "amplitude", kPositions);
    if (course.Has("frequency")) box.course->frequency = course["frequency"].Number({0, 1000});
    if (course.Has("phase")) box.course->phase = course["phase"].Number({-100, 100});
    if (course.Has("phase_degrees")) box.course->phase = Radians(course["phase_degrees"].Number({-3600, 3600}));
  }
  return box;
}

HeightField ReadHeightField(const JsonView& view) {
  view.AllowOnly({"name", "position", "orientation", "rotation", "spacing", "heights", "material"});
  HeightField field;
  field.name = view["name"].Name();
  field.position = ReadVector(view, "position", kPositions);
  field.orientation = ReadOrientation(view);
  if (AngleBetween(field.orientation, Heading(field.orientation)) > 1e-9) {
    view[view.Has("rotation") ? "rotation" : "orientation"].Expect("a turn about y");
  }
  field.spacing = view["spacing"].Number(kSizes);
  const std::vector<JsonView> rows = view["heights"].Elements(character::kMostGridLines);
  field.rows = static_cast<int>(rows.size());
  for (const JsonView& row : rows) {
    const std::vector<double> heights = row.Numbers({-100, 100}, character::kMostGridLines);
    if (&row == &rows.front()) field.columns = static_cast<int>(heights.size());
    if (heights.size() != static_cast<size_t>(field.columns)) {
      row.Expect(std::to_string(field.columns).append(" numbers, as in the first row"));
    }
    field.heights.insert(field.heights.end(), heights.begin(), heights.end());
  }
  if (field.rows < 2 || field.columns < 2) view["heights"].Expect("at least 2 rows of at least 2 heights");
  field.material = ReadMaterial(view);
  return field;
}

OrientedShape ReadTurnedShape(const JsonView& view) {
  view.AllowOnly({"box", "sphere", "capsule", "position", "orientation", "rotation"});
  OrientedShape turned;
  turned.shape = ReadShape(view);
  turned.shape.offset = ReadVector(view, "position", kPositions);
  turned.orientation = ReadOrientation(view);
  return turned;
}

/// Inertia of a body about its origin, from that of its axes' principal moments, moved by `offset`.
Mat3 TensorAbout(const Vec3& moments, const Quat& orientation, double mass, const Vec3& offset) {
  const Mat3 r = orientation.toRotationMatrix();
  return r * moments.asDiagonal() * r.transpose() +
         mass * (offset.squaredNorm() * Mat3::Identity() - offset * offset.transpose());
}

double TotalVolume(const FreeBody& body) {
  double volume = 0;
  for (const OrientedShape& turned : body.AllShapes()) volume += Volume(turned.shape);
  return volume;
}

/// The frame of a compound body of even density moves to its center of mass, and its tensor follows. Returns that
/// center in the frame that it had.
Vec3 CenterCompound(FreeBody& body) {
  const double density = body.mass / TotalVolume(body);
  Vec3 center = Vec3::Zero();
  for (const OrientedShape& turned : body.shapes) center += density * Volume(turned.shape) * turned.shape.offset;
  center /= body.mass;
  body.tensor.setZero();
  for (OrientedShape& turned : body.shapes) {
    turned.shape.offset -= center;
    FreeBody alone;
    alone.shape = turned.shape;
    alone.mass = density * Volume(turned.shape);
    body.tensor += TensorAbout(alone.Inertia(), turned.orientation, alone.mass, turned.shape.offset);
  }
  body.tensor = 0.5 * (body.tensor + body.tensor.transpose()).eval();
  return center;
}

/// Whether it is the tensor of a real body: principal moments above 0, none above the sum of the others.
bool IsReal(const Mat3& tensor) {
  if (!(tensor.cwiseAbs().maxCoeff() <= character::kProducts.max)) return false;
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(tensor).eigenvalues();
  return moments.minCoeff() >= character::kMoments.min && 2 * moments.maxCoeff() <= (1 + 1e-9) * moments.sum();
}

/// What follows from the numbers of a file must be in the ranges of these, so that it can be written and read again.
void CheckCompound(const JsonView& view, const FreeBody& body) {
  double farthest = body.position.cwiseAbs().maxCoeff();
  for (const OrientedShape& turned : body.shapes) {
    farthest = std::max(farthest, turned.shape.offset.cwiseAbs().maxCoeff());
  }
  if (!(farthest <= kPositions.max)) {
    view["shapes"].Fail("shapes or a center of mass " + io::Number(farthest) + " m away", "at most 10000 m");
  }
  const double fastest = body.linear_velocity.cwiseAbs().maxCoeff();
  if (!(fastest <= kVelocities.max)) {
    view["shapes"].Fail("a center of mass with " + io::Number(fastest) + " m/s", "at most 10000 m/s");
  }
  if (!IsReal(body.tensor)) {
    view["shapes"].Fail("a body whose moments of inertia cannot be simulated",
                        "principal moments of " + io::Real{character::kMoments}.Legal() + " kg m^2");
  }
}

/// xx, yy, zz, xy, xz, yz.
Mat3 ReadTensor(const JsonView& view) {
  const std::vector<double> i = view.Numbers(character::kProducts, 6);
  if (i.size() != 6) view.Expect("six numbers: xx, yy, zz, xy, xz, yz");
  Mat3 tensor;
  tensor << i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2];
  if (!IsReal(tensor)) {
    view.Expect("the tensor of a real body: principal moments above 0, none above the sum of the others");
  }
  return tensor;
}

FreeBody ReadBody(const JsonView& view) {
  view.AllowOnly({"name", "box", "sphere", "capsule", "shapes", "inertia", "mass", "density", "position", "orientation",
                  "rotation", "linear_velocity", "angular_velocity", "material"});
  FreeBody body;
  body.name = view["name"].Name();
  if (view.Has("shapes")) {
    for (const char* other : {"box", "sphere", "capsule"}) {
      if (view.Has(other)) view[other].Fail("it beside \"shapes\"", "one of the two");
    }
    for (const JsonView& shape : view["shapes"].Elements(character::kMostShapes)) {
      body.shapes.push_back(ReadTurnedShape(shape));
    }
    if (body.shapes.empty()) view["shapes"].Expect("at least one shape");
  } else {
    if (view.Has("inertia")) view["inertia"].Fail("it without \"shapes\"", "it of a compound body alone");
    body.shape = ReadShape(view);
  }
  if (view.Has("mass") == view.Has("density")) view.Expect("either \"mass\" or \"density\"");
  if (view.Has("mass")) {
    body.mass = view["mass"].Number(character::kMasses);
  } else {
    body.mass = view["density"].Number(kDensities) * TotalVolume(body);
    if (!character::kMasses.Contains(body.mass)) {
      view["density"].Fail("a body of " + io::Number(body.mass) + " kg",
                           "one of " + io::Real{character::kMasses}.Legal() + " kg");
    }
  }
  body.position = view["position"].Vector(kPositions);
  body.orientation = ReadOrientation(view);
  body.linear_velocity = ReadVector(view, "linear_velocity", kVelocities);
  body.angular_velocity = ReadVector(view, "angular_velocity", kVelocities);
  body.material = ReadMaterial(view);
  if (view.Has("inertia")) {
    body.tensor = ReadTensor(view["inertia"]);
    if (!view.Has("mass")) view["inertia"].Fail("it beside \"density\"", "\"mass\" beside it");
  } else if (body.compound()) {
    const Vec3 center = body.orientation * CenterCompound(body);
    body.position += center;
    body.linear_velocity += body.angular_velocity.cross(center);
    CheckCompound(view, body);
  }
  return body;
}

/// Height at which the vertical through a position leaves a box upwards, or minus infinity.
double TopOf(const Box& box, double x, double z, double from) {
  const Quat turned = box.orientation.conjugate();
  const Vec3 origin = turned * Vec3(Vec3(x, 0, z) - box.position);
  const Vec3 up = turned * Vec3::UnitY();
  double enter = -std::numeric_limits<double>::infinity();
  double leave = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k) {
    const double half = 0.5 * box.size[k];
    if (std::abs(up[k]) < 1e-12) {
      if (std::abs(origin[k]) > half) return -std::numeric_limits<double>::infinity();
      continue;
    }
    const double a = (-half - origin[k]) / up[k];
    const double b = (half - origin[k]) / up[k];
    enter = std::max(enter, std::min(a, b));
    leave = std::min(leave, std::max(a, b));
  }
  return enter <= leave && enter <= from ? leave : -std::numeric_limits<double>::infinity();
}

double HeightOf(const HeightField& field, double x, double z) {
  const Vec3 local = field.orientation.conjugate() * Vec3(Vec3(x, 0, z) - field.position);
  const double u = local.x() / field.spacing + 0.5 * (field.columns - 1);
  const double v = local.z() / field.spacing + 0.5 * (field.rows - 1);
  if (!(u >= 0 && v >= 0 && u <= field.columns - 1 && v <= field.rows - 1)) {
    return -std::numeric_limits<double>::infinity();
  }
  const int column = std::min(static_cast<int>(u), field.columns - 2);
  const int row = std::min(static_cast<int>(v), field.rows - 2);
  const double* at = field.heights.data() + static_cast<ptrdiff_t>(row) * field.columns + column;
  const double s = u - column, t = v - row;
  const double corner = at[0], far = at[field.columns + 1];
  const double side = s > t ? at[1] : at[field.columns];
  const double height =
      s > t ? corner + s * (side - corner) + t * (far - side) : corner + t * (side - corner) + s * (far - side);
  return field.position.y() + height;
}

}  // namespace

Vec3 Course::At(double time) const {
  return velocity * time + amplitude * (std::sin(2 * kPi * frequency * time + phase) - std::sin(phase));
}

Vec3 Course::VelocityAt(double time) const {
  const double rate = 2 * kPi * frequency;
  return velocity + amplitude * (rate * std::cos(rate * time + phase));
}

Vec3 Course::AccelerationAt(double time) const {
  const double rate = 2 * kPi * frequency;
  return amplitude * (-rate * rate * std::sin(rate * time + phase));
}

double Volume(const Shape& shape) {
  if (shape.kind == Shape::Kind::kBox) return shape.size.prod();
  return kPi * shape.radius * shape.radius * (shape.length + 4.0 / 3 * shape.radius);
}

std::vector<OrientedShape> FreeBody::AllShapes() const {
  if (compound()) return shapes;
  return {{shape, Quat::Identity()}};
}

Vec3 FreeBody::Inertia() const {
  if (shape.kind == Shape::Kind::kBox) {
    const Vec3 s = shape.size.cwiseAbs2();
    return mass / 12 * Vec3(s.y() + s.z(), s.z() + s.x(), s.x() + s.y());
  }
  const double r = shape.radius, l = shape.length;
  const double whole = l + 4.0 / 3 * r;
  const double cylinder = mass * l / whole;
  const double caps = mass - cylinder;
  const double along = 0.5 * cylinder * r * r + 0.4 * caps * r * r;
  // Each half ball's center is 3/8 r from its flat side.
  const double across = cylinder * (0.25 * r * r + l * l / 12) + caps * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r);
  Vec3 inertia = Vec3::Constant(across);
  inertia[shape.axis] = along;
  return inertia;
}

bool Environment::empty() const {
  return ground == Ground{} && boxes.empty() && !height_field && bodies.empty();
}

const std::string& Environment::ObjectName(size_t object) const {
  if (object < boxes.size()) return boxes[object].name;
  object -= boxes.size();
  if (height_field) {
    if (object == 0) return height_field->name;
    --object;
  }
  return bodies.at(object).name;
}

double Environment::HeightAt(double x, double z, double from) const {
  double height = ground.present ? ground.height : -std::numeric_limits<double>::infinity();
  for (const Box& box : boxes) height = std::max(height, TopOf(box, x, z, from));
  if (height_field) height = std::max(height, HeightOf(*height_field, x, z));
  return height;
}

double Environment::TopBelow(double x, double z, double limit) const {
  double height = ground.present ? ground.height : -std::numeric_limits<double>::infinity();
  for (const Box& box : boxes) {
    const double top = TopOf(box, x, z, limit);
    if (top <= limit) height = std::max(height, top);
  }
  if (height_field) height = std::max(height, HeightOf(*height_field, x, z));
  return height;
}

void Environment::AppendStart(character::State& state) const {
  for (const FreeBody& body : bodies) {
    state.push_back({body.position, body.orientation, body.linear_velocity, body.angular_velocity});
  }
}

void Environment::Place(const Quat& heading, const Vec3& offset) {
  const auto move = [&](Vec3& position) { position = heading * position + offset; };
  const auto turn = [&](Quat& orientation) { orientation = (heading * orientation).normalized(); };
  ground.height += offset.y();
  for (Box& box : boxes) {
    move(box.position);
    turn(box.orientation);
    if (!box.course) continue;
    box.course->velocity = heading * box.course->velocity;
    box.course->amplitude = heading * box.course->amplitude;
  }
  if (height_field) {
    move(height_field->position);
    turn(height_field->orientation);
  }
  for (FreeBody& body : bodies) {
    move(body.position);
    turn(body.orientation);
    body.linear_velocity = heading * body.linear_velocity;
    body.angular_velocity = heading * body.angular_velocity;
  }
}

Json Environment::ToJson() const {
  Json json = Json::object();
  if (ground != Ground{}) {
    json["ground"] = {{"present", ground.present}, {"height", ground.height}};
    AddMaterial(ground.material, json["ground"]);
  }
  for (const Box& box : boxes) {
    Json entry = {{"name", box.name},
                  {"size", io::ToJson(box.size)},
                  {"position", io::ToJson(box.position)},
                  {"orientation", io::ToJson(box.orientation)}};
    AddMaterial(box.material, entry);
    if (box.course) {
      entry["course"] = {{"velocity", io::ToJson(box.course->velocity)},
                         {"amplitude", io::ToJson(box.course->amplitude)},
                         {"frequency", box.course->frequency},
                         {"phase", box.course->phase}};
    }
    json["boxes"].push_back(entry);
  }
  if (height_field) {
    const HeightField& field = *height_field;
    Json rows = Json::array();
    for (int r = 0; r < field.rows; ++r) {
      const auto begin = field.heights.begin() + static_cast<ptrdiff_t>(r) * field.columns;
      rows.push_back(std::vector<double>(begin, begin + field.columns));
    }
    Json entry = {{"name", field.name},
                  {"position", io::ToJson(field.position)},
                  {"orientation", io::ToJson(field.orientation)},
                  {"spacing", field.spacing},
                  {"heights", rows}};
    AddMaterial(field.material, entry);
    json["height_field"] = entry;
  }
  for (const FreeBody& body : bodies) {
    Json entry = {{"name", body.name}};
    if (body.compound()) {
      for (const OrientedShape& turned : body.shapes) {
        Json& shape = entry["shapes"].emplace_back(simulation::ToJson(turned.shape));
        shape["position"] = io::ToJson(turned.shape.offset);
        shape["orientation"] = io::ToJson(turned.orientation);
      }
      const Mat3& i = body.tensor;
      entry["inertia"] = {i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)};
    } else {
      entry.update(simulation::ToJson(body.shape));
    }
    entry["mass"] = body.mass;
    entry["position"] = io::ToJson(body.position);
    entry["orientation"] = io::ToJson(body.orientation);
    if (body.linear_velocity != Vec3::Zero()) entry["linear_velocity"] = io::ToJson(body.linear_velocity);
    if (body.angular_velocity != Vec3::Zero()) entry["angular_velocity"] = io::ToJson(body.angular_velocity);
    AddMaterial(body.material, entry);
    json["bodies"].push_back(entry);
  }
  return json;
}

Environment ReadEnvironment(const JsonView& view) {
  view.AllowOnly({"ground", "boxes", "height_field", "bodies"});
  Environment environment;
  std::set<std::string> names;
  const auto check_name = [&](const JsonView& entry) {
    const std::string name = entry["name"].Name();
    if (name == "ground") entry["name"].Expect("another name than \"ground\"");
    if (!names.insert(name).second) entry["name"].Expect("a name that nothing else has");
  };
  if (view.Has("ground")) environment.ground = ReadGround(view["ground"]);
  if (view.Has("boxes")) {
    for (const JsonView& entry : view["boxes"].Elements(character::kMostObjects)) {
      environment.boxes.push_back(ReadBox(entry));
      check_name(entry);
    }
  }
  if (view.Has("height_field")) {
    environment.height_field = ReadHeightField(view["height_field"]);
    check_name(view["height_field"]);
  }
  if (view.Has("bodies")) {
    for (const JsonView& entry : view["bodies"].Elements(character::kMostObjects)) {
      environment.bodies.push_back(ReadBody(entry));
      check_name(entry);
    }
  }
  return environment;
}

}  // namespace retrace::simulation
