/// The points at which characters and free bodies touch the things of an environment and one another. (Characters
/// on the plain ground and against one another: collision.h.)
///
/// What nothing moves is met ahead of time, like the ground: ends of capsules, and places where they lie across an
/// edge, by their distance, which is exact; a box by ODE's test of boxes (box_contacts.h) where it will be at the end
/// of the step if nothing stops it, from which follow the gap that there is now and the points, also where a foot is
/// wider than a beam. Things that both move are met where they are; boxes of compound bodies, which carry others, a
/// millimeter ahead.
#pragma once

#include <ode/ode.h>

#include <deque>
#include <span>
#include <vector>

#include "contact_laws.h"
#include "forest.h"
#include "step.h"

namespace retrace::simulation {

class ObjectCollision {
 public:
  /// The forest and the options must outlive it.
  ObjectCollision(const Forest& forest, const WorldOptions& options, const ContactLaws& laws);
  ~ObjectCollision();
  ObjectCollision(const ObjectCollision&) = delete;
  ObjectCollision& operator=(const ObjectCollision&) = delete;

  /// Which free bodies are at rest: those without any velocity that things hold which nothing moves, or bodies at rest
  /// do, by contacts in whose polygon their center of mass lies. `resting` has one entry per free body.
  void FindResting(std::span<const BodyMotion> bodies, double time, std::vector<char>& resting);

  /// Whether contacts, among which there may be others, hold a free body: its center of mass is in their polygon.
  bool Hold(std::span<const ContactPoint> points, size_t free_body, const BodyMotion& body);

  /// A free body comes to rest where it is now; until it is touched its position is not looked at.
  void PutToRest(size_t free_body, const BodyMotion& body) { PlaceFree(free_body, body); }

  /// Appends the contacts of a step that begins at `time`. Bodies at rest that are touched by one that is not, or by a
  /// thing that moves, are so no longer. A body of the character on anything is `grounded`.
  void Find(std::span<const BodyMotion> bodies, double time, std::vector<char>& resting, std::vector<char>& grounded,
            std::vector<ContactPoint>& points);

 private:
  /// A shape of a body.
  struct Piece {
    const character::Shape* shape = nullptr;
    int body = -1;
    int owner = 0;  // of ContactLaws
    double radius = 0;
    dGeomID geom = nullptr;
    Quat turn = Quat::Identity();         // of ODE's shape in the body
    Quat orientation = Quat::Identity();  // of the shape in the body
    bool turned = false;                  // that is another
    bool carries = false;                 // a box of a compound body: what lies on it touches at several points
    Vec3 center = Vec3::Zero();           // of this step
    Mat3 rotation = Mat3::Identity();     // of this step, shape to world
    double margin = 0;                    // within which it can touch something in this step
  };
  /// About a shape: most pairs are found to be apart by these alone.
  struct Ball {
    Vec3 center = Vec3::Zero();
    double radius = 0;
    bool Touches(const Ball& other) const {
      const double reach = radius + other.radius;
      return (center - other.center).squaredNorm() <= reach * reach;
    }
  };
  /// A box of the environment.
  struct Fixed {
    const Box* box = nullptr;
    dGeomID geom = nullptr;
    Mat3 rotation = Mat3::Identity();
    Vec3 position = Vec3::Zero();  // at the start of the step
    Vec3 velocity = Vec3::Zero();  // that leads it to where it is at the end
  };

  Piece MakePiece(const character::Shape& shape, const Quat& orientation, int body, int owner) const;
  std::span<Piece> PiecesOf(size_t free_body) {
    return std::span(free_).subspan(first_piece_[free_body], first_piece_[free_body + 1] - first_piece_[free_body]);
  }
  /// Whether the balls about two shapes do not touch.
  static bool Apart(const Piece& a, const Piece& b) {
    return !Ball{a.center, a.radius}.Touches(Ball{b.center, b.radius});
  }
  bool Free(int body) const { return layout_.IsFree(body); }
  size_t FreeIndex(int body) const { return layout_.FreeIndexOf(body); }
  size_t FreeBody(size_t index) const { return static_cast<size_t>(layout_.FreeBody(index)); }
  bool Rests(int body, const std::vector<char>& resting) const { return Free(body) && resting[FreeIndex(body)] != 0; }

  void Begin(std::span<const BodyMotion> bodies, double time);
  void Place(Piece& piece, const BodyMotion& body) const;
  void PlaceFree(size_t free_body, const BodyMotion& body);
  void CollideFixed(const Piece& piece, const BodyMotion& body, std::vector<ContactPoint>& points);
  void CollideGround(const Piece& piece, std::vector<ContactPoint>& points) const;
  void CollideField(const Piece& piece, std::vector<ContactPoint>& points) const;
  void CollideWithBox(const Piece& piece, const BodyMotion& body, size_t box, std::vector<ContactPoint>& points);
  void CollideBoxes(const Piece& piece, const BodyMotion& body, size_t box, std::vector<ContactPoint>& points);
  void CollideCapsule(const Piece& piece, size_t box, std::vector<ContactPoint>& points) const;
  size_t CollidePieces(const Piece& a, const Piece& b, std::span<const BodyMotion> bodies,
                       std::vector<ContactPoint>& points) const;
  size_t CollideFree(size_t f, size_t g, std::span<const BodyMotion> bodies, std::vector<ContactPoint>& points);
  bool OnMovingBox(const Piece& piece, const BodyMotion& body);

  const WorldOptions& options_;
  const Environment& environment_;
  const ContactLaws& laws_;
  const Layout& layout_;
  std::deque<character::Shape> boxes_;  // about the meshes of own_
  std::vector<Piece> own_;
  std::deque<character::Shape> free_shapes_;
  std::vector<Piece> free_;          // of all free bodies
  std::vector<size_t> first_piece_;  // (free bodies, and one more)
  std::vector<double> reaches_;      // (free bodies) radius of the ball about the center that holds it
  std::vector<Ball> balls_;          // (free bodies)
  std::vector<Fixed> fixed_;
  bool anything_moves_ = false;
  std::vector<size_t> queue_;  // free bodies that are awake
  std::vector<char> done_;     // (free bodies) contacts with all other free bodies are found
  std::vector<ContactPoint> scratch_;
  std::vector<ContactPoint> held_;
  std::vector<double> angles_;
};

}  // namespace retrace::simulation
