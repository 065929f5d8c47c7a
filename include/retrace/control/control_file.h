/// The control file: all that is needed to replay a control anywhere.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "retrace/control/control.h"

namespace retrace::control {

/// Text of a control file: the character's document, the world, the start state, and per fragment its start, duration
/// and target poses. Numbers read back to the same bits. A single character is written in version 1, so that earlier
/// programs read it, unless a fragment has commands (version 3).
std::string FormatControl(const character::Character& character, const OpenLoopControl& control);
/// The same for a scene: version 1 for a single character, version 2 for several. Version 2 has a member `characters`
/// with the document, the joints and the fragments of each; an entry of its start state names the character, counted
/// from 1, and free bodies come last without one. Version 3 has fragments that may hold the commands of each step:
/// `targets`, `torques` and `gains`, an entry of each for every step or a single one for all of them. It is written as
/// version 1 for a single character and as version 2 for several; files of one character in the form of version 2 are
/// read as well. A control with kinematic transitions is version 4: as version 1 or 3 for a single character, with a
/// member `kinematic_transitions`, so that no earlier program takes it for a simulated motion. A control with pushes or
/// a kinematic ending is version 5: as version 3, of one character or of several, with `pushes`, with
/// `kinematic_ending` (of one character, in a world without free bodies) or with `kinematic_transitions`; a file has
/// those members alone that it needs. Version 6 is as version 5, with endings of several characters or beside free
/// bodies, and with `kinematic_beginning`: the poses of each character up to the step at which all fragments begin,
/// `first_step`.
std::string FormatControl(const Scene& scene);

/// Receives a text piece by piece.
using TextSink = std::function<void(std::string_view piece)>;
/// All of these throw UsageError, before the first piece, for a control that is larger than what readers take.
///
/// The same texts in pieces, which are small: that of a long motion with commands would take much memory.
void WriteControl(const character::Character& character, const OpenLoopControl& control, const TextSink& write);
void WriteControl(const Scene& scene, const TextSink& write);

struct LoadedControl {
  character::Character character;
  OpenLoopControl control;
};

/// Reads a control file of a single character. Throws InputError with the JSON pointer, what was found and what was
/// expected.
LoadedControl LoadControl(const std::filesystem::path& path);
LoadedControl ParseControl(const std::string& text, const std::string& name);

/// Reads a control file of any version.
Scene LoadScene(const std::filesystem::path& path);
Scene ParseScene(const std::string& text, const std::string& name);

}  // namespace retrace::control
