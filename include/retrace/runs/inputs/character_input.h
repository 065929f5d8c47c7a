/// The character that the user named.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"
#include "retrace/runs/inputs/inputs.h"

namespace retrace::runs {

/// The character that gets the lengths of the recorded person where `subject` is asked for: an adult with the segment
/// masses of de Leva (1996).
inline constexpr const char* kSubjectModel = "adult";

/// Whether a character of the recorded person's size is meant, instead of one in a file.
bool IsSubject(const std::string& character);

/// The file of a character, of `subject` that of its model. Throws UsageError for a name that is none.
std::filesystem::path CharacterFile(const std::string& name_or_file);

/// The character of a file: in the toolkit's own format, or a robot's (URDF or MJCF; what is left out of it is added to
/// `notes`, where given). Throws InputError.
character::Character ParseCharacterFile(const InputFile& file, std::vector<std::string>* notes = nullptr);

/// The character of a file, with the lengths of the person in the clip where its name says so. `notes` receives what
/// was found of them. @param file what CharacterFile names @param clip_name stands for the clip in messages
character::Character CharacterFor(const std::string& name_or_file, const InputFile& file, const motion::Clip& clip,
                                  const std::string& clip_name, const character::ReferenceOptions& options,
                                  std::vector<std::string>& notes);

}  // namespace retrace::runs
