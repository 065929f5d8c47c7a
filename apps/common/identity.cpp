#include "common/identity.h"

#include "common/data_files.h"
#include "common/world_input.h"
#include "retrace/io/file.h"

namespace retrace::apps {

namespace fs = std::filesystem;

std::vector<fs::path> InputFiles(const ClipOptions& clip) {
  std::vector<fs::path> files = {clip.clip};
  const fs::path same_name = fs::path(clip.clip).replace_extension(".asf");
  if (!clip.skeleton.empty()) {
    files.emplace_back(clip.skeleton);
  } else if (fs::path(clip.clip).extension() == ".amc" && fs::exists(same_name)) {
    files.push_back(same_name);
  }
  return files;
}

io::Json Identity(const JobOptions& options) {
  const reconstruction::Configuration configuration = MakeConfiguration(options);
  io::Json inputs = io::Json::object();
  const auto add = [&](const fs::path& file) { inputs[file.filename().string()] = io::Sha256(io::ReadFile(file)); };
  for (const fs::path& file : InputFiles(options.clip)) add(file);
  add(FindCharacter(options.character));
  for (const fs::path& file : WorldFiles(options.worlds)) add(file);
  const io::Json identity = {{"program", results::Version()},
                             {"configuration", configuration.ToJson()},
                             {"clip", configuration.reference.ToJson()},
                             {"inputs", inputs}};
  return io::ParseJson(identity.dump(), "identity");  // as it will be read from a manifest
}

std::string Differences(const io::Json& then, const io::Json& now) {
  const io::Json patch = io::Json::diff(then, now);
  const auto pointer = patch[0]["path"].get<std::string>();
  const auto value = [&](const io::Json& identity) {
    const io::Json::json_pointer where(pointer);
    return identity.contains(where) ? identity[where].dump() : std::string("nothing");
  };
  std::string text = pointer;
  text.append(" was ").append(value(then)).append(" and is ").append(value(now));
  if (patch.size() > 1) text.append(", and ").append(std::to_string(patch.size() - 1)).append(" more");
  return text;
}

}  // namespace retrace::apps
