#include "retrace/recordings/opensim.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>
#include <vector>

#include "line_reader.h"
#include "missing_segments.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "rigid_fit.h"

namespace retrace::recordings {
namespace {

constexpr size_t kMostBodies = 500;
constexpr size_t kMostKnots = 10000;
constexpr size_t kMostColumns = 5000;
constexpr size_t kMostCells = 100'000'000;

/// Numbers of a text with blanks between; nothing where something else is among them.
std::optional<std::vector<double>> NumbersIn(std::string_view text) {
  std::vector<double> numbers;
  constexpr std::string_view kBlanks = " \t\r\n,";
  for (size_t begin = text.find_first_not_of(kBlanks); begin < text.size();) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    double number = 0;
    if (!io::ParseNumber(text.substr(begin, end - begin), number)) return std::nullopt;
    if (numbers.size() == kMostKnots) return std::nullopt;
    numbers.push_back(number);
    begin = text.find_first_not_of(kBlanks, end);
  }
  return numbers;
}

/// A function of one coordinate.
class Curve {
 public:
  enum class Kind { kPolynomial, kLinear, kSpline, kPiecewiseConstant, kStep, kSine };

  double At(double x) const {
    if (kind == Kind::kPolynomial) {
      double y = 0;
      for (const double c : values) y = y * x + c;
      return factor * y;
    }
    if (kind == Kind::kSine) return factor * (values[0] * std::sin(values[1] * x + values[2]) + values[3]);
    if (kind == Kind::kStep) {  // from the first value at the first knot to the second one at the second
      const double t = std::clamp((x - knots[0]) / (knots[1] - knots[0]), 0.0, 1.0);
      return factor * (values[0] + (values[1] - values[0]) * t * t * t * (10 + t * (6 * t - 15)));
    }
    if (kind == Kind::kPiecewiseConstant) {
      const auto after = std::upper_bound(knots.begin(), knots.end(), x);
      return factor * values[static_cast<size_t>(std::max<std::ptrdiff_t>(after - knots.begin(), 1) - 1)];
    }
    if (knots.size() == 1) return factor * values[0];
    auto after = std::upper_bound(knots.begin(), knots.end(), x);
    size_t i = static_cast<size_t>(after - knots.begin());
    i = std::clamp<size_t>(i, 1, knots.size() - 1);
    const double h = knots[i] - knots[i - 1], t = (x - knots[i - 1]) / h;
    double y = (1 - t) * values[i - 1] + t * values[i];
    const bool inside = t >= 0 && t <= 1;
    if (kind == Kind::kSpline) {  // with the second derivatives; straight on outside
      const double a = second[i - 1], b = second[i], hh = h * h / 6;
      if (inside) {
        y += hh * ((std::pow(1 - t, 3) - (1 - t)) * a + (t * t * t - t) * b);
      } else if (t < 0) {
        y = values[i - 1] + (x - knots[i - 1]) * ((values[i] - values[i - 1]) / h - h / 6 * (2 * a + b));
      } else {
        y = values[i] + (x - knots[i]) * ((values[i] - values[i - 1]) / h + h / 6 * (a + 2 * b));
      }
    }
    return factor * y;
  }

  /// Second derivatives of a cubic spline through the knots. At its ends it has no curvature (a natural spline), or, as
  /// SIMM has it, the third derivative of the cubic through the four outermost knots (Forsythe, Malcolm and Moler 1977,
  /// section 4.4).
  void Prepare(bool natural) {
    const size_t n = knots.size();
    second.assign(n, 0);
    if (n < 3) return;
    const auto width = [&](size_t i) { return knots[i + 1] - knots[i]; };
    const auto slope = [&](size_t i) { return (values[i + 1] - values[i]) / width(i); };
    std::vector<double> diagonal(n), right(n);
    for (size_t i = 1; i + 1 < n; ++i) {
      diagonal[i] = 2 * (width(i - 1) + width(i));
      right[i] = slope(i) - slope(i - 1);
    }
    diagonal[0] = natural ? 1 : -width(0);
    diagonal[n - 1] = natural ? 1 : -width(n - 2);
    right[0] = right[n - 1] = 0;
    if (!natural && n > 3) {
      const auto third = [&](size_t i) {
        return (right[i + 1] / (knots[i + 2] - knots[i]) - right[i] / (knots[i + 1] - knots[i - 1])) /
               (knots[i + 2] - knots[i - 1]);
      };
      right[0] = third(1) * width(0) * width(0);
      right[n - 1] = -third(n - 3) * width(n - 2) * width(n - 2);
    }
    const auto beside = [&](size_t i) { return natural && (i == 0 || i == n - 2) ? 0 : width(i); };
    for (size_t i = 1; i < n; ++i) {
      // A natural end is given: it takes part in no elimination.
      const double t = beside(i - 1) / diagonal[i - 1];
      diagonal[i] -= t * beside(i - 1);
      right[i] -= t * right[i - 1];
    }
    second[n - 1] = right[n - 1] / diagonal[n - 1];
    for (size_t i = n - 1; i-- > 0;) second[i] = (right[i] - beside(i) * second[i + 1]) / diagonal[i];
    for (double& value : second) value *= 6;
  }

  Kind kind = Kind::kPolynomial;
  std::vector<double> knots, values, second;
  double factor = 1;
};

/// One of the six parts of a joint's transform.
struct Part {
  int coordinate = -1;  ///< -1: it is constant
  Vec3 axis = Vec3::UnitX();
  Curve curve;
};

/// One coordinate as a function of another.
struct Coupling {
  int dependent = -1;
  int independent = -1;
  Curve curve;
};

struct Coordinate {
  std::string name;
  double value = 0;  ///< by default
  bool turns = false;
  bool follows = false;  ///< is locked, or given by others: no motion needs to have it
};

struct Place {
  Vec3 at = Vec3::Zero();
  Quat turn = Quat::Identity();

  Place operator*(const Place& other) const { return {at + turn * other.at, (turn * other.turn).normalized()}; }
  Place Inverse() const { return {-(turn.conjugate() * at), turn.conjugate()}; }
};

struct ModelJoint {
  std::string name;
  std::string parent;  ///< bodies
  std::string child;
  Place in_parent;
  Place in_child;
  /// What moves the child besides the parts: the turn leads it along something.
  enum class Guide { kNone, kArc, kEllipsoid, kThorax } guide = Guide::kNone;
  Vec3 radii = Vec3::Ones();    ///< of the ellipsoid [m]
  double length = 0;            ///< of the arc [m]
  Vec3 neutral = Vec3::Zero();  ///< angles of the arc where its coordinates are 0: about x, z and y [rad]
  Vec3 winging_axis = Vec3::UnitY();
  Vec3 winging_origin = Vec3::Zero();  ///< [m]
  int winging = -1;                    ///< coordinate
  Part
      parts[6];  ///< three rotations, one after the other in the turned frame; three translations in the parent's frame
};

/// A marker on a body of the model.
struct ModelMarker {
  std::string name;
  size_t joint = 0;  ///< of the body
  Vec3 place = Vec3::Zero();
};

class Model {
 public:
  Model(std::string_view text, const std::string& name) : name_(name) {
    const pugi::xml_parse_result result = document_.load_buffer(text.data(), text.size());
    if (!result) {
      throw InputError(name + ", byte " + std::to_string(result.offset), result.description(), "a model of OpenSim");
    }
    const pugi::xml_node model = document_.child("OpenSimDocument").child("Model");
    if (!model) throw InputError(name, "no OpenSimDocument with a Model", "a model of OpenSim");
    for (const pugi::xml_node body : model.child("BodySet").child("objects").children("Body")) {
      for (const pugi::xml_node joint : body.child("Joint").children()) {  // OpenSim 3
        if (joint.type() == pugi::node_element) Add(joint, body.attribute("name").value());
      }
    }
    for (const pugi::xml_node joint : model.child("JointSet").child("objects").children()) {
      if (joint.type() == pugi::node_element) Add(joint, "");
    }
    if (joints_.empty()) throw InputError(name, "no joints", "a model of OpenSim with joints");
    for (const pugi::xml_node constraint :
         model.child("ConstraintSet").child("objects").children("CoordinateCouplerConstraint")) {
      AddCoupling(constraint);
    }
    Order();
    for (const pugi::xml_node body : model.child("BodySet").child("objects").children("Body")) AddMass(body);
    for (const pugi::xml_node marker : model.child("MarkerSet").child("objects").children("Marker")) AddMarker(marker);
  }

  const std::vector<ModelJoint>& joints() const { return joints_; }
  const std::vector<Coordinate>& coordinates() const { return coordinates_; }
  const std::vector<Coupling>& couplings() const { return couplings_; }
  /// In the body's frame, about its center of mass (joints).
  const std::vector<motion::StatedMass>& masses() const { return masses_; }

  /// Places of the bodies in the ground, in the order of their joints.
  std::vector<Place> BodiesAt(const std::vector<double>& values) const {
    std::vector<Place> bodies;
    for (size_t j = 0; j < joints_.size(); ++j) {
      const ModelJoint& joint = joints_[j];
      const Place moved = Moved(joint, values);
      const Place parent = parents_[j] < 0 ? Place() : bodies[static_cast<size_t>(parents_[j])];
      bodies.push_back(parent * joint.in_parent * moved * joint.in_child.Inverse());
    }
    return bodies;
  }
  int parent(size_t joint) const { return parents_[joint]; }
  const std::vector<ModelMarker>& markers() const { return markers_; }

 private:
  static Place Moved(const ModelJoint& joint, const std::vector<double>& values) {
    double amounts[6];
    for (int p = 0; p < 6; ++p) {
      const Part& part = joint.parts[p];
      amounts[p] = part.curve.At(part.coordinate < 0 ? 0 : values[static_cast<size_t>(part.coordinate)]);
    }
    if (joint.guide == ModelJoint::Guide::kArc) return AlongArc(joint, {amounts[0], amounts[1], amounts[2]});
    Place moved;
    for (int p = 0; p < 3; ++p) {
      moved.turn = moved.turn * FromRotationVector(amounts[p] * joint.parts[p].axis);
      moved.at += amounts[3 + p] * joint.parts[3 + p].axis;
    }
    if (joint.guide == ModelJoint::Guide::kNone) return moved;
    moved.at += joint.radii.cwiseProduct(moved.turn * Vec3::UnitZ());  // where the z axis leaves the ellipsoid
    if (joint.guide == ModelJoint::Guide::kThorax) {
      const Quat winging = FromRotationVector(values[static_cast<size_t>(joint.winging)] * joint.winging_axis);
      moved = moved * Place{joint.winging_origin - winging * joint.winging_origin, winging};
    }
    return moved;
  }

  /// The end of an arc that begins along y and ends along the turned y axis (Werling: ConstantCurvatureJoint).
  static Place AlongArc(const ModelJoint& joint, const Vec3& angles) {
    const double most = kPi / 2 - 0.01;
    const Vec3 bent = (angles + joint.neutral).cwiseMax(-most).cwiseMin(most);
    Place moved;
    moved.turn = AxisRotation(0, bent.x()) * AxisRotation(2, bent.y()) * AxisRotation(1, bent.z());
    const Vec3 end = moved.turn * Vec3::UnitY();
    const double sine = std::hypot(end.x(), end.z());
    constexpr double kStraight = 1e-3;
    if (sine < kStraight || sine > 1 - kStraight) return {joint.length * end, moved.turn};
    const double angle = std::asin(sine), radius = joint.length / angle;
    const double aside = radius * (1 - std::cos(angle)) / sine;
    return {Vec3(aside * end.x(), radius * sine, aside * end.z()), moved.turn};
  }

  int CoordinateNamed(const pugi::xml_node& of, const std::string& name) const {
    for (size_t c = 0; c < coordinates_.size(); ++c) {
      if (coordinates_[c].name == name) return static_cast<int>(c);
    }
    Fail(of, "the coordinate \"" + name + "\"", "one of the model's");
  }

  void AddCoupling(const pugi::xml_node& constraint) {
    const bool off =
        TextOf(constraint.child("isEnforced")) == "false" || TextOf(constraint.child("isDisabled")) == "true";
    Coupling coupling;
    coupling.dependent = CoordinateNamed(constraint, LastWord(TextOf(constraint.child("dependent_coordinate_name"))));
    const std::string independent = LastWord(TextOf(constraint.child("independent_coordinate_names")));
    if (off) return;
    coordinates_[static_cast<size_t>(coupling.dependent)].follows = true;
    if (independent.find(' ') != std::string::npos) return;  // of several: it keeps its default
    coupling.independent = CoordinateNamed(constraint, independent);
    std::optional<Curve> curve;
    const pugi::xml_node function = constraint.child("coupled_coordinates_function");
    for (const pugi::xml_node child : function.children()) curve = curve ? curve : CurveOf(constraint, child, 0);
    if (!curve) return;
    if (const pugi::xml_node scale = constraint.child("scale_factor")) curve->factor *= Number(constraint, scale);
    coupling.curve = *curve;
    couplings_.push_back(coupling);
  }

  double Number(const pugi::xml_node& of, const pugi::xml_node& node) const {
    const auto numbers = NumbersIn(node.text().get());
    if (!numbers || numbers->size() != 1 || !(std::abs((*numbers)[0]) < 1e6)) {
      Fail(of, std::string("\"") + node.text().get() + "\" in " + node.name(), "a number");
    }
    return (*numbers)[0];
  }

  void AddMass(const pugi::xml_node& body) {
    const std::string name = body.attribute("name").value();
    for (size_t j = 0; j < joints_.size(); ++j) {
      if (joints_[j].child != name) continue;
      motion::StatedMass& stated = masses_[j];
      const auto number = [&](const pugi::xml_node& node) { return node ? Number(body, node) : 0.0; };
      stated.mass = number(body.child("mass"));
      if (!(stated.mass >= 0)) Fail(body, "a mass of " + io::Number(stated.mass), "0 or more");
      stated.center = Vector(body, body.child("mass_center"), Vec3::Zero());
      double six[6] = {};
      constexpr const char* kOld[] = {"inertia_xx", "inertia_yy", "inertia_zz",
                                      "inertia_xy", "inertia_xz", "inertia_yz"};
      for (int k = 0; k < 6; ++k) six[k] = number(body.child(kOld[k]));
      if (const pugi::xml_node node = body.child("inertia")) {
        const auto numbers = NumbersIn(node.text().get());
        if (!numbers || numbers->size() != 6) Fail(body, "another inertia", "six numbers");
        std::copy(numbers->begin(), numbers->end(), six);
      }
      stated.inertia << six[0], six[3], six[4], six[3], six[1], six[5], six[4], six[5], six[2];
      return;
    }
  }

  void AddMarker(const pugi::xml_node& marker) {
    const pugi::xml_node old = marker.child("body");  // OpenSim 3
    const std::string body = LastWord(TextOf(old ? old : marker.child("socket_parent_frame")));
    for (size_t j = 0; j < joints_.size(); ++j) {
      if (joints_[j].child != body) continue;
      if (markers_.size() == kMostColumns) Fail(marker, "another marker", "at most " + std::to_string(kMostColumns));
      markers_.push_back({marker.attribute("name").value(), j, Vector(marker, marker.child("location"), Vec3::Zero())});
      return;
    }
  }

  [[noreturn]] void Fail(const pugi::xml_node& joint, const std::string& found, const std::string& expected) const {
    const std::string type = joint.name();
    const char* const what = type == "Body"                 ? "body"
                             : type == "Marker"             ? "marker"
                             : type.ends_with("Constraint") ? "constraint"
                                                            : "joint";
    throw InputError(name_ + ": " + what + " " + joint.attribute("name").value(), found, expected);
  }

  Vec3 Vector(const pugi::xml_node& joint, const pugi::xml_node& node, const Vec3& missing) const {
    if (!node) return missing;
    const auto numbers = NumbersIn(node.text().get());
    if (!numbers || numbers->size() != 3 ||
        !(std::abs((*numbers)[0]) + std::abs((*numbers)[1]) + std::abs((*numbers)[2]) < 1e6)) {
      Fail(joint, std::string("\"") + node.text().get() + "\" in " + node.name(), "three numbers");
    }
    return {(*numbers)[0], (*numbers)[1], (*numbers)[2]};
  }

  /// Turned about x, the turned y and the twice turned z axis.
  static Quat Turned(const Vec3& angles) {
    return AxisRotation(0, angles.x()) * AxisRotation(1, angles.y()) * AxisRotation(2, angles.z());
  }

  Place PlaceOf(const pugi::xml_node& joint, const pugi::xml_node& at, const pugi::xml_node& turn) const {
    return {Vector(joint, at, Vec3::Zero()), Turned(Vector(joint, turn, Vec3::Zero()))};
  }

  /// The text of a node, without the space around it that older models have.
  static std::string TextOf(const pugi::xml_node& node) {
    const std::string_view text = node.text().get();
    constexpr const char* kSpace = " \t\r\n";
    const size_t first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return "";
    return std::string(text.substr(first, text.find_last_not_of(kSpace) + 1 - first));
  }

  static std::string LastWord(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
  }

  /// The body behind the socket of a joint of OpenSim 4, and the position of the joint in it.
  std::string Behind(const pugi::xml_node& joint, const char* socket, Place& place) const {
    std::string frame = LastWord(TextOf(joint.child(socket)));
    for (const pugi::xml_node offset : joint.child("frames").children("PhysicalOffsetFrame")) {
      if (frame != offset.attribute("name").value()) continue;
      place = PlaceOf(joint, offset.child("translation"), offset.child("orientation"));
      return LastWord(TextOf(offset.child("socket_parent")));
    }
    return frame;
  }

  void Add(const pugi::xml_node& node, const std::string& body) {
    if (joints_.size() == kMostBodies) {
      throw InputError(name_, "more than " + std::to_string(kMostBodies) + " joints", "a model of a body");
    }
    ModelJoint joint;
    joint.name = node.attribute("name").value();
    if (body.empty()) {
      joint.parent = Behind(node, "socket_parent_frame", joint.in_parent);
      joint.child = Behind(node, "socket_child_frame", joint.in_child);
    } else {
      joint.child = body;
      joint.parent = TextOf(node.child("parent_body"));
      joint.in_parent = PlaceOf(node, node.child("location_in_parent"), node.child("orientation_in_parent"));
      joint.in_child = PlaceOf(node, node.child("location"), node.child("orientation"));
    }
    if (joint.parent.empty() || joint.child.empty()) Fail(node, "no two bodies", "those that it joins");
    std::vector<int> own;
    const pugi::xml_node list = body.empty() ? node.child("coordinates") : node.child("CoordinateSet").child("objects");
    for (const pugi::xml_node coordinate : list.children("Coordinate")) {
      own.push_back(static_cast<int>(coordinates_.size()));
      if (coordinates_.size() == 6 * kMostBodies) Fail(node, "another coordinate", "a model of a body");
      Coordinate& to = coordinates_.emplace_back();
      to.name = coordinate.attribute("name").value();
      if (const pugi::xml_node value = coordinate.child("default_value")) {
        const auto number = NumbersIn(value.text().get());
        if (!number || number->size() != 1) Fail(node, "a default value that is no number", "a number");
        to.value = (*number)[0];
      }
      to.follows = TextOf(coordinate.child("locked")) == "true";
    }
    AddParts(node, own, joint);
    for (int p = 0; p < 3; ++p) {
      if (joint.parts[p].coordinate >= 0) coordinates_[static_cast<size_t>(joint.parts[p].coordinate)].turns = true;
    }
    joints_.push_back(std::move(joint));
  }

  static Curve Itself() {
    Curve curve;
    curve.values = {1, 0};
    return curve;
  }

  void AddParts(const pugi::xml_node& node, const std::vector<int>& own, ModelJoint& joint) const {
    for (int p = 0; p < 6; ++p) {
      joint.parts[p].axis = Vec3::Unit(p % 3);
      joint.parts[p].curve.values = {0};
    }
    const std::string type = node.name();
    if (type == "CustomJoint") {
      size_t p = 0;
      for (const pugi::xml_node axis : node.child("SpatialTransform").children("TransformAxis")) {
        if (p == 6) Fail(node, "a seventh axis", "six");
        joint.parts[p++] = PartOf(node, axis, own);
      }
      return;
    }
    // Which of the six a joint's coordinates are.
    static const std::map<std::string, std::vector<int>> kParts = {{"WeldJoint", {}},
                                                                   {"PinJoint", {2}},
                                                                   {"SliderJoint", {3}},
                                                                   {"UniversalJoint", {0, 1}},
                                                                   {"BallJoint", {0, 1, 2}},
                                                                   {"GimbalJoint", {0, 1, 2}},
                                                                   {"PlanarJoint", {2, 3, 4}},
                                                                   {"FreeJoint", {0, 1, 2, 3, 4, 5}},
                                                                   {"EllipsoidJoint", {0, 1, 2}},
                                                                   {"ConstantCurvatureJoint", {0, 1, 2}},
                                                                   {"ScapulothoracicJoint", {0, 1, 2, 3}}};
    const auto parts = kParts.find(type);
    if (parts == kParts.end()) {
      Fail(node, "a " + type,
           "a Custom, Pin, Slider, Ball, Gimbal, Universal, Planar, Free, Weld, Ellipsoid, ConstantCurvature or "
           "Scapulothoracic joint");
    }
    if (own.size() != parts->second.size()) {
      Fail(node, std::to_string(own.size()) + " coordinates", std::to_string(parts->second.size()));
    }
    for (size_t c = 0; c < own.size(); ++c) {
      Part& part = joint.parts[parts->second[c]];
      part.coordinate = own[c];
      part.curve = Itself();
    }
    if (type == "EllipsoidJoint") {
      joint.guide = ModelJoint::Guide::kEllipsoid;
      joint.radii = Vector(node, node.child("radii_x_y_z"), Vec3::Ones());
    } else if (type == "ConstantCurvatureJoint") {
      joint.guide = ModelJoint::Guide::kArc;
      joint.neutral = Vector(node, node.child("neutral_angle_x_z_y"), Vec3::Zero());
      joint.length = node.child("length") ? Number(node, node.child("length")) : 1;
    } else if (type == "ScapulothoracicJoint") {
      AddThorax(node, own[3], joint);
    }
  }

  /// Abduction about y, elevation about -x and upward rotation about z lead the shoulder blade over the ellipsoid of
  /// the thorax; it wings about an axis in its own xy plane (Seth et al. 2016).
  void AddThorax(const pugi::xml_node& node, int winging, ModelJoint& joint) const {
    joint.guide = ModelJoint::Guide::kThorax;
    joint.radii = Vector(node, node.child("thoracic_ellipsoid_radii_x_y_z"), Vec3::Ones());
    joint.parts[0].axis = Vec3::UnitY();
    joint.parts[1].axis = -Vec3::UnitX();
    joint.parts[3] = joint.parts[4];  // constant: the winging turns what the three have turned
    joint.winging = winging;
    if (const pugi::xml_node origin = node.child("scapula_winging_axis_origin")) {
      const auto numbers = NumbersIn(origin.text().get());
      if (!numbers || numbers->size() != 2) Fail(node, "another scapula_winging_axis_origin", "two numbers");
      joint.winging_origin = {(*numbers)[0], (*numbers)[1], 0};
    }
    const pugi::xml_node direction = node.child("scapula_winging_axis_direction");
    const double angle = direction ? Number(node, direction) : 0;
    joint.winging_axis = {-std::sin(angle), std::cos(angle), 0};
  }

  Part PartOf(const pugi::xml_node& joint, const pugi::xml_node& axis, const std::vector<int>& own) const {
    Part part;
    part.axis = Vector(joint, axis.child("axis"), Vec3::UnitX());
    if (!(part.axis.norm() > 1e-9)) Fail(joint, "an axis of no length", "a direction");
    part.axis.normalize();
    const std::string name = TextOf(axis.child("coordinates"));
    for (const int c : own) {
      if (coordinates_[static_cast<size_t>(c)].name == name) part.coordinate = c;
    }
    if (!name.empty() && part.coordinate < 0) Fail(joint, "the coordinate \"" + name + "\"", "one of its own");
    std::optional<Curve> curve;
    for (const pugi::xml_node child : axis.children()) {  // OpenSim 3 has it inside <function>
      if (std::string(child.name()) == "function") {
        for (const pugi::xml_node inner : child.children()) curve = curve ? curve : CurveOf(joint, inner, 0);
      } else {
        curve = curve ? curve : CurveOf(joint, child, 0);
      }
    }
    part.curve = curve ? *curve : part.coordinate < 0 ? Zero() : Itself();
    return part;
  }

  static Curve Zero() {
    Curve curve;
    curve.values = {0};
    return curve;
  }

  /// Nothing for what is no function.
  std::optional<Curve> CurveOf(const pugi::xml_node& joint, const pugi::xml_node& node, int depth) const {
    const std::string type = node.name();
    const auto numbers = [&](const char* child) {
      const auto values = NumbersIn(node.child(child).text().get());
      if (!values || values->empty()) {
        Fail(joint, std::string("no numbers in ") + child + " of a " + type, "at least one");
      }
      return *values;
    };
    Curve curve;
    if (type == "Constant") {
      curve.values = node.child("value") ? numbers("value") : std::vector<double>{0};
      if (curve.values.size() != 1) Fail(joint, "several values", "one");
      return curve;
    }
    if (type == "LinearFunction" || type == "PolynomialFunction") {
      curve.values = numbers("coefficients");
      return curve;
    }
    if (type == "SimmSpline" || type == "NaturalCubicSpline" || type == "GCVSpline" ||
        type == "PiecewiseLinearFunction") {
      curve.kind = type == "PiecewiseLinearFunction" ? Curve::Kind::kLinear : Curve::Kind::kSpline;
      curve.knots = numbers("x");
      curve.values = numbers("y");
      if (curve.knots.size() != curve.values.size()) Fail(joint, "knots without values", "as many x as y");
      for (size_t i = 1; i < curve.knots.size(); ++i) {
        if (!(curve.knots[i] - curve.knots[i - 1] > 1e-12))
          Fail(joint, "knots that do not grow", "each above the one before");
      }
      curve.Prepare(type != "SimmSpline");
      return curve;
    }
    if (type == "PiecewiseConstantFunction") {
      curve.kind = Curve::Kind::kPiecewiseConstant;
      curve.knots = numbers("x");
      curve.values = numbers("y");
      if (curve.knots.size() != curve.values.size()) Fail(joint, "knots without values", "as many x as y");
      return curve;
    }
    const auto number = [&](const char* child, double missing) {
      return node.child(child) ? Number(joint, node.child(child)) : missing;
    };
    if (type == "StepFunction") {
      curve.kind = Curve::Kind::kStep;
      curve.knots = {number("start_time", 0), number("end_time", 1)};
      curve.values = {number("start_value", 0), number("end_value", 1)};
      if (!(curve.knots[1] > curve.knots[0])) Fail(joint, "a step that ends before it begins", "one that goes on");
      return curve;
    }
    if (type == "Sine") {
      curve.kind = Curve::Kind::kSine;
      curve.values = {number("amplitude", 1), number("omega", 1), number("phase", 0), number("offset", 0)};
      return curve;
    }
    if (type == "MultiplierFunction" && depth < 8) {
      for (const pugi::xml_node child : node.child("function").children()) {
        if (std::optional<Curve> inner = CurveOf(joint, child, depth + 1)) {
          const std::vector<double> scale = node.child("scale") ? numbers("scale") : std::vector<double>{1};
          inner->factor *= scale[0];
          return inner;
        }
      }
      Fail(joint, "a multiplier of nothing", "a function");
    }
    if (type.ends_with("Function") || type.ends_with("Spline")) Fail(joint, "a " + type, "another function");
    return std::nullopt;
  }

  /// Parents first.
  void Order() {
    std::vector<ModelJoint> ordered;
    std::map<std::string, int> place = {{"ground", -1}};
    std::vector<ModelJoint> rest = std::move(joints_);
    while (!rest.empty()) {
      const size_t before = rest.size();
      for (size_t j = 0; j < rest.size();) {
        const auto parent = place.find(rest[j].parent);
        if (parent == place.end() || place.contains(rest[j].child)) {
          ++j;
          continue;
        }
        parents_.push_back(parent->second);
        place[rest[j].child] = static_cast<int>(ordered.size());
        ordered.push_back(std::move(rest[j]));
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
      }
      if (rest.size() == before) {
        throw InputError(name_ + ": joint " + rest[0].name,
                         "the body \"" + rest[0].parent + "\" before \"" + rest[0].child + "\"",
                         "a chain of joints from ground, with one joint for each body");
      }
    }
    joints_ = std::move(ordered);
    masses_.resize(joints_.size());
  }

  const std::string& name_;
  pugi::xml_document document_;
  std::vector<ModelJoint> joints_;
  std::vector<int> parents_;  // of the joints' bodies, among the joints; -1: ground
  std::vector<Coordinate> coordinates_;
  std::vector<Coupling> couplings_;
  std::vector<motion::StatedMass> masses_;  // (joints)
  std::vector<ModelMarker> markers_;
};

/// Columns of a motion file.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<double>> rows;
  bool degrees = false;
  bool unit_stated = false;  ///< of angles
};

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& name) : lines_(text, name) {}

  Table Read() {
    Table table;
    std::string_view line;
    do {
      if (!lines_.Next(line)) Fail(1, "the end of the file", "a line endheader");
    } while (ReadHeaderLine(line, table));
    do {
      if (!lines_.Next(line)) Fail(1, "the end of the file", "names of columns");
    } while (line.find_first_not_of(" \t") == std::string_view::npos);
    size_t begin = 0;
    for (std::string_view word = Word(line, begin); !word.empty(); word = Word(line, begin)) {
      if (table.names.size() == kMostColumns) Fail(begin, "another column", "at most " + std::to_string(kMostColumns));
      std::string column(word);
      if (column.ends_with("/value")) column.resize(column.size() - 6);
      const size_t slash = column.rfind('/');
      if (slash != std::string::npos && word.ends_with("/value")) column.erase(0, slash + 1);
      table.names.push_back(std::move(column));
    }
    if (table.names.empty() || table.names[0] != "time") Fail(1, "another first column", "time");
    if (columns_ && *columns_ != table.names.size()) {
      Fail(1, std::to_string(table.names.size()) + " names of columns",
           std::to_string(*columns_) + ", as nColumns says");
    }
    while (lines_.Next(line)) {
      begin = 0;
      std::string_view word = Word(line, begin);
      if (word.empty()) continue;
      std::vector<double>& row = table.rows.emplace_back();
      for (; !word.empty(); word = Word(line, begin)) {
        const size_t column = static_cast<size_t>(word.data() - line.data()) + 1;
        double number = 0;
        if (!io::ParseNumber(word, number) || !(std::abs(number) < 1e9)) {
          Fail(column, "\"" + std::string(word.substr(0, 80)) + "\"", "a number");
        }
        if (row.size() == table.names.size()) Fail(column, "another number", std::to_string(row.size()) + " numbers");
        row.push_back(number);
      }
      if (row.size() < table.names.size()) {
        Fail(line.size() + 1, "the end of the line after " + std::to_string(row.size()) + " numbers",
             std::to_string(table.names.size()) + " numbers");
      }
      const size_t n = table.rows.size();
      if (n > 1 && !(row[0] > table.rows[n - 2][0])) Fail(1, "a time that does not grow", "each above the one before");
      if (n * table.names.size() > kMostCells) Fail(1, "another row", "what fits into memory");
    }
    if (table.rows.size() < 2) Fail(1, "the end of the file", "at least two rows");
    if (rows_ && *rows_ != table.rows.size()) {
      Fail(1, "the end of the file after " + std::to_string(table.rows.size()) + " rows",
           std::to_string(*rows_) + ", as nRows says");
    }
    return table;
  }

 private:
  [[noreturn]] void Fail(size_t column, const std::string& found, const std::string& expected) const {
    lines_.Fail(column, found, expected);
  }
  /// False for the last line of the header. As OpenSim reads it: angles are radians unless `inDegrees` says yes or y,
  /// in any case, or a file without a version says that they are degrees.
  bool ReadHeaderLine(std::string_view line, Table& table) {
    constexpr std::string_view kBlanks = " \t";
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    line.remove_suffix(line.size() - std::min(line.find_last_not_of(kBlanks) + 1, line.size()));
    const size_t end = std::min(line.find_first_of(" \t="), line.size());
    const std::string_view key = line.substr(0, end);
    std::string_view value = line.substr(end);
    value.remove_prefix(std::min(value.find_first_not_of(" \t="), value.size()));
    if (key == "endheader") return false;
    if (key == "version") has_version_ = value != "0";
    if (key == "nRows" || key == "nr" || key == "datarows") rows_ = Count(line, value);
    if (key == "nColumns" || key == "nc" || key == "datacolumns") columns_ = Count(line, value);
    if (key == "inDegrees") {
      std::string lower(value);
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
      table.degrees = lower == "yes" || lower == "y";
      table.unit_stated = table.degrees || lower == "no" || lower == "n";
    }
    if (!has_version_ && (line == "Angles are in degrees." || line == "Angles are in radians.")) {
      table.degrees = line == "Angles are in degrees.";
      table.unit_stated = true;
    }
    return true;
  }

  size_t Count(std::string_view line, std::string_view value) const {
    double number = 0;
    if (!io::ParseNumber(value, number) || !(number >= 0 && number < 1e9) || number != std::floor(number)) {
      Fail(static_cast<size_t>(value.data() - line.data()) + 1, "\"" + std::string(value.substr(0, 80)) + "\"",
           "a number of rows or columns");
    }
    return static_cast<size_t>(number);
  }

  static std::string_view Word(std::string_view line, size_t& begin) {
    begin = std::min(line.find_first_not_of(" \t", begin), line.size());
    const size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    begin = end;
    return word;
  }

  LineReader lines_;
  std::optional<size_t> rows_, columns_;  // that the header states
  bool has_version_ = false;
};

std::string Lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return text;
}

/// Inverse kinematics: the coordinates at which a model's markers are nearest to recorded ones.
class MarkerFit {
 public:
  MarkerFit(const Model& model, const Markers& markers, const std::string& name) : model_(model), markers_(markers) {
    for (size_t m = 0; m < markers.names.size(); ++m) {
      const std::string known = Lower(markers.names[m].substr(markers.names[m].rfind(':') + 1));
      for (const ModelMarker& marker : model.markers()) {
        if (Lower(marker.name) == known) pairs_.push_back({m, &marker});
      }
    }
    if (pairs_.size() < kFewestMarkers) {
      throw InputError(name,
                       std::to_string(pairs_.size()) + " markers that the model has, too, of " +
                           std::to_string(markers.names.size()),
                       "at least " + std::to_string(kFewestMarkers) + " of its " +
                           std::to_string(model.markers().size()) + " markers by their names");
    }
    for (size_t c = 0; c < model.coordinates().size(); ++c) {
      values_.push_back(model.coordinates()[c].value);
      if (!model.coordinates()[c].follows) free_.push_back(c);
    }
    Couple(values_);
  }

  /// Coordinates over time [rad, m].
  Table Find() {
    Table table;
    table.unit_stated = true;
    table.names.emplace_back("time");
    for (const Coordinate& coordinate : model_.coordinates()) table.names.push_back(coordinate.name);
    Align();
    constexpr int kFirstIterations = 60, kIterations = 12;
    for (size_t f = 0; f < markers_.places.size(); ++f) {
      Fit(f, f == 0 ? kFirstIterations : kIterations);
      std::vector<double>& row = table.rows.emplace_back();
      row.push_back(markers_.start_time + static_cast<double>(f) / markers_.rate);
      row.insert(row.end(), values_.begin(), values_.end());
    }
    return table;
  }

  /// Where the model's ground is in the axes of the clip, which has y up where the file says what is up.
  const Place& ground() const { return ground_; }

  void AddNotes(motion::Clip& clip) const {
    const double error = std::sqrt(squares_ / std::max(1.0, count_));
    clip.notes.push_back("inverse kinematics of the model by " + std::to_string(pairs_.size()) +
                         " markers, which are off by " + io::Fixed(1000 * error, 0) +
                         " mm, root mean square, and by at most " + io::Fixed(1000 * most_, 0) + " mm (" + worst_ +
                         ")");
    constexpr double kUnscaled = 0.04;  // [m]
    if (error > kUnscaled) {
      clip.doubts.push_back("markers are " + io::Fixed(1000 * error, 0) +
                            " mm from those of the model: it is not scaled to this person");
    }
  }

 private:
  static constexpr size_t kFewestMarkers = 6;

  struct Pair {
    size_t recorded = 0;
    const ModelMarker* marker = nullptr;
  };

  void Couple(std::vector<double>& values) const {
    for (const Coupling& coupling : model_.couplings()) {
      values[static_cast<size_t>(coupling.dependent)] =
          coupling.curve.At(values[static_cast<size_t>(coupling.independent)]);
    }
  }

  /// A recorded marker in the axes of the clip.
  Vec3 Recorded(size_t frame, const Pair& pair) const {
    const Vec3& place = markers_.places[frame][pair.recorded];
    return markers_.up == 2 ? Vec3(place.x(), place.z(), -place.y()) : place;
  }

  Vec3 Modeled(const std::vector<Place>& bodies, const Pair& pair) const {
    const Place& body = bodies[pair.marker->joint];
    return ground_.at + ground_.turn * (body.at + body.turn * pair.marker->place);
  }

  /// Puts the model as it stands by default where the first markers are.
  void Align() {
    const std::vector<Place> bodies = model_.BodiesAt(values_);
    for (size_t f = 0; f < markers_.places.size(); ++f) {
      std::vector<Vec3> from, to;
      for (const Pair& pair : pairs_) {
        const Vec3 recorded = Recorded(f, pair);
        if (!recorded.allFinite()) continue;
        from.push_back(Modeled(bodies, pair));
        to.push_back(recorded);
      }
      if (from.size() < kFewestMarkers) continue;
      MarkerShape modeled(3, static_cast<Eigen::Index>(from.size())), recorded = modeled;
      for (size_t m = 0; m < from.size(); ++m) {
        modeled.col(static_cast<Eigen::Index>(m)) = from[m];
        recorded.col(static_cast<Eigen::Index>(m)) = to[m];
      }
      ground_.turn = Quat(FitRotation(modeled, recorded)).normalized();
      ground_.at = Vec3(recorded.rowwise().mean()) - ground_.turn * Vec3(modeled.rowwise().mean());
      return;
    }
  }

  /// Differences of the markers that are seen in a frame, and their sum of squares.
  double Differences(size_t frame, const std::vector<double>& values, Eigen::VectorXd& differences) const {
    const std::vector<Place> bodies = model_.BodiesAt(values);
    differences.setZero(static_cast<Eigen::Index>(3 * pairs_.size()));
    for (size_t p = 0; p < pairs_.size(); ++p) {
      const Vec3 recorded = Recorded(frame, pairs_[p]);
      if (!recorded.allFinite()) continue;
      differences.segment<3>(static_cast<Eigen::Index>(3 * p)) = Modeled(bodies, pairs_[p]) - recorded;
    }
    return differences.squaredNorm();
  }

  /// By the method of Levenberg and Marquardt, from the frame before.
  void Fit(size_t frame, int most_iterations) {
    constexpr double kStep = 1e-6, kHold = 1e-4;  // of derivatives; of what no marker shows [m/rad]
    constexpr double kDone = 1e-7;
    const auto n = static_cast<Eigen::Index>(free_.size());
    Eigen::VectorXd differences, moved;
    double value = Differences(frame, values_, differences), damping = 1e-6;
    Eigen::MatrixXd jacobian(differences.size(), n);
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
      for (Eigen::Index c = 0; c < n; ++c) {
        std::vector<double> values = values_;
        values[free_[static_cast<size_t>(c)]] += kStep;
        Couple(values);
        Differences(frame, values, moved);
        jacobian.col(c) = (moved - differences) / kStep;
      }
      Eigen::MatrixXd normal = jacobian.transpose() * jacobian;
      const Eigen::VectorXd gradient = jacobian.transpose() * differences;
      normal.diagonal().array() += kHold * kHold;
      bool better = false;
      for (int attempt = 0; attempt < 8 && !better; ++attempt) {
        Eigen::MatrixXd damped = normal;
        damped.diagonal() *= 1 + damping;
        const Eigen::VectorXd step = -damped.ldlt().solve(gradient);
        std::vector<double> values = values_;
        for (Eigen::Index c = 0; c < n; ++c) values[free_[static_cast<size_t>(c)]] += step[c];
        Couple(values);
        const double now = Differences(frame, values, moved);
        better = now < value;
        damping *= better ? 0.1 : 10;
        if (!better) continue;
        const bool done = value - now < kDone * value;
        values_ = std::move(values);
        differences = moved;
        value = now;
        if (done) iteration = most_iterations;
      }
      if (!better) break;
    }
    for (size_t p = 0; p < pairs_.size(); ++p) {
      if (!Recorded(frame, pairs_[p]).allFinite()) continue;
      const double distance = differences.segment<3>(static_cast<Eigen::Index>(3 * p)).norm();
      squares_ += distance * distance;
      count_ += 1;
      if (distance > most_) {
        most_ = distance;
        worst_ = pairs_[p].marker->name;
      }
    }
  }

  const Model& model_;
  const Markers& markers_;
  std::vector<Pair> pairs_;
  std::vector<size_t> free_;    // coordinates that are found
  std::vector<double> values_;  // of the coordinates, in the latest frame
  Place ground_;
  double squares_ = 0, count_ = 0, most_ = 0;  // of the distances of markers
  std::string worst_;
};

class OpenSimClip {
 public:
  /// @param ground where the model's ground is in the clip
  OpenSimClip(const Model& model, const Table& table, const std::string& name, const Place& ground = {})
      : model_(model), table_(table), ground_(ground) {
    for (const Coordinate& coordinate : model.coordinates()) {
      values_.push_back(coordinate.value);
      const auto found = std::find(table.names.begin(), table.names.end(), coordinate.name);
      columns_.push_back(found == table.names.end() ? 0 : static_cast<size_t>(found - table.names.begin()));
    }
    if (std::all_of(columns_.begin(), columns_.end(), [](size_t c) { return c == 0; })) {
      throw InputError(name, "no column of a coordinate of the model", "names such as " + ExampleName());
    }
  }

  motion::Clip Make() {
    motion::Clip clip;
    clip.unit = 1;
    clip.start_time = table_.rows.front()[0];
    const double span = table_.rows.back()[0] - table_.rows.front()[0];
    clip.frame_time = span / static_cast<double>(table_.rows.size() - 1);
    AddSkeleton(clip);
    AddDoubts(clip);
    size_t after = 1;
    for (size_t f = 0; f < table_.rows.size(); ++f) {
      const double time = table_.rows.front()[0] + static_cast<double>(f) * clip.frame_time;
      while (after + 1 < table_.rows.size() && table_.rows[after][0] < time) ++after;
      SetValues(after, time);
      AddFrame(clip);
    }
    AddMissingSegments(clip);
    return clip;
  }

 private:
  std::string ExampleName() const { return model_.coordinates().empty() ? "none" : model_.coordinates()[0].name; }

  void AddDoubts(motion::Clip& clip) const {
    std::string missing;
    double largest = 0;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const Coordinate& coordinate = model_.coordinates()[c];
      if (columns_[c] == 0 && !coordinate.follows) missing += (missing.empty() ? "" : ", ") + coordinate.name;
      if (columns_[c] == 0 || !coordinate.turns) continue;
      for (const std::vector<double>& row : table_.rows) largest = std::max(largest, std::abs(row[columns_[c]]));
    }
    if (!missing.empty()) {
      clip.doubts.push_back("the motion has no column of " + missing +
                            ", coordinates of the model: they keep their default values");
    }
    if (table_.unit_stated) return;
    clip.notes.emplace_back(
        "the motion does not say whether angles are degrees (inDegrees): they are taken for radians");
    constexpr double kManyTurns = 20;  // [rad]
    if (largest > kManyTurns) {
      clip.doubts.push_back("the motion does not say whether angles are degrees (inDegrees=yes), and has some of " +
                            io::Number(largest) + ", which are taken for radians as OpenSim does");
    }
  }

  void SetValues(size_t after, double time) {
    const std::vector<double>&a = table_.rows[after - 1], &b = table_.rows[after];
    const double share = std::clamp((time - a[0]) / (b[0] - a[0]), 0.0, 1.0);
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c] == 0) continue;
      const double value = (1 - share) * a[columns_[c]] + share * b[columns_[c]];
      values_[c] = table_.degrees && model_.coordinates()[c].turns ? Radians(value) : value;
    }
    for (const Coupling& coupling : model_.couplings()) {
      const auto to = static_cast<size_t>(coupling.dependent);
      if (columns_[to] == 0) values_[to] = coupling.curve.At(values_[static_cast<size_t>(coupling.independent)]);
    }
  }

  /// Where the joint of a body is.
  Vec3 JointAt(const std::vector<Place>& bodies, size_t j) const {
    return bodies[j].at + bodies[j].turn * model_.joints()[j].in_child.at;
  }

  void AddSkeleton(motion::Clip& clip) {
    const std::vector<double> zero(values_.size(), 0);
    rest_ = model_.BodiesAt(zero);
    const auto& joints = model_.joints();
    for (size_t j = 0; j < joints.size(); ++j) {
      const int parent = model_.parent(j);
      const bool root = parent < 0;
      // What else stands on the ground is not of the body, nor is what hangs on that.
      if (root ? j > 0 : index_[static_cast<size_t>(parent)] < 0) {
        index_.push_back(-1);
        continue;
      }
      const int to = root ? -1 : index_[static_cast<size_t>(parent)];
      Vec3 offset = JointAt(rest_, j);
      if (!root) offset -= JointAt(rest_, static_cast<size_t>(parent));
      index_.push_back(static_cast<int>(clip.skeleton.joints.size()));
      clip.skeleton.joints.push_back({joints[j].child, to, offset, false});
    }
    AddMasses(clip);
  }

  /// What the bodies of the skeleton weigh, from their joints, in the axes of the rest pose.
  void AddMasses(motion::Clip& clip) const {
    double all = 0;
    for (const motion::StatedMass& mass : model_.masses()) all += mass.mass;
    if (!(all > 0)) return;
    for (size_t j = 0; j < index_.size(); ++j) {
      if (index_[j] < 0) continue;
      motion::StatedMass mass = model_.masses()[j];
      mass.center = rest_[j].at + rest_[j].turn * mass.center - JointAt(rest_, j);
      const Mat3 turn = rest_[j].turn.toRotationMatrix();
      mass.inertia = (turn * mass.inertia * turn.transpose()).eval();
      clip.masses.push_back(mass);
    }
  }

  void AddFrame(motion::Clip& clip) {
    const std::vector<Place> bodies = model_.BodiesAt(values_);
    motion::Frame& frame = clip.frames.emplace_back();
    for (const motion::Joint& joint : clip.skeleton.joints) {
      frame.translations.push_back(joint.offset);
      frame.rotations.push_back(Quat::Identity());
    }
    const auto turn = [&](size_t j) { return (bodies[j].turn * rest_[j].turn.conjugate()).normalized(); };
    for (size_t j = 0; j < index_.size(); ++j) {
      if (index_[j] < 0) continue;
      const auto to = static_cast<size_t>(index_[j]);
      const int parent = model_.parent(j);
      if (parent < 0) {
        frame.translations[to] = ground_.at + ground_.turn * JointAt(bodies, j);
        frame.rotations[to] = (ground_.turn * turn(j)).normalized();
        continue;
      }
      const auto p = static_cast<size_t>(parent);
      const Quat inverse = turn(p).conjugate();
      frame.translations[to] = inverse * (JointAt(bodies, j) - JointAt(bodies, p));
      frame.rotations[to] = (inverse * turn(j)).normalized();
    }
    for (size_t j = 0; j < frame.translations.size(); ++j) {
      if (frame.translations[j].allFinite() && frame.rotations[j].coeffs().allFinite()) continue;
      throw InputError("joint of " + clip.skeleton.joints[j].name, "a place that is no number", "one");
    }
  }

  const Model& model_;
  const Table& table_;
  Place ground_;
  std::vector<double> values_;   // of the coordinates
  std::vector<size_t> columns_;  // of the coordinates; 0: none
  std::vector<int> index_;       // in the skeleton, of the model's joints; -1: not there
  std::vector<Place> rest_;
};

}  // namespace

motion::Clip ParseOpenSim(std::string_view model, const std::string& model_name, std::string_view motion,
                          const std::string& name) {
  const Model parsed(model, model_name);
  const Table table = TableReader(motion, name).Read();
  return OpenSimClip(parsed, table, name).Make();
}

motion::Clip ParseOpenSimMarkers(std::string_view model, const std::string& model_name, const Markers& markers,
                                 const std::string& name) {
  constexpr size_t kFewestFrames = 2;
  if (markers.places.size() < kFewestFrames) throw InputError(name, "fewer than two frames", "a motion");
  const Model parsed(model, model_name);
  MarkerFit fit(parsed, markers, name);
  const Table table = fit.Find();
  motion::Clip clip = OpenSimClip(parsed, table, name, fit.ground()).Make();
  fit.AddNotes(clip);
  clip.doubts.insert(clip.doubts.end(), markers.doubts.begin(), markers.doubts.end());
  return clip;
}

}  // namespace retrace::recordings
