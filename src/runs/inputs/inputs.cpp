#include "retrace/runs/inputs/inputs.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/io/file.h"

namespace retrace::runs {

io::Json InputFile::Parse() const {
  return io::ParseJson(bytes, record.name.path.string());
}

InputFile ReadInput(const InputName& name) {
  InputFile file;
  file.bytes = io::ReadFile(name.path);
  file.record = {name, io::Sha256(file.bytes), false};
  return file;
}

std::vector<InputFile> ReadInputs(const std::vector<InputName>& names) {
  std::vector<InputFile> files;
  for (const InputName& name : names) files.push_back(ReadInput(name));
  return files;
}

const InputFile* FindInput(std::span<const InputFile> files, const std::string& role) {
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const InputFile& file) { return file.record.name.role == role; });
  return found == files.end() ? nullptr : &*found;
}

std::vector<InputRecord> RecordsOf(std::span<const InputFile> files) {
  std::vector<InputRecord> records;
  for (const InputFile& file : files) records.push_back(file.record);
  return records;
}

std::vector<std::filesystem::path> PathsOf(std::span<const InputRecord> records) {
  std::vector<std::filesystem::path> paths;
  for (const InputRecord& record : records) {
    if (!record.in_memory) paths.push_back(record.name.path);
  }
  return paths;
}

io::Json ToJson(std::span<const InputRecord> records) {
  io::Json list = io::Json::array();
  for (const InputRecord& record : records) {
    list.push_back({{"file", record.name.path.string()}, {"role", record.name.role}, {"sha256", record.sha256}});
    if (record.in_memory) list.back()["in_memory"] = true;
  }
  return list;
}

}  // namespace retrace::runs
