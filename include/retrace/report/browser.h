/// A browser without a window that draws pictures of a page.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace retrace::report {

/// The browser to use: `wanted` where it is not empty, else Chromium or Chrome by one of its usual names. Throws
/// UsageError saying how to get one.
std::filesystem::path FindBrowser(const std::string& wanted);

/// Opens a page, which `write_page` writes to a file of its own, with a fragment (what follows #) and returns the PNG
/// that it leaves in the element `picture`. Nothing of the user's own browser is touched, and there is no network.
/// Throws OutputError when no picture comes.
std::string DrawPicture(const std::filesystem::path& browser,
                        const std::function<void(const std::filesystem::path& file)>& write_page,
                        const std::string& fragment);

}  // namespace retrace::report
