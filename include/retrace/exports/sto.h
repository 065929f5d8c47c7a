/// Motion and ground forces as storage files of OpenSim (.sto). Tab-separated columns after a header, every simulation
/// step, in OpenSim's ground frame: x forward, y up, z to the right (ours: z, y, -x). Metres, seconds, newtons; angles
/// in degrees, and the header says so (inDegrees=yes). Blanks in names become underscores.
#pragma once

#include <string>
#include <vector>

#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

/// coordinates.sto. Columns: time; root_rz, root_rx, root_ry [degrees], root_tx, root_ty, root_tz [m]: the root body's
/// orientation, and its centre of mass; per joint JOINT_rz, JOINT_rx, JOINT_ry [degrees]. Three angles are successive
/// turns about the z, the turned x and the twice turned y axis, as in OpenSim's gait models (tilt, list, rotation of
/// the pelvis; flexion, adduction, rotation of the hip): R = R_z R_x R_y, child to parent. A hinge has its axis only: a
/// bent knee has a negative JOINT_rz, as there. Angles go on where they pass 180 degrees.
std::string FormatCoordinates(const ExportedMotion& motion);

/// What presses on the body `body` and on those listed with it.
struct ForcePlate {
  int body = -1;            ///< that the force is applied to
  std::vector<int> bodies;  ///< whose contacts count, `body` among them
};

/// The feet of the character, a toe joined to the foot that carries it; then every other body that anything but the
/// character itself ever touches. No contact of body with ground or object is in none.
std::vector<ForcePlate> ForcePlates(const ExportedMotion& motion);

/// What contacts come to: a force, where it acts, and the moment that is left there.
struct AppliedForce {
  Vec3 force = Vec3::Zero();   ///< [N]
  Vec3 point = Vec3::Zero();   ///< centre of pressure: mean of the contact points by normal force [m]
  Vec3 moment = Vec3::Zero();  ///< about `point` [N m]; on level ground it has a vertical component only
};
/// Of the contacts with ground and objects of a plate in one step, in our frame; all zero without contact. Their moment
/// about any place r is moment + (point - r) x force.
AppliedForce ForceOn(const ForcePlate& plate, const std::vector<simulation::Contact>& contacts);

/// ground_forces.sto, in the columns that OpenSim's external loads expect. Plate i = 1, 2, ... has ground_force_i_vx,
/// _vy, _vz [N] on the character, ground_force_i_px, _py, _pz: point of application [m], ground_torque_i_x, _y, _z: the
/// moment left there [N m]. What a step brings about stands at the state that it led to; the first row is 0.
std::string FormatGroundForces(const ExportedMotion& motion);

/// external_loads.xml: which body each plate of ground_forces.sto acts on, as OpenSim's tools take it.
std::string FormatExternalLoads(const ExportedMotion& motion);

}  // namespace retrace::exports
