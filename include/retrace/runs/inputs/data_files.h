/// The files that come with the toolkit.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace retrace::runs {

/// Path of a character: a file as it is given, or the name of one that comes with the toolkit. Throws UsageError
/// listing the names.
std::filesystem::path FindCharacter(const std::string& name_or_file);
/// The same for a world, and for key poses.
std::filesystem::path FindWorld(const std::string& name_or_file);
std::filesystem::path FindKeys(const std::string& name_or_file);
/// What these do: in these folders, for a kind of data that has a folder of its name with an s.
std::filesystem::path FindDataIn(const std::vector<std::filesystem::path>& folders, const std::string& kind,
                                 const std::string& name_or_file);
/// A recording that comes with the toolkit, such as walk.bvh; nothing where there is none of that name.
std::optional<std::filesystem::path> FindBundledClip(const std::string& file_name);
/// A folder with the same content as `share/retrace` of an installation; it is searched before all others. Returns
/// true.
bool AddDataFolder(const std::filesystem::path& folder);

#ifdef RETRACE_PACKAGE_DATA_DIR
/// A program that found the package with CMake uses the data of that package, also after the package was moved: a
/// static library cannot find out where it was linked from.
inline const bool kPackageDataAdded = AddDataFolder(RETRACE_PACKAGE_DATA_DIR);
#endif

/// The page that a report is put into, made at build by npm. Throws UsageError where it was not made.
std::filesystem::path FindReportPage();

}  // namespace retrace::runs
