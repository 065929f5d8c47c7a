/// Files of measured ground forces.
///
/// Four formats are read. A storage file of OpenSim (.mot or .sto) has a header that ends with a line `endheader`, a
/// row of names and a row of numbers per instant. A file of Vicon Nexus (.csv or .txt) has a section `Devices`, one of
/// Qualisys Track Manager (.tsv) begins with `NO_OF_SAMPLES` and holds one plate. Every other file is a table with
/// commas between.
///
/// Vicon and Qualisys: forces of plates and where they act; free moments are not read. Up is the axis along which the
/// plates are loaded most, and forces are those on the person, which push upwards.
///
/// Table: `time` [s]; for each of left and right `left_fx_N`, `left_fy_N`, `left_fz_N`: the force on the foot, and
/// `left_copx_m`, `left_copy_m`, `left_copz_m`: where it acts (may be left out); `valid`: 1 where all of the ground's
/// force was measured, else 0 (may be left out). Axes are those of the motion with y up.
///
/// Storage file: `time`; of each force PRE`ground_force_`MID`vx`, `vy`, `vz` [N]; where it acts, with `px`, `py`, `pz`
/// [m] (may be left out); its free moment PRE`ground_torque_`MID`x`, `y`, `z` or PRE`ground_moment_`MID`mx`, `my`, `mz`
/// [N m] (may be left out). PRE and MID are any text, also none. A force belongs to the left or right foot where one of
/// the words of PRE and MID, between underscores, is `l` or `left`, `r` or `right`: `ground_force_right_foot_vx`,
/// `L_ground_force_vx`, `ground_force_calcn_l_vx`. As in OpenSim's examples, `ground_force_vx` is the right foot's
/// where `1_ground_force_vx` is the only other force, which is then the left foot's. Of all others, such as
/// `ground_force_1_vx`, the names do not tell the foot. Axes are OpenSim's: x forward, y up, z to the right.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/motion/measured_forces.h"
#include "retrace/recordings/force_limits.h"

namespace retrace::motion {

/// `name` stands for the file in messages. Throws InputError with file, line and column: what was found and what was
/// expected. Columns that are not known are an error, and are named.
MeasuredForces ParseMeasuredForces(std::string_view text, const std::string& name);
MeasuredForces ReadMeasuredForces(const std::filesystem::path& path);

/// The files of the other plates of a trial, where a file holds one plate and is named as Qualisys Track Manager names
/// it: of `walk_f_1.tsv` all `walk_f_N.tsv` that are there, in the order of their numbers.
std::vector<std::filesystem::path> OtherPlates(const std::filesystem::path& path);
/// Forces that were measured at the same instants. Throws InputError with the name of the part that differs.
/// @param names of the parts, for messages
MeasuredForces Together(std::vector<MeasuredForces> parts, const std::vector<std::string>& names);

}  // namespace retrace::motion
