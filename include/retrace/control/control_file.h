/// The control file: all that is needed to replay a control anywhere.
#pragma once

#include <filesystem>
#include <string>

#include "retrace/control/control.h"

namespace retrace::control {

/// Text of a control file (version 1): the character's document, the world, the start state, and per fragment its
/// start, duration and target poses. Numbers read back to the same bits.
std::string FormatControl(const character::Character& character, const OpenLoopControl& control);

struct LoadedControl {
  character::Character character;
  OpenLoopControl control;
};

/// Reads a control file. Throws InputError with the JSON pointer, what was found and what was expected.
LoadedControl LoadControl(const std::filesystem::path& path);
LoadedControl ParseControl(const std::string& text, const std::string& name);

}  // namespace retrace::control
