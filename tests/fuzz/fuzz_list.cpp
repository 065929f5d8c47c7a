#include <cmath>
#include <set>

#include "read_back.h"
#include "retrace/io/number.h"
#include "retrace/runs/inputs/clip_list.h"

namespace {

using namespace retrace;

void AppendCell(std::string& text, const std::string& cell) {
  text.append(cell.empty() ? "-" : cell).append("\t");
}

/// The list as a table with all columns.
std::string Format(const std::vector<runs::ListedClip>& clips) {
  std::string text = "clip\tname\tskeleton\tstart\tend\ttime_scale\tseeds\tgroup\tcharacter\tworld\tsettings\n";
  std::set<std::string> names;
  for (const runs::ListedClip& listed : clips) {
    fuzz::Require(names.insert(listed.name).second, "names are distinct");
    fuzz::Require(!listed.name.empty() && listed.name.find('/') == std::string::npos, "a name is that of a folder");
    fuzz::Require(std::isfinite(listed.clip.start) && listed.clip.start >= 0, "the start is a time");
    fuzz::Require(!listed.clip.end || (std::isfinite(*listed.clip.end) && *listed.clip.end > listed.clip.start),
                  "the end is a later time");
    fuzz::Require(listed.clip.time_scale >= 0.01 && listed.clip.time_scale <= 100, "the time scale is in its range");
    fuzz::Require(listed.seeds >= 0, "seeds are counted");
    AppendCell(text, listed.clip.file.string());
    AppendCell(text, listed.name);
    AppendCell(text, listed.clip.skeleton.string());
    AppendCell(text, io::Number(listed.clip.start));
    AppendCell(text, listed.clip.end ? io::Number(*listed.clip.end) : "");
    AppendCell(text, io::Number(listed.clip.time_scale));
    AppendCell(text, listed.seeds > 0 ? std::to_string(listed.seeds) : "");
    AppendCell(text, listed.group);
    AppendCell(text, listed.character);
    std::string worlds;
    for (const std::string& world : listed.worlds) worlds.append(worlds.empty() ? "" : "+").append(world);
    AppendCell(text, worlds);
    std::string settings;
    for (const std::string& setting : listed.settings) settings.append(settings.empty() ? "" : " ").append(setting);
    text.append(settings.empty() ? "-" : settings).append("\n");
  }
  return text;
}

}  // namespace

// The bytes are a list of recordings.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::IsReadBack(std::string(reinterpret_cast<const char*>(data), size),
                   [](const std::string& text) { return Format(runs::ParseClipList(text, "/fuzz.tsv", "/")); });
  return 0;
}
