/// What one step of a world is made of, whichever solver takes it.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::simulation {

/// Where a body is and how it moves; rotation is the matrix of orientation.
struct BodyMotion {
  Vec3 position = Vec3::Zero();  ///< of the center of mass [m]
  Quat orientation = Quat::Identity();
  Mat3 rotation = Mat3::Identity();
  Vec3 linear_velocity = Vec3::Zero();   ///< [m/s]
  Vec3 angular_velocity = Vec3::Zero();  ///< in world axes [rad/s]
};

/// A point at which a body touches the ground, an object or another body. With f the force on `body` along the normal
/// and v the rate at which the point of `body` moves along it, relative to `other`: v + cfm f >= push, f >= 0.
struct ContactPoint {
  int body = -1;
  int other = -1;  ///< -1: the ground or another thing that no force moves
  Vec3 position = Vec3::Zero();
  Vec3 normal = Vec3::UnitY();           ///< towards `body`
  double depth = 0;                      ///< [m]; negative: a gap that this step may close
  int law = 0;                           ///< see StepLaw::Contact
  int object = -1;                       ///< of the environment, where it is one that no force moves
  Vec3 surface_velocity = Vec3::Zero();  ///< of that [m/s]
  int feature = -1;                      ///< of the body (a corner, an end): the same in the next step; -1: not known
};

/// An implicit servo, per axis of the parent body: with w the child's rate relative to the parent at the end of the
/// step and t the torque on the child, w + compliance t = rate. Compliance 0: no servo on that axis.
struct Motor {
  Vec3 rate = Vec3::Zero();        ///< [rad/s]
  Vec3 compliance = Vec3::Zero();  ///< [rad/s/(N m)]
};

/// How contacts behave in a step of a given length.
struct ContactLaw {
  double erp = 0;           ///< share of the depth that is corrected in a step
  double cfm = 0;           ///< of the normal force [m/s/N]
  double fastest_push = 0;  ///< [m/s]
  double friction = 0;      ///< coefficient; friction pyramid
  double friction_cfm = 0;  ///< of the friction forces [m/s/N]
};

/// The same for both solvers.
struct StepLaw {
  double time_step = 0;  ///< [s]
  double gravity = 0;    ///< downwards [m/s^2]
  double joint_erp = 0;  ///< share of a joint's position error that is corrected in a step
  ContactLaw contact;
  std::vector<ContactLaw> others = {};  ///< of other materials, counted from 1
  bool moving_surfaces = false;         ///< contacts may have a surface velocity

  const ContactLaw& Contact(int law) const { return law == 0 ? contact : others[static_cast<size_t>(law) - 1]; }
  bool HasFriction() const {
    for (const ContactLaw& other : others) {
      if (other.friction > 0) return true;
    }
    return contact.friction > 0;
  }
  /// Rate at which a contact pushes [m/s]; of a gap: the rate at which it may close, negative.
  double Push(double depth, const ContactLaw& law) const {
    if (depth < 0) return depth / time_step;
    const double push = law.erp / time_step * depth;
    return push > law.fastest_push ? law.fastest_push : push;
  }
};

/// All that acts in a step.
struct StepInput {
  std::span<const ContactPoint> contacts;
  std::span<const Motor> motors;       ///< (joints); a hinge uses its axis
  std::span<const Vec3> torques;       ///< (bodies) in world axes [N m]; empty: none
  std::span<const Vec3> forces = {};   ///< (bodies) on centers of mass, world axes [N]; empty: none
  std::span<const char> resting = {};  ///< (bodies that move freely) which stay as they are; empty: none
};

/// The forces that were found.
struct StepForces {
  std::vector<Vec3> contacts;  ///< (contacts) on `body`, in world axes [N]
  std::vector<Vec3> motors;    ///< (joints) on the child, in the axes of the parent [N m]
};

/// Two directions that span the plane of a normal, with n x p = q. (The ones that ODE takes: the friction pyramid has
/// its edges there.)
inline void PlaneSpace(const Vec3& n, Vec3& p, Vec3& q) {
  if (std::abs(n.z()) > 0.70710678118654752440) {
    const double a = n.y() * n.y() + n.z() * n.z();
    const double k = 1 / std::sqrt(a);
    p = {0, -n.z() * k, n.y() * k};
    q = {a * k, -n.x() * p.z(), n.x() * p.y()};
  } else {
    const double a = n.x() * n.x() + n.y() * n.y();
    const double k = 1 / std::sqrt(a);
    p = {-n.y() * k, n.x() * k, 0};
    q = {-n.z() * p.y(), n.z() * p.x(), a * k};
  }
}

}  // namespace retrace::simulation
