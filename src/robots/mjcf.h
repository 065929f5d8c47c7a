/// Robots in the format of MuJoCo (MJCF).
#pragma once

#include <filesystem>

#include "retrace/robots/robot.h"
#include "xml_values.h"

namespace retrace::robots {

/// @param path where the file is: included files and meshes are looked for from there
Robot ReadMjcf(XmlFile& xml, const std::filesystem::path& path);

}  // namespace retrace::robots
