/// Robots in the Unified Robot Description Format of ROS.
#pragma once

#include <filesystem>

#include "retrace/robots/robot.h"
#include "xml_values.h"

namespace retrace::robots {

/// @param path where the file is: meshes are looked for from there
Robot ReadUrdf(XmlFile& xml, const std::filesystem::path& path);

}  // namespace retrace::robots
