#include "retrace/report/filmstrip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/character/palette.h"
#include "retrace/io/number.h"
#include "retrace/io/xml.h"
#include "retrace/math/convex_hull.h"
#include "retrace/math/rotation.h"
#include "retrace/math/types.h"

namespace retrace::report {
namespace {

using character::Character;
using character::Shape;
using character::State;
using Vec2 = Eigen::Vector2d;

constexpr palette::Color kWhite{255, 255, 255};
constexpr palette::Color kInk{38, 44, 56};
constexpr palette::Color kForce{194, 50, 77};
constexpr palette::Color kGhost{120, 126, 137};

palette::Color Mix(const palette::Color& a, const palette::Color& b, double t) {
  return {a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

/// Brighter than the color itself above 1, darker below.
palette::Color Shade(const palette::Color& color, double light) {
  return light > 1 ? Mix(color, kWhite, std::min(1.0, light - 1)) : Mix(color, kInk, std::min(1.0, 1 - light));
}

std::string Hex(const palette::Color& color) {
  std::string text = "#";
  for (const double channel : {color.r, color.g, color.b}) {
    const int value = static_cast<int>(std::lround(std::clamp(channel, 0.0, 255.0)));
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

/// An orthographic camera on the horizon.
struct View {
  Vec3 right = Vec3::UnitX();
  Vec3 toward = Vec3::UnitZ();  ///< from the scene to the viewer

  void LookFrom(const Vec3& direction) {
    toward = direction.normalized();
    right = Vec3::UnitY().cross(toward);
  }
  Vec2 Project(const Vec3& p) const { return {right.dot(p), p.y()}; }
  double Depth(const Vec3& p) const { return toward.dot(p); }
};

/// A character at one instant.
struct Actor {
  State state;
  State ghost;  ///< empty: none
  std::vector<Arrow> arrows;
};

/// All characters at one instant. Places are along the view's horizontal.
struct Figure {
  double time = 0;
  std::vector<Actor> actors;  ///< (characters)
  double origin = 0;          ///< of the first one's root in the world [m]
  double left = 0;            ///< reach to both sides of the root [m]
  double right = 0;
  double place = 0;  ///< of its root in the picture [m]
};

/// Box about what was drawn [m].
struct Bounds {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  void Add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
};

/// What a picture shows, in meters and newtons.
struct Strip {
  std::span<const FilmedMotion> motions;
  const FilmStripOptions& options;
  View view = {};
  std::vector<Figure> figures = {};
  Bounds vertical = {};
  double floor_height = 0;
  bool has_reference = false;
  bool true_places = false;      ///< figures stand where they are in the world
  double weight = 0;             ///< of the first character in its world, without gravity that on Earth [N]
  double largest_force = 0;      ///< of all arrows [N]
  double metres_per_newton = 0;  ///< of arrows

  const Character& character(size_t c = 0) const { return motions[c].character(); }
};

/// Where a strip is in its picture [px].
struct Layout {
  double scale = 0;   ///< [px/m]
  double left = 0;    ///< of position 0
  double ground = 0;  ///< of height 0, from the top
  double depth = 0;   ///< of what is drawn below that
  double height = 0;  ///< of the picture
};

std::array<Vec3, 8> Corners(const Shape& shape, const Vec3& center, const Quat& orientation) {
  std::array<Vec3, 8> corners;
  for (size_t i = 0; i < 8; ++i) {
    const Vec3 sign(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
    corners[i] = center + orientation * sign.cwiseProduct(shape.size);
  }
  return corners;
}

/// Ends of a capsule's core.
std::array<Vec3, 2> Ends(const Shape& shape, const Vec3& center, const Quat& orientation) {
  const Vec3 half = orientation * Vec3(0.5 * shape.length * Vec3::Unit(shape.axis));
  return {center - half, center + half};
}

/// Vertices of a box or a mesh in the world.
std::vector<Vec3> Vertices(const Shape& shape, const Vec3& center, const Quat& orientation) {
  std::vector<Vec3> vertices;
  if (shape.kind == Shape::Kind::kBox) {
    const auto corners = Corners(shape, center, orientation);
    vertices.assign(corners.begin(), corners.end());
  }
  for (const Vec3& vertex : shape.mesh.vertices) vertices.emplace_back(center + orientation * vertex);
  return vertices;
}

void AddReach(const Character& character, const State& state, const View& view, Bounds& horizontal, Bounds& vertical) {
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    for (const Shape& shape : character.bodies[b].shapes) {
      const Vec3 center = state[b].position + state[b].orientation * shape.offset;
      const auto add = [&](const Vec3& p, double radius) {
        const Vec2 at = view.Project(p);
        horizontal.Add(at.x() - radius);
        horizontal.Add(at.x() + radius);
        vertical.Add(at.y() - radius);
        vertical.Add(at.y() + radius);
      };
      if (shape.kind != Shape::Kind::kCapsule) {
        for (const Vec3& vertex : Vertices(shape, center, state[b].orientation)) add(vertex, 0);
      } else {
        for (const Vec3& end : Ends(shape, center, state[b].orientation)) add(end, shape.radius);
      }
    }
  }
}

/// Principal horizontal direction of the root's path, in the sense of its net displacement; `extent` is how far the
/// path reaches along it [m].
Vec3 TravelDirection(const std::vector<character::BodyState>& roots, double& extent) {
  const auto at = [](const character::BodyState& root) { return Vec2(root.position.x(), root.position.z()); };
  Vec2 mean = Vec2::Zero();
  for (const character::BodyState& root : roots) mean += at(root);
  mean /= static_cast<double>(roots.size());
  Eigen::Matrix2d covariance = Eigen::Matrix2d::Zero();
  for (const character::BodyState& root : roots) covariance += (at(root) - mean) * (at(root) - mean).transpose();
  // The angle of the larger principal axis of a symmetric 2 x 2 matrix.
  const double angle = 0.5 * std::atan2(2 * covariance(0, 1), covariance(0, 0) - covariance(1, 1));
  Vec2 axis(std::cos(angle), std::sin(angle));
  if (axis.dot(at(roots.back()) - at(roots.front())) < 0) axis = -axis;
  Bounds reach;
  for (const character::BodyState& root : roots) reach.Add(axis.dot(at(root)));
  extent = reach.max - reach.min;
  return {axis.x(), 0, axis.y()};
}

/// Mean of the directions that the root faces (+z at rest).
Vec3 MeanFacing(const std::vector<character::BodyState>& roots) {
  Vec3 sum = Vec3::Zero();
  for (const character::BodyState& root : roots) sum += Heading(root.orientation) * Vec3::UnitZ();
  return sum.norm() > 1e-9 ? Vec3(sum.normalized()) : Vec3(Vec3::UnitZ());
}

View ChooseView(const Character& character, const std::vector<character::BodyState>& roots, bool& in_place) {
  double extent = 0;
  const Vec3 travel = TravelDirection(roots, extent);
  in_place = extent < 0.4 * character.height;
  View view;
  if (!in_place) {
    view.LookFrom(travel.cross(Vec3::UnitY()));
    return view;
  }
  // Facing right and 40 degrees towards the viewer: both sides of the body show.
  const Vec3 facing = MeanFacing(roots);
  const double angle = Radians(40);
  view.LookFrom(std::cos(angle) * facing.cross(Vec3::UnitY()) + std::sin(angle) * facing);
  return view;
}

/// Gives every figure its position. True positions need room between neighbors and must not run back; else the gaps
/// between figures are made equal, like letters in a line. True: the positions are those of the world.
bool Arrange(std::vector<Figure>& figures, bool in_place, double height) {
  const double gap = 0.06 * height;
  const double overlap = 0.12 * height;  // of neighbors at their true positions, which still reads well
  const double narrow = 0.2 * height;    // half of the room that a label needs
  bool true_places = !in_place;
  for (size_t i = 0; i + 1 < figures.size(); ++i) {
    const Figure& a = figures[i];
    const Figure& b = figures[i + 1];
    const double step = b.origin - a.origin;
    const double room = step - a.right - b.left;
    if (room < -overlap || step < narrow || room > 1.2 * height) true_places = false;
  }
  figures.front().place = figures.front().origin;
  for (size_t i = 1; i < figures.size(); ++i) {
    Figure& a = figures[i - 1];
    Figure& b = figures[i];
    b.place = true_places ? b.origin : a.place + std::max(a.right, narrow) + gap + std::max(b.left, narrow);
  }
  return true_places;
}

/// Puts SVG elements together; lengths are in pixels with two decimals.
class Canvas {
 public:
  Canvas(const View& view, double scale, double left, double ground)
      : view_(view), scale_(scale), left_(left), ground_(ground) {}

  /// Shift of what is drawn next along the view's horizontal [m].
  void set_shift(double shift) { shift_ = shift; }
  double scale() const { return scale_; }

  Vec2 Pixel(const Vec2& at) const { return {left_ + scale_ * (at.x() + shift_), ground_ - scale_ * at.y()}; }
  Vec2 Pixel(const Vec3& p) const { return Pixel(view_.Project(p)); }

  Canvas& operator<<(const std::string& text) {
    svg_ += text;
    return *this;
  }
  Canvas& operator<<(double value) {
    std::string number = io::Fixed(value, 2);
    while (number.back() == '0') number.pop_back();
    if (number.back() == '.') number.pop_back();
    svg_ += number == "-0" ? "0" : number;
    return *this;
  }

  void Line(const Vec2& a, const Vec2& b, double width, const std::string& style) {
    *this << "<path d=\"M" << a.x() << " " << a.y() << "L" << b.x() << " " << b.y() << "\" stroke-width=\"" << width
          << "\" " << style << "/>\n";
  }
  void Polygon(const std::vector<Vec2>& points, const std::string& style) {
    *this << "<path d=\"";
    for (size_t i = 0; i < points.size(); ++i) *this << (i == 0 ? "M" : "L") << points[i].x() << " " << points[i].y();
    *this << "Z\" " << style << "/>\n";
  }
  void Text(const Vec2& at, const std::string& attributes, const std::string& text) {
    *this << "<text x=\"" << at.x() << "\" y=\"" << at.y() << "\" " << attributes << ">" << io::EscapeXml(text)
          << "</text>\n";
  }
  std::string Take() { return std::move(svg_); }

 private:
  const View& view_;
  double scale_;
  double left_;
  double ground_;
  double shift_ = 0;
  std::string svg_;
};

constexpr double kOutline = 0.9;  // width of the dark edge about shapes [px]

/// A capsule's silhouette is that of its core, widened: a line with round caps. A lighter line along its lit side makes
/// it round.
void DrawCapsule(Canvas& canvas, const Shape& shape, const Vec3& center, const Quat& orientation,
                 const palette::Color& color) {
  const auto ends = Ends(shape, center, orientation);
  Vec2 a = canvas.Pixel(ends[0]);
  Vec2 b = canvas.Pixel(ends[1]);
  // A core seen end on is a point, for which some renderers draw no cap.
  if ((b - a).norm() < 0.02) b = a + Vec2(0.02, 0);
  const double radius = canvas.scale() * shape.radius;
  canvas.Line(a, b, 2 * radius, "stroke=\"" + Hex(Shade(color, 0.45)) + "\"");
  canvas.Line(a, b, 2 * (radius - kOutline), "stroke=\"" + Hex(color) + "\"");
  // Light from the upper left, in pixels.
  const Vec2 light = Vec2(-0.45, -0.9).normalized();
  const Vec2 along = (b - a).normalized();
  Vec2 side = light - light.dot(along) * along;
  // As much of the light as falls across the core; an end on capsule is lit as a ball.
  const Vec2 offset = 0.36 * radius * ((b - a).norm() < 0.5 * radius ? light : side);
  canvas.Line(a + offset, b + offset, 0.75 * radius, "stroke=\"" + Hex(Shade(color, 1.22)) + "\"");
}

/// A box: its faces to the viewer, each with its own light, and an edge about all of them.
void DrawBox(Canvas& canvas, const View& view, const Shape& shape, const Vec3& center, const Quat& orientation,
             const palette::Color& color) {
  const auto corners = Corners(shape, center, orientation);
  std::vector<Vec2> pixels;
  for (const Vec3& corner : corners) pixels.push_back(canvas.Pixel(corner));
  const std::string edge = Hex(Shade(color, 0.45));
  canvas.Polygon(ConvexHull(pixels),
                 "fill=\"" + edge + "\" stroke=\"" + edge + "\" stroke-width=\"" + io::Fixed(kOutline, 1) + "\"");
  const Vec3 light = (-0.45 * view.right + 0.9 * Vec3::UnitY() + 0.55 * view.toward).normalized();
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 normal = orientation * Vec3(Vec3::Unit(axis));
    const double sign = view.Depth(normal) > 0 ? 1 : -1;
    if (std::abs(view.Depth(normal)) < 0.02) continue;
    std::vector<Vec2> face;
    for (const int corner : {0, 1, 3, 2}) {
      // Bit `axis` of a corner's index gives its side; the two others run around the face.
      const int u = corner & 1;
      const int v = corner >> 1;
      const int index = (sign > 0 ? 1 : 0) << axis | u << ((axis + 1) % 3) | v << ((axis + 2) % 3);
      face.push_back(pixels[static_cast<size_t>(index)]);
    }
    const double brightness = 0.86 + 0.3 * std::max(-0.5, sign * normal.dot(light));
    const std::string fill = Hex(Shade(color, brightness));
    canvas.Polygon(face, "fill=\"" + fill + "\"");
  }
}

/// A mesh: its triangles to the viewer, each with its own light, far ones first, and an edge about all of them.
void DrawMesh(Canvas& canvas, const View& view, const Shape& shape, const Vec3& center, const Quat& orientation,
              const palette::Color& color) {
  const std::vector<Vec3> vertices = Vertices(shape, center, orientation);
  std::vector<Vec2> pixels;
  for (const Vec3& vertex : vertices) pixels.push_back(canvas.Pixel(vertex));
  const std::string edge = Hex(Shade(color, 0.45));
  canvas.Polygon(ConvexHull(pixels),
                 "fill=\"" + edge + "\" stroke=\"" + edge + "\" stroke-width=\"" + io::Fixed(kOutline, 1) + "\"");
  const Vec3 light = (-0.45 * view.right + 0.9 * Vec3::UnitY() + 0.55 * view.toward).normalized();
  struct Seen {
    double depth;
    size_t triangle;
    double brightness;
  };
  std::vector<Seen> seen;
  for (size_t t = 0; t < shape.mesh.triangles.size(); ++t) {
    const auto& c = shape.mesh.triangles[t];
    const Vec3& p = vertices[static_cast<size_t>(c[0])];
    const Vec3& q = vertices[static_cast<size_t>(c[1])];
    const Vec3& r = vertices[static_cast<size_t>(c[2])];
    const Vec3 normal = (q - p).cross(r - p).normalized();
    if (view.Depth(normal) < 0.02) continue;
    const double depth = (view.Depth(p) + view.Depth(q) + view.Depth(r)) / 3;
    seen.push_back({depth, t, 0.86 + 0.3 * std::max(-0.5, normal.dot(light))});
  }
  std::stable_sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.depth < b.depth; });
  for (const Seen& s : seen) {
    std::vector<Vec2> face;
    for (const int v : shape.mesh.triangles[s.triangle]) face.push_back(pixels[static_cast<size_t>(v)]);
    // The stroke covers the hair's breadth that renderers leave between neighbors.
    const std::string fill = Hex(Shade(color, s.brightness));
    canvas.Polygon(face, "fill=\"" + fill + "\" stroke=\"" + fill + "\" stroke-width=\"0.3\"");
  }
}

/// Width of the bone between two bodies: slimmer than both [m].
double BoneWidth(const character::Body& a, const character::Body& b) {
  double width = 0.1;
  for (const character::Body* body : {&a, &b}) {
    for (const Shape& shape : body->shapes) {
      if (shape.kind == Shape::Kind::kCapsule) {
        width = std::min(width, 1.3 * shape.radius);
      } else {
        const Vec3 size = 2 * shape.HalfExtents();
        const double middle = size.sum() - size.minCoeff() - size.maxCoeff();
        width = std::min(width, 0.6 * middle);
      }
    }
  }
  return width;
}

/// All shapes, far ones first; between the shapes of neighbors a bone, so that the figure holds together.
void DrawFigure(Canvas& canvas, const View& view, const Character& character, const State& state) {
  struct Item {
    double depth;
    size_t body;
    const Shape* shape;  // null: the bone to the parent body
  };
  std::vector<Item> items;
  Bounds depths;
  for (size_t b = 0; b < character.bodies.size(); ++b) {
    for (const Shape& shape : character.bodies[b].shapes) {
      const double depth = view.Depth(state[b].position + state[b].orientation * shape.offset);
      items.push_back({depth, b, &shape});
      depths.Add(depth);
    }
    const int joint = character.JointOf(static_cast<int>(b));
    if (joint < 0) continue;
    const auto parent = static_cast<size_t>(character.joints[static_cast<size_t>(joint)].parent);
    // Behind all shapes of both.
    double behind = std::min(view.Depth(state[b].position), view.Depth(state[parent].position));
    for (const size_t body : {b, parent}) {
      for (const Shape& shape : character.bodies[body].shapes) {
        behind = std::min(behind, view.Depth(state[body].position + state[body].orientation * shape.offset));
      }
    }
    items.push_back({behind - 1e-3, b, nullptr});
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.depth < b.depth; });
  for (const Item& item : items) {
    const character::Body& body = character.bodies[item.body];
    const character::BodyState& at = state[item.body];
    if (item.shape == nullptr) {
      const character::Joint& joint =
          character.joints[static_cast<size_t>(character.JointOf(static_cast<int>(item.body)))];
      const Vec3 anchor = character::JointPosition(character, joint, state);
      const Vec3 from = state[static_cast<size_t>(joint.parent)].position;
      const Vec2 bend = canvas.Pixel(anchor);
      const double width = canvas.scale() * BoneWidth(body, character.bodies[static_cast<size_t>(joint.parent)]);
      for (const Vec3& end : {from, at.position}) {
        canvas.Line(bend, canvas.Pixel(end), width, "stroke=\"" + Hex(Shade(palette::kMiddle, 0.6)) + "\"");
      }
      continue;
    }
    // Limbs on the far side are a little paler, as if seen through air.
    const double far = (depths.max - item.depth) / std::max(0.2, depths.max - depths.min);
    const palette::Color color = Mix(palette::ColorOf(body), palette::kPaper, 0.22 * far);
    const Vec3 center = at.position + at.orientation * item.shape->offset;
    if (item.shape->kind == Shape::Kind::kBox) {
      DrawBox(canvas, view, *item.shape, center, at.orientation, color);
    } else if (item.shape->kind == Shape::Kind::kMesh) {
      DrawMesh(canvas, view, *item.shape, center, at.orientation, color);
    } else {
      DrawCapsule(canvas, *item.shape, center, at.orientation, color);
    }
  }
}

/// A part of the picture, from left to right [px]. `name` is that of its clip path.
struct Window {
  double from = 0;
  double to = 0;
  std::string name;
};

/// The things of a world at the instant of a figure, in a part of the picture.
void DrawWorld(Canvas& canvas, const Strip& strip, const Figure& figure, const Window& window) {
  const View& view = strip.view;
  const simulation::Environment& environment = *strip.options.environment;
  canvas << "<clipPath id=\"" << window.name << "\"><rect x=\"" << window.from << "\" y=\"-2000\" width=\""
         << window.to - window.from << "\" height=\"8000\"/></clipPath>\n<g clip-path=\"url(#" << window.name
         << ")\">\n";
  if (environment.height_field) {
    // Its height along the line of sight's middle, under the root.
    const Vec3& middle = figure.actors[0].state[static_cast<size_t>(strip.character().root)].position;
    const double low = environment.ground.present ? environment.ground.height : -1;
    std::vector<Vec2> outline;
    constexpr double kReach = 4, kStep = 0.05;  // [m]
    for (double x = -kReach; x <= kReach; x += kStep) {
      const Vec3 at = middle + x * view.right;
      const double height = environment.HeightAt(at.x(), at.z(), at.y());
      outline.push_back(canvas.Pixel(Vec2(view.Project(at).x(), std::max(height, low))));
    }
    for (const double x : {kReach, -kReach}) {
      outline.push_back(canvas.Pixel(Vec2(view.Project(Vec3(middle + x * view.right)).x(), low - 1)));
    }
    canvas.Polygon(outline,
                   "fill=\"" + Hex(palette::kStone) + "\" stroke=\"" + Hex(Shade(palette::kStone, 0.45)) + "\"");
  }
  Shape shape;
  for (const simulation::Box& box : environment.boxes) {
    shape.size = box.size;
    const Vec3 away = box.course ? box.course->At(figure.time) : Vec3(Vec3::Zero());
    std::vector<Vec2> outline;  // large: its faces would only distract
    for (const Vec3& corner : Corners(shape, box.position + away, box.orientation)) {
      outline.push_back(canvas.Pixel(corner));
    }
    canvas.Polygon(ConvexHull(outline),
                   "fill=\"" + Hex(palette::kStone) + "\" stroke=\"" + Hex(Shade(palette::kStone, 0.45)) + "\"");
  }
  const simulation::Layout layout(strip.character(), environment);
  for (size_t f = 0; f < environment.bodies.size(); ++f) {
    const character::BodyState& at = figure.actors[0].state[static_cast<size_t>(layout.FreeBody(f))];
    for (const simulation::OrientedShape& turned : environment.bodies[f].AllShapes()) {
      const Vec3 center = at.position + at.orientation * turned.shape.offset;
      const Quat orientation = at.orientation * turned.orientation;
      if (turned.shape.kind == Shape::Kind::kBox) {
        DrawBox(canvas, view, turned.shape, center, orientation, palette::kWood);
      } else {
        DrawCapsule(canvas, turned.shape, center, orientation, palette::kWood);
      }
    }
  }
  canvas << "</g>\n";
}

/// The reference: all shapes with a dark edge, then all again without, which leaves the edge of their union.
void DrawGhost(Canvas& canvas, const Character& character, const State& state) {
  for (const bool edge : {true, false}) {
    const std::string color = Hex(edge ? kGhost : Mix(palette::kPaper, kGhost, 0.16));
    const double extra = edge ? 1.2 : 0;
    canvas << "<g stroke=\"" << color << "\" fill=\"" << color << "\">\n";
    for (size_t b = 0; b < character.bodies.size(); ++b) {
      for (const Shape& shape : character.bodies[b].shapes) {
        const Quat& orientation = state[b].orientation;
        const Vec3 center = state[b].position + orientation * shape.offset;
        if (shape.kind != Shape::Kind::kCapsule) {
          std::vector<Vec2> pixels;
          for (const Vec3& vertex : Vertices(shape, center, orientation)) pixels.push_back(canvas.Pixel(vertex));
          canvas.Polygon(ConvexHull(pixels), "stroke-width=\"" + io::Fixed(2 * extra + 0.01, 2) + "\"");
        } else {
          const auto ends = Ends(shape, center, orientation);
          const Vec2 a = canvas.Pixel(ends[0]);
          const Vec2 b2 = canvas.Pixel(ends[1]);
          canvas.Line(a, (b2 - a).norm() < 0.02 ? Vec2(a + Vec2(0.02, 0)) : b2,
                      2 * (canvas.scale() * shape.radius + extra), "");
        }
      }
    }
    canvas << "</g>\n";
  }
}

/// An arrow with a light edge, so that it reads over any figure.
void DrawArrow(Canvas& canvas, const Vec2& tail, const Vec2& tip) {
  const double length = (tip - tail).norm();
  if (length < 4) return;
  const Vec2 along = (tip - tail) / length;
  const Vec2 across(-along.y(), along.x());
  const double head = std::min(11.0, 0.6 * length);
  const Vec2 neck = tip - head * along;
  const double half = 1.4;
  const std::vector<Vec2> outline = {
      tail + half * across,        neck + half * across, neck + 0.45 * head * across, tip,
      neck - 0.45 * head * across, neck - half * across, tail - half * across};
  canvas.Polygon(outline, "fill=\"" + Hex(kForce) + "\" stroke=\"" + Hex(palette::kPaper) +
                              "\" stroke-width=\"1.6\" stroke-linejoin=\"round\" paint-order=\"stroke\"");
}

struct LegendEntries {
  bool ghost = false;
  bool force = false;
  bool weightless = false;
  bool true_places = false;
  double weight_length = 0;  ///< of the arrow for the character's weight [px]
};

/// One line at the foot of the picture: what the colors mean on the left, lengths on the right.
void DrawLegend(Canvas& canvas, const LegendEntries& entries, double width, double y) {
  const std::string text = "fill=\"" + Hex(Mix(kInk, palette::kPaper, 0.3)) + "\"";
  const double middle = y - 4.5;  // of the small letters
  double x = 36;
  // No font is at hand to measure with: about 6.6 pixels to the letter, and some air.
  const auto advance = [&](const std::string& label) { x += 6.6 * static_cast<double>(label.size()) + 22; };
  const auto swatch = [&](const palette::Color& color, const std::string& label) {
    canvas << "<circle cx=\"" << x + 5.5 << "\" cy=\"" << middle << "\" r=\"5\" fill=\"" << Hex(color) << "\" stroke=\""
           << Hex(Shade(color, 0.45)) << "\" stroke-width=\"" << kOutline << "\"/>\n";
    canvas.Text({x + 17, y}, text, label);
    x += 17;
    advance(label);
  };
  swatch(palette::kLeft, "left");
  swatch(palette::kRight, "right");
  if (entries.ghost) {
    canvas << "<circle cx=\"" << x + 5.5 << "\" cy=\"" << middle << "\" r=\"5\" fill=\""
           << Hex(Mix(palette::kPaper, kGhost, 0.16)) << "\" stroke=\"" << Hex(kGhost) << "\" stroke-width=\"1.2\"/>\n";
    canvas.Text({x + 17, y}, text, "reference");
    x += 17;
    advance("reference");
  }
  if (entries.force) {
    DrawArrow(canvas, {x, middle}, {x + entries.weight_length, middle});
    canvas.Text({x + entries.weight_length + 8, y}, text,
                entries.weightless ? "ground force (this length: body weight on Earth)"
                                   : "ground force (this length: body weight)");
    x += entries.weight_length + 8;
  }

  const double meter = canvas.scale();
  const double end = width - 36;
  const std::string stroke = "fill=\"none\" stroke=\"" + Hex(kInk) + "\"";
  canvas << "<path d=\"M" << end - meter << " " << middle - 4 << "v8m0 -4h" << meter
         << "m0 -4v8\" stroke-width=\"1.3\" " << stroke << "/>\n";
  canvas.Text({end - meter - 8, y}, "text-anchor=\"end\" " + text,
              entries.true_places ? "1 m" : "figures spread apart  \u00b7  1 m");
}

/// The figures at their instants, before they have positions.
void PoseFigures(Strip& strip, bool& in_place) {
  const FilmedMotion& first = strip.motions[0];
  strip.view = ChooseView(strip.character(), first.roots(), in_place);
  for (size_t i = 0; i < first.instants().size(); ++i) {
    Figure figure;
    figure.time = static_cast<double>(first.instants()[i].state) * first.time_step();
    Bounds horizontal;
    for (const FilmedMotion& motion : strip.motions) {
      Actor& actor = figure.actors.emplace_back();
      actor.state = motion.instants()[i].bodies;
      if (motion.reference() != nullptr) motion.reference()->StateAt(figure.time, actor.ghost);
      actor.arrows = motion.instants()[i].Arrows();
      AddReach(motion.character(), actor.state, strip.view, horizontal, strip.vertical);
    }
    figure.origin =
        strip.view.Project(figure.actors[0].state[static_cast<size_t>(strip.character().root)].position).x();
    figure.left = figure.origin - horizontal.min;
    figure.right = horizontal.max - figure.origin;
    strip.figures.push_back(std::move(figure));
  }
}

/// Calls `use` with each arrow of a strip.
template <typename Use>
void ForEachArrow(const Strip& strip, const Use& use) {
  for (const Figure& figure : strip.figures) {
    for (const Actor& actor : figure.actors) {
      for (const Arrow& arrow : actor.arrows) use(arrow);
    }
  }
}

/// Lengths of arrows: half a meter for the character's weight, less where a force would leave the picture.
void ScaleArrows(Strip& strip) {
  const double height = strip.character().height;
  const double gravity = std::abs(strip.options.gravity);
  strip.weight = strip.character().total_mass() * (gravity > 0 ? gravity : kStandardGravity);
  ForEachArrow(strip,
               [&](const Arrow& arrow) { strip.largest_force = std::max(strip.largest_force, arrow.force.norm()); });
  strip.metres_per_newton =
      std::min(0.3 * height / strip.weight, strip.largest_force > 0 ? 0.85 * height / strip.largest_force : 1.0);
  ForEachArrow(strip, [&](const Arrow& arrow) {
    strip.vertical.Add(arrow.point.y() + strip.metres_per_newton * arrow.force.y());
  });
}

Strip MakeStrip(std::span<const FilmedMotion> motions, const FilmStripOptions& options) {
  Strip strip{motions, options};
  strip.has_reference =
      std::any_of(motions.begin(), motions.end(), [](const auto& motion) { return motion.reference() != nullptr; });
  const double height = strip.character().height;
  strip.vertical.Add(0);
  strip.vertical.Add(0.8 * height);
  bool in_place = false;
  PoseFigures(strip, in_place);
  if (options.environment != nullptr && options.environment->ground.present) {
    strip.floor_height = options.environment->ground.height;
  }
  strip.vertical.Add(std::max(strip.floor_height, -0.65 * height));
  strip.true_places = Arrange(strip.figures, in_place, height);
  ScaleArrows(strip);
  return strip;
}

Layout LayOut(const Strip& strip) {
  const FilmStripOptions& options = strip.options;
  const double body_height = strip.character().height;
  Bounds horizontal;
  for (const Figure& figure : strip.figures) {
    horizontal.Add(figure.place - figure.left);
    horizontal.Add(figure.place + figure.right);
  }
  const double margin = 36;
  const double top = 30;
  const double below = 80;  // labels and legend
  Layout layout;
  // A few figures do not become giants.
  layout.scale = std::min((options.width - 2 * margin) / (horizontal.max - horizontal.min), 420 / body_height);
  // Something under the floor is drawn too, but a state far below does not blow up the picture.
  const double deepest = (options.environment != nullptr ? 0.65 : 0.3) * body_height;
  layout.depth = layout.scale * std::clamp(-strip.vertical.min, 0.0, deepest);
  layout.ground = std::round(top + layout.scale * std::min(strip.vertical.max, 3 * body_height));
  layout.height = std::round(layout.ground + std::max(below, layout.depth + 60));
  const double used = layout.scale * (horizontal.max - horizontal.min);
  layout.left = 0.5 * (options.width - used) - layout.scale * horizontal.min;
  return layout;
}

/// Opens the document and lays the paper.
void DrawPaper(Canvas& canvas, const Strip& strip, double height) {
  const FilmStripOptions& options = strip.options;
  const std::vector<Figure>& figures = strip.figures;
  canvas << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << options.width << "\" height=\"" << height
         << "\" viewBox=\"0 0 " << options.width << " " << height << "\" role=\"img\">\n";
  canvas << "<title>" << io::EscapeXml(options.title.empty() ? "Reconstructed motion" : options.title) << "</title>\n";
  canvas << "<desc>" << std::to_string(figures.size()) << " instants from " << io::Fixed(figures.front().time, 2)
         << " s to " << io::Fixed(figures.back().time, 2) << " s</desc>\n";
  canvas
      << "<defs>"
      << "<linearGradient id=\"floor\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"0\" stop-color=\"#e3e0d8\"/>"
      << "<stop offset=\"1\" stop-color=\"" << Hex(palette::kPaper) << "\"/></linearGradient>"
      << "<radialGradient id=\"shadow\"><stop offset=\"0\" stop-color=\"#000\" stop-opacity=\"0.30\"/>"
      << "<stop offset=\"1\" stop-color=\"#000\" stop-opacity=\"0\"/></radialGradient>"
      << "<clipPath id=\"page\"><rect width=\"" << options.width << "\" height=\"" << height
      << "\" rx=\"10\"/></clipPath></defs>\n";
  canvas << "<g clip-path=\"url(#page)\">\n<rect width=\"" << options.width << "\" height=\"" << height << "\" fill=\""
         << Hex(palette::kPaper) << "\"/>\n";
}

/// The floor, and a shadow on it under each character.
void DrawFloor(Canvas& canvas, const Strip& strip, const Layout& layout) {
  const double floor = layout.ground - layout.scale * strip.floor_height;
  canvas << "<rect y=\"" << floor << "\" width=\"" << strip.options.width
         << "\" height=\"34\" fill=\"url(#floor)\"/>\n";
  for (const Figure& figure : strip.figures) {
    canvas.set_shift(figure.place - figure.origin);
    for (size_t c = 0; c < figure.actors.size(); ++c) {
      const double body_height = strip.character(c).height;
      const Vec3 center = character::CenterOfMass(strip.character(c), figure.actors[c].state);
      const Vec2 at = canvas.Pixel(Vec2(strip.view.Project(center).x(), strip.floor_height));
      // The higher the body, the wider and fainter its shadow.
      const double fade = 1 / (1 + std::max(0.0, center.y() - 0.5 * body_height));
      canvas << "<ellipse cx=\"" << at.x() << "\" cy=\"" << at.y() + 2 << "\" rx=\""
             << 0.24 * body_height * layout.scale << "\" ry=\"5\" fill=\"url(#shadow)\" opacity=\"" << fade << "\"/>\n";
    }
  }
  canvas.Line({0, floor}, {strip.options.width, floor}, 1.2, "stroke=\"#8d8f94\"");
}

/// The world behind each figure as it is at its instant, up to halfway to the neighbors.
void DrawSurroundings(Canvas& canvas, const Strip& strip) {
  const std::vector<Figure>& figures = strip.figures;
  const auto border = [&](size_t i) {  // between a figure and the next
    const Figure& a = figures[i];
    const Figure& b = figures[i + 1];
    canvas.set_shift(0);
    return canvas.Pixel(Vec2(0.5 * (a.place + a.right + b.place - b.left), 0)).x();
  };
  for (size_t i = 0; i < figures.size(); ++i) {
    const double from = i == 0 ? 0 : border(i - 1);
    const double to = i + 1 == figures.size() ? strip.options.width : border(i);
    canvas.set_shift(figures[i].place - figures[i].origin);
    DrawWorld(canvas, strip, figures[i], {from, to, std::string("world").append(std::to_string(i))});
  }
}

/// The characters of a figure, far ones first.
std::vector<size_t> FromFarToNear(const Strip& strip, const Figure& figure) {
  std::vector<size_t> order(figure.actors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto depth = [&](size_t c) {
    return strip.view.Depth(figure.actors[c].state[static_cast<size_t>(strip.character(c).root)].position);
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return depth(a) < depth(b); });
  return order;
}

/// Draws all references, then all figures over them, then all forces over these.
void DrawMotion(Canvas& canvas, const Strip& strip) {
  for (const Figure& figure : strip.figures) {
    canvas.set_shift(figure.place - figure.origin);
    for (const size_t c : FromFarToNear(strip, figure)) {
      if (!figure.actors[c].ghost.empty()) DrawGhost(canvas, strip.character(c), figure.actors[c].ghost);
    }
  }
  for (const Figure& figure : strip.figures) {
    canvas.set_shift(figure.place - figure.origin);
    for (const size_t c : FromFarToNear(strip, figure)) {
      canvas << "<g>\n";
      DrawFigure(canvas, strip.view, strip.character(c), figure.actors[c].state);
      canvas << "</g>\n";
    }
  }
  for (const Figure& figure : strip.figures) {
    canvas.set_shift(figure.place - figure.origin);
    for (const Actor& actor : figure.actors) {
      for (const Arrow& arrow : actor.arrows) {
        const Vec3 tip = arrow.point + strip.metres_per_newton * arrow.force;
        DrawArrow(canvas, canvas.Pixel(arrow.point), canvas.Pixel(tip));
      }
    }
  }
}

void DrawTimes(Canvas& canvas, const Strip& strip, double baseline) {
  for (const Figure& figure : strip.figures) {
    canvas.set_shift(figure.place - figure.origin);
    // Under the root where positions mean something, else under the middle of what is seen.
    const double middle = strip.true_places ? figure.origin : figure.origin + 0.5 * (figure.right - figure.left);
    const double x = canvas.Pixel(Vec2(middle, 0)).x();
    canvas.Text({x, baseline}, "text-anchor=\"middle\" fill=\"" + Hex(kInk) + "\"", io::Fixed(figure.time, 2) + " s");
  }
}

}  // namespace

FilmedMotion::FilmedMotion(const Character& character, const character::ReferenceMotion* reference, size_t num_steps,
                           double time_step, const FilmStripOptions& options)
    : character_(character), reference_(reference), num_steps_(num_steps), time_step_(time_step) {
  if (options.figures < 2 || !(options.width > 0)) throw std::invalid_argument("film strip options out of range");
  const double duration = static_cast<double>(num_steps) * time_step;
  const double start = std::clamp(options.start, 0.0, duration);
  const double end = options.end < 0 ? duration : std::clamp(options.end, start, duration);
  const auto steps_of = [&](double time) {
    return time_step > 0 ? static_cast<size_t>(std::lround(time / time_step)) : size_t{0};
  };
  const size_t half = steps_of(0.5 * options.force_window);
  for (int i = 0; i < options.figures; ++i) {
    Instant instant;
    instant.state = std::min(num_steps, steps_of(start + (end - start) * i / (options.figures - 1)));
    if (!instants_.empty() && instants_.back().state == instant.state) continue;
    if (time_step > 0) {
      instant.first_step = instant.state > half ? instant.state - half - 1 : 0;
      instant.end_step = std::min(num_steps, instant.state + half);
    }
    instant.sums.resize(character.bodies.size());
    instant.weights.resize(character.bodies.size(), 0);
    instants_.push_back(std::move(instant));
  }
}

void FilmedMotion::Add(const control::Trajectory& part) {
  for (size_t i = part.first_new_state(); i < part.states.size(); ++i) {
    const size_t state = part.first_step + i;
    if (state >= instants_.front().state && state <= instants_.back().state) {
      roots_.push_back(part.states[i][static_cast<size_t>(character_.root)]);
    }
  }
  for (Instant& instant : instants_) {
    const size_t i = instant.state - part.first_step;  // huge before this part
    if (instant.state >= part.first_step + part.first_new_state() && i < part.states.size()) {
      instant.bodies = part.states[i];
    }
    const size_t end = std::min(instant.end_step, part.first_step + part.contacts.size());
    for (size_t step = std::max(instant.first_step, part.first_step); step < end; ++step) {
      for (const simulation::Contact& contact : part.contacts[step - part.first_step]) {
        if (contact.other >= 0) continue;
        const auto b = static_cast<size_t>(contact.body);
        const double weight = contact.force.norm();
        instant.sums[b].force += contact.force;
        instant.sums[b].point += weight * contact.point;
        instant.weights[b] += weight;
      }
    }
  }
}

// A single step's forces jump between contact points; the mean is what pushes the character.
std::vector<Arrow> FilmedMotion::Instant::Arrows() const {
  std::vector<Arrow> found;
  for (size_t b = 0; b < sums.size(); ++b) {
    if (weights[b] == 0) continue;
    found.push_back({sums[b].point / weights[b], sums[b].force / static_cast<double>(end_step - first_step)});
  }
  return found;
}

std::string FormatFilmStrip(std::span<const FilmStripMotion> motions, const FilmStripOptions& options) {
  std::vector<FilmedMotion> filmed;
  for (const auto& [character, trajectory, reference] : motions) {
    filmed.emplace_back(*character, reference, trajectory->num_steps(), trajectory->time_step, options);
    filmed.back().Add(*trajectory);
  }
  return FormatFilmStrip(filmed, options);
}

std::string FormatFilmStrip(std::span<const FilmedMotion> motions, const FilmStripOptions& options) {
  if (motions.empty() || motions[0].roots().empty()) {
    throw std::invalid_argument("a film strip of a trajectory without states");
  }
  for (const FilmedMotion& motion : motions) {
    if (motion.num_steps() == motions[0].num_steps() && !motion.roots().empty()) continue;
    throw std::invalid_argument("a film strip of trajectories of different lengths");
  }
  const Strip strip = MakeStrip(motions, options);
  const Layout layout = LayOut(strip);
  Canvas canvas(strip.view, layout.scale, layout.left, layout.ground);
  DrawPaper(canvas, strip, layout.height);
  DrawFloor(canvas, strip, layout);
  canvas << "<g fill=\"none\" stroke-linecap=\"round\" stroke-linejoin=\"round\">\n";
  if (options.environment != nullptr) DrawSurroundings(canvas, strip);
  DrawMotion(canvas, strip);
  canvas << "</g>\n";

  canvas << "<g font-family=\"Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
            "font-size=\"12.5\">\n";
  DrawTimes(canvas, strip, layout.ground + layout.depth + 22);
  LegendEntries entries;
  entries.ghost = strip.has_reference;
  entries.force = strip.largest_force > 0;
  entries.weightless = options.gravity == 0;
  entries.true_places = strip.true_places;
  entries.weight_length = layout.scale * strip.metres_per_newton * strip.weight;
  DrawLegend(canvas, entries, options.width, layout.height - 18);
  canvas << "</g>\n</g>\n</svg>\n";
  return canvas.Take();
}

}  // namespace retrace::report
