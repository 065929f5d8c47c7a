/// Forces behind a motion as one page, which any browser shows without a network and without scripts: the verdict
/// first, then what is doubtful, figures and pictures.
#pragma once

#include <string>
#include <vector>

namespace retrace::report {

struct ForcePageTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  ///< (rows x columns); the first column names the row
};

struct ForcePageSection {
  std::string title;
  std::string text;      ///< one paragraph; empty: none
  ForcePageTable table;  ///< without columns: none
  std::string picture;   ///< an SVG file; empty: none
};

struct ForcePage {
  std::string title;                  ///< of the motion
  std::string verdict;                ///< a sentence
  std::vector<std::string> warnings;  ///< sentences without a full stop
  std::vector<std::string> notes;     ///< the same
  std::vector<ForcePageSection> sections;
};

/// The page as HTML. Texts are escaped, pictures are not.
std::string FormatForcePage(const ForcePage& page);

}  // namespace retrace::report
