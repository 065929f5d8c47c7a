/// The formats of `export`: what they are called, and the files of each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "retrace/exports/exported_motion.h"
#include "retrace/skin/body_skin.h"

namespace retrace::exports {

enum class ExportFormat { kGlb, kBvh, kCsv, kNpz, kSto, kTrc, kJoints, kMujoco };

/// Names of formats, separated by commas, as the user gave them; `all` for all. In the order of ExportFormat, each
/// once. Throws UsageError for a name that is none.
std::vector<ExportFormat> ParseFormats(const std::vector<std::string>& names);

/// Names of the files that a format consists of. GLB has all characters of a scene in one file; the others have a set
/// for each, in folders (results::CharacterPrefix).
std::vector<std::string> FilesOf(ExportFormat format, size_t num_characters = 1);

/// Frames per second where the user names none: 60 for GLB, 240 for MuJoCo, 120 for the rest. NPZ and STO have every
/// simulation step.
double DefaultRate(ExportFormat format);
bool HasRate(ExportFormat format);

/// Contents of FilesOf(format, motions.size()), in that order. Several motions are those of the characters of one
/// scene.
/// @param skins of GLB, as FormatGlb has them
std::vector<std::string> Format(ExportFormat format, std::span<const ExportedMotion> motions, double rate,
                                std::span<const skin::BodySkin> skins = {});

}  // namespace retrace::exports
