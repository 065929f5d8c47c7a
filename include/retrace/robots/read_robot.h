/// Files of robots: URDF and MJCF.
#pragma once

#include <filesystem>
#include <string>

#include "retrace/robots/robot.h"

namespace retrace::robots {

/// Whether the bytes are XML rather than JSON: what they hold shows when they are read.
bool LooksLikeXml(const std::string& bytes);

/// The robot of a file whose bytes were read; its root element says which format it is. Included files and meshes are
/// read from where it is. Links that no joint moves are still links of their own. Throws InputError with file and line
/// for what cannot be represented.
Robot ReadRobot(const std::string& bytes, const std::filesystem::path& path);

}  // namespace retrace::robots
