/// Acclaim skeletons and motions (ASF/AMC).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "retrace/motion/clip.h"

namespace retrace::motion {

/// Reads a skeleton and a motion. Each bone becomes a joint at the bone's proximal end, named after the bone and with
/// identity orientation at rest; each leaf bone also gives an end site `<bone>_end` at its tip. `Clip::unit` is
/// 0.0254 / length (the database's convention: lengths are inches times the `length` value), 0 without such a value.
/// AMC has no frame rate: 120 per second, unless the file has a `:SAMPLES-PER-SECOND` line.
///
/// With C the rotation of a bone's `axis`, the bone turns by C M C^-1, where M is the product of its degrees of
/// freedom, the one listed first applied first; translations (tx, ty, tz) move its proximal end by C t. Angles are in
/// the unit of the AMC (`:DEGREES`, `:RADIANS`), or else in that of the ASF. Every frame must give every bone that has
/// degrees of freedom, once, and frames must be numbered without gaps; the limits on names and chains are those of
/// bvh.h. Throws InputError with file, line and column, what was found and what was expected.
Clip ReadAsfAmc(const std::filesystem::path& asf, const std::filesystem::path& amc);
Clip ParseAsfAmc(std::string_view asf, const std::string& asf_name, std::string_view amc, const std::string& amc_name);

/// Text of an ASF file for the clip's skeleton and of an AMC file for its frames; reading the two back gives joints of
/// the same names with the same global positions and orientations.
///
/// An ASF determines more by its bones than a clip does by its joints, and less by its names:
///  - All children of a bone start at its tip. A joint whose children start in different positions becomes a bone of
///  zero
///    length, and rigid synthetic bones lead to those places: `<first child there>_link`, or `<joint>_tip` to an end
///    site that is not the joint's only child.
///  - The root is called `root`. A clip's root of another name becomes its only child, without motion of its own.
///  - Names are words: blanks become underscores, a word that would be misread gets one in front, and a name that is
///    then taken gets `_2`, `_3` and so on.
///  - A joint without children reads back with an end site on it.
std::string FormatAsf(const Clip& clip);
std::string FormatAmc(const Clip& clip);

}  // namespace retrace::motion
