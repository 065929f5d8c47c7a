#include "retrace/runs/inputs/clip_list.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/io/split_text.h"
#include "retrace/io/text.h"

namespace retrace::runs {
namespace {

const std::vector<std::string> kColumns = {"clip",  "name",       "skeleton", "animation",  "performer", "start",
                                           "end",   "time_scale", "retime",   "loop",       "mirror",    "seeds",
                                           "group", "character",  "world",    "frame_rate", "settings"};

std::string Quoted(const std::string& text) {
  return std::string("\"").append(text).append("\"");
}

/// The cells of a row by the names of their columns; empty where there is none. As a visitor it reads the fields of the
/// options of a clip, where there are columns with their keys.
class Row final : public io::UniformVisitor<Row> {
 public:
  Row(const std::vector<std::string>& names, const std::vector<std::string>& cells, std::string place)
      : place_(std::move(place)) {
    for (size_t i = 0; i < cells.size(); ++i) cells_[names[i]] = cells[i] == "-" ? "" : cells[i];
  }
  std::string Text(const std::string& column) const {
    const auto found = cells_.find(column);
    return found == cells_.end() ? "" : found->second;
  }
  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, T& value, const Kind& kind) const {
    const std::string text = Text(std::string(setting.key));
    if (!text.empty()) io::ReadText(kind, text, std::string(place_).append(": ").append(setting.key), value);
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }
  [[noreturn]] void Fail(const std::string& column, const std::string& found, const std::string& expected) const {
    throw InputError(std::string(place_).append(": ").append(column), Quoted(found), expected);
  }
  const std::string& place() const { return place_; }

 private:
  std::string place_;
  std::map<std::string, std::string> cells_;
};

std::vector<std::string> ColumnNames(const std::vector<std::string>& cells, const std::string& place) {
  std::string all;
  for (const std::string& column : kColumns) all.append(all.empty() ? "" : ", ").append(column);
  for (const std::string& cell : cells) {
    if (std::find(kColumns.begin(), kColumns.end(), cell) == kColumns.end()) {
      throw InputError(place, "the column " + Quoted(cell), "names of columns, of " + all);
    }
    if (std::count(cells.begin(), cells.end(), cell) > 1) {
      throw InputError(place, "the column " + Quoted(cell) + " twice", "each at most once");
    }
  }
  if (std::find(cells.begin(), cells.end(), "clip") == cells.end()) {
    throw InputError(place, "no column \"clip\"", "one, among " + all);
  }
  return cells;
}

ListedClip ReadRow(Row& row, const std::filesystem::path& folder) {
  ListedClip listed;
  listed.place = row.place();
  const std::string clip = row.Text("clip");
  if (clip.empty()) row.Fail("clip", "", "the file of a recording");
  listed.clip.file = folder / clip;
  if (const std::string skeleton = row.Text("skeleton"); !skeleton.empty()) {
    listed.clip.skeleton = folder / skeleton;
  }
  listed.clip.choice = {row.Text("animation"), row.Text("performer")};
  listed.name = row.Text("name");
  if (listed.name.empty()) listed.name = std::filesystem::path(clip).stem().string();
  if (listed.name.find_first_of("/ \\\"'") != std::string::npos || listed.name.starts_with('.') ||
      !io::IsName(listed.name)) {
    row.Fail("name", listed.name,
             "a name that a folder can have, of at most 100 bytes, without spaces and quotation marks");
  }
  Describe(listed.clip, row);
  if (listed.clip.end && *listed.clip.end <= listed.clip.start) {
    row.Fail("end", row.Text("end"), "seconds after the start");
  }
  if (const std::string parts = row.Text("retime"); !parts.empty()) {
    try {
      for (const std::string& part : io::Split(parts, ','))
        listed.clip.retimings.push_back(character::ParseRetiming(part));
    } catch (const UsageError&) {
      row.Fail("retime", parts, "START-END:FACTOR, such as 1.2-1.8:1.5, with commas between several");
    }
  }
  row.Field({"seeds", "Number of seeds"}, listed.seeds, kSeeds);
  listed.group = row.Text("group");
  if (const std::string worlds = row.Text("world"); !worlds.empty()) {
    for (const std::string& world : io::Split(worlds, '+')) {
      if (world.empty()) row.Fail("world", worlds, "names of worlds or their files, with + between");
      listed.worlds.push_back(world);
    }
  }
  listed.character = row.Text("character");
  std::istringstream settings(row.Text("settings"));
  for (std::string setting; settings >> setting;) listed.settings.push_back(setting);
  return listed;
}

}  // namespace

std::vector<ListedClip> ParseClipList(const std::string& text, const std::filesystem::path& path,
                                      const std::filesystem::path& folder) {
  const std::filesystem::path base = folder.empty() ? path.parent_path() : folder;
  std::vector<std::string> lines = io::Split(std::string(io::WithoutByteOrderMark(text)), '\n');
  std::vector<std::string> names;
  std::vector<ListedClip> clips;
  std::map<std::string, std::string> places;
  for (size_t l = 0; l < lines.size(); ++l) {
    std::string& line = lines[l];
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    const std::string place = path.string().append(":").append(std::to_string(l + 1));
    if (!io::IsUtf8(line)) throw InputError(place, "bytes that are not UTF-8", "a text in UTF-8");
    const std::vector<std::string> cells = io::Split(line, '\t');
    if (names.empty()) {
      names = ColumnNames(cells, place);
      continue;
    }
    if (cells.size() > names.size()) {
      throw InputError(place, std::to_string(cells.size()).append(" cells"),
                       std::string("at most ").append(std::to_string(names.size())));
    }
    Row row(names, cells, place);
    clips.push_back(ReadRow(row, base));
    const auto [first, is_new] = places.emplace(clips.back().name, place);
    if (!is_new) {
      throw InputError(place, "the name " + Quoted(clips.back().name) + " of " + first->second,
                       "another one, in a column \"name\"");
    }
  }
  if (clips.empty()) throw InputError(path.string(), "no clips", "a row of column names and a row per clip");
  return clips;
}

}  // namespace retrace::runs
