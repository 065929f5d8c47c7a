/// Tables of force plates as the programs of motion capture systems export them.
#pragma once

#include <string>
#include <string_view>

#include "retrace/motion/measured_forces.h"

namespace retrace::recordings {

/// Whether a text has the section "Devices" of Vicon Nexus, or begins like a force file of Qualisys Track Manager.
bool IsViconTable(std::string_view text);
bool IsQualisysTable(std::string_view text);

/// The section "Devices" of a CSV or text file of Vicon Nexus: the rate, names of devices ("Plate 1 - Force", "- CoP"),
/// names of columns (Frame, Sub Frame, Fx, ...), units, and rows. Devices that are no plates are passed over.
motion::MeasuredForces ParseViconTable(std::string_view text, const std::string& name);
/// A force file of Qualisys Track Manager, of one plate: keys with values (FREQUENCY, FORCE_PLATE_NAME, ...), then
/// columns Force_X, ..., Moment_X, ..., COP_X, ..., with SAMPLE and TIME before them or not. Forces in the axes of the
/// plate are turned by its corners.
motion::MeasuredForces ParseQualisysTable(std::string_view text, const std::string& name);

}  // namespace retrace::recordings
