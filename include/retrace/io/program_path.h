/// Other programs on this machine.
#pragma once

#include <filesystem>
#include <string>

namespace retrace::io {

/// The program of a name on the PATH, or the one at a path (a name with /); empty where there is none that can be run.
std::filesystem::path FindProgram(const std::string& name);

}  // namespace retrace::io
