/// The points at which characters touch the ground, themselves and one another.
#pragma once

#include <ode/ode.h>

#include <optional>
#include <span>
#include <vector>

#include "convex_polyhedron.h"
#include "forest.h"
#include "step.h"
#include "tree_passes.h"

namespace retrace::simulation {

struct CollisionOptions {
  double time_step = 0;  ///< [s]
  double gravity = 0;    ///< downwards [m/s^2]
  bool self_collision = true;
  bool speculative_contacts = true;  ///< also points that reach the ground within the step
  int ground_points_per_shape = 4;   ///< the deepest
  int self_points_per_pair = 2;
  bool ground = true;
  double ground_height = 0;  ///< [m]
  int ground_law = 0;        ///< of contact with it
};

/// The shapes that may touch something, in a step.
struct NearShapes {
  std::span<const uint32_t> pairs;   ///< of Collision::pairs(), in their order
  std::span<const uint32_t> ground;  ///< of Collision::shapes(), in their order
};

/// Finds contacts from fixed lists of shapes and pairs: their order is a function of the bodies' positions alone.
/// (ODE's spaces reorder their shapes with history.)
class Collision {
 public:
  /// The forest must outlive it.
  Collision(const Forest& forest, const CollisionOptions& options);
  ~Collision();
  Collision(const Collision&) = delete;
  Collision& operator=(const Collision&) = delete;

  void Find(std::span<const BodyMotion> bodies, const NearShapes& near);
  /// Bounds of the shapes, and the pairs of shapes within characters that may touch.
  const std::vector<ShapeBounds>& shapes() const { return shapes_; }
  const std::vector<ShapePair>& pairs() const { return shape_pairs_; }
  /// Others may append to them.
  std::vector<ContactPoint>& points() { return points_; }
  /// (bodies of characters) whether a body is on the ground or in it.
  std::vector<char>& grounded() { return grounded_; }

 private:
  struct Geometry {
    const character::Shape* shape = nullptr;
    int body = -1;
    double bounding_radius = 0;
    // All of a capsule or a box is within a radius of a segment along an axis of its body.
    int axis = 0;
    double half_length = 0, around_axis = 0;
    dGeomID geom = nullptr;                      // for pairs
    dTriMeshDataID surface = nullptr;            // of a mesh
    std::optional<ConvexPolyhedron> solid = {};  // of a convex mesh, and of a box where there are meshes
    Quat turn = Quat::Identity();                // of ODE's shape in the body
    Vec3 center = Vec3::Zero();                  // in the world, of the step in which it was located
    uint64_t located = 0;                        // step
    uint64_t placed = 0;                         // step in which the geom is where the body is
  };
  struct Pair {
    size_t first;
    size_t second;
    double reach_squared;
    bool convex;  // a mesh among them, and both are solids
    bool meshed;  // a mesh among them
  };

  /// Pairs of shapes of two characters: none is tested while the characters are far apart.
  struct CharacterPair {
    size_t first;
    size_t second;
    std::vector<Pair> pairs;
  };
  /// About a character, of this step.
  struct Ball {
    Vec3 center = Vec3::Zero();
    double radius = 0;
  };

  Pair MakePair(size_t first, size_t second) const;
  void MakePairs(const Forest& forest);
  void FindBalls();
  void CollideCharacters(std::span<const BodyMotion> bodies);
  /// Whether the spheres about two shapes do not meet. Most pairs are apart, so that this is not worth a call.
  bool Apart(const Pair& pair) const {
    return (geometries_[pair.first].center - geometries_[pair.second].center).squaredNorm() > pair.reach_squared;
  }
  /// Square of the distance over which the segments of two shapes without meshes are apart.
  double SegmentReachSquared(const Pair& pair) const;
  /// Whether what is around the segments of two shapes without meshes does not meet: of the pairs whose spheres meet,
  /// ODE would find nothing in 19 of 20.
  bool SegmentsApart(const Pair& pair, std::span<const BodyMotion> bodies) const;
  void Locate(Geometry& geometry, const BodyMotion& body) const;
  void CollidePair(const Pair& pair, std::span<const BodyMotion> bodies);
  void MakeGeometry(int body, const character::Shape& shape);
  void MakeMesh(const character::Shape& shape, Geometry& geometry) const;
  double SpeculativeMargin(const Geometry& geometry, const BodyMotion& body) const;
  void AddGroundPoint(const Geometry& geometry, int feature, const Vec3& point);
  void CollideWithGround(const Geometry& geometry, const BodyMotion& body);
  void CollideBoxWithGround(const Geometry& geometry, const BodyMotion& body, double margin);
  void CollideCapsuleWithGround(const Geometry& geometry, const BodyMotion& body, double margin);
  void CollideMeshWithGround(const Geometry& geometry, const BodyMotion& body, double margin);
  void CollideMeshes(const Pair& pair, std::span<const BodyMotion> bodies);
  void Place(Geometry& geometry, const BodyMotion& body);

  const CollisionOptions options_;
  std::vector<Geometry> geometries_;
  std::vector<Pair> pairs_;             // within characters
  std::vector<ShapeBounds> shapes_;     // (geometries)
  std::vector<ShapePair> shape_pairs_;  // (pairs)
  uint64_t step_ = 0;                   // in which contacts are found
  std::vector<CharacterPair> character_pairs_;
  std::vector<size_t> first_geometry_;  // (characters + 1)
  std::vector<Ball> balls_;             // (characters) empty with a single one
  std::vector<ContactPoint> points_;
  std::vector<char> grounded_;
  std::vector<Overlap> overlaps_;  // of a pair with a mesh, or of a mesh with the ground
  ConvexScratch scratch_;
};

/// Which shapes are near one another or the ground: found in all lanes at once, because most are not.
class NearShapeFinder {
 public:
  /// The collision must outlive it.
  NearShapeFinder(const Collision& collision, const TreePasses& passes);
  /// @param bodies (bodies) BodyNumbers of the lanes
  void Find(const std::byte* bodies);
  NearShapes OfLane(size_t lane) const {
    return {{pairs_[lane], pair_counts_[lane]}, {ground_[lane], ground_counts_[lane]}};
  }

 private:
  struct alignas(64) Center {
    double numbers[8][3];
  };
  const Collision& collision_;
  const TreePasses& passes_;
  std::vector<Center> centers_;
  std::vector<uint32_t> memory_;
  std::vector<uint32_t*> pairs_, ground_;            // (lanes) lists
  std::vector<size_t> pair_counts_, ground_counts_;  // (lanes)
};

}  // namespace retrace::simulation
