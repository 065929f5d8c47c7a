/// Motion and ground forces as storage files of OpenSim (.sto). Tab-separated columns after a header, every simulation
/// step, in OpenSim's ground frame: x forward, y up, z to the right (ours: z, y, -x). Meters, seconds, newtons; angles
/// in degrees, and the header says so (inDegrees=yes). Blanks in names become underscores.
#pragma once

#include <string>
#include <vector>

#include "retrace/exports/exported_motion.h"

namespace retrace::exports {

/// coordinates.sto. Columns: time; root_rz, root_rx, root_ry [degrees], root_tx, root_ty, root_tz [m]: the root body's
/// orientation, and its center of mass; per joint JOINT_rz, JOINT_rx, JOINT_ry [degrees]. Three angles are successive
/// turns about the z, the turned x and the twice turned y axis, as in OpenSim's gait models (tilt, list, rotation of
/// the pelvis; flexion, adduction, rotation of the hip): R = R_z R_x R_y, child to parent. A hinge has its axis only: a
/// bent knee has a negative JOINT_rz, as there. Angles go on where they pass 180 degrees.
std::string FormatCoordinates(const ExportedMotion& motion);

/// ground_forces.sto, in the columns that OpenSim's external loads expect. For each foot, and each other body that
/// touches anything (metrics::ForcePlates), ground_force_BODY_vx, _vy, _vz [N] on the character, ground_force_BODY_px,
/// _py, _pz: point of application [m], ground_torque_BODY_x, _y, _z: the moment left there [N m]. A row has the
/// forces of a step and stands at its middle; before these there is a row of zeros at time 0, and after them the last
/// one once more at the end. motion::ReadMeasuredForces reads it.
std::string FormatGroundForces(const ExportedMotion& motion);

/// external_loads.xml: which body each force of ground_forces.sto acts on, as OpenSim's tools take it.
std::string FormatExternalLoads(const ExportedMotion& motion);

}  // namespace retrace::exports
