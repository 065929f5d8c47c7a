/// Writes archives of arrays, for tests: by the description of the format (numpy.lib.format), not by the exporter.
#pragma once

#include <zip.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace retrace::recordings {

class NpzWriter {
 public:
  /// @param type <f8, <f4 or >f8; an F in front: the first index first to change
  void Add(const std::string& name, std::string type, const std::vector<size_t>& shape, std::vector<double> values) {
    const bool columns = type.starts_with('F');
    if (columns) {
      type.erase(0, 1);
      values = ByColumns(shape, values);
    }
    std::string data;
    for (const double value : values) {
      if (type == "<f4") {
        const auto single = static_cast<float>(value);
        data.append(reinterpret_cast<const char*>(&single), 4);
      } else {
        char bytes[8];
        std::memcpy(bytes, &value, 8);
        if (type == ">f8") std::reverse(bytes, bytes + 8);
        data.append(bytes, 8);
      }
    }
    files_.emplace_back(name + ".npy", Header(type, shape, columns) + data);
  }
  void AddHeaderOnly(const std::string& name, const std::string& type, const std::vector<size_t>& shape) {
    files_.emplace_back(name + ".npy", Header(type, shape, false) + "12345678");
  }
  /// Any bytes; the last ones of a name.
  void AddFile(const std::string& name, std::string bytes) {
    std::erase_if(files_, [&](const auto& file) { return file.first == name + ".npy"; });
    files_.emplace_back(name + ".npy", std::move(bytes));
  }
  /// An array of Python objects, as numpy pickles them.
  void AddObject(const std::string& name) { files_.emplace_back(name + ".npy", Header("|O", {}, false) + "\x80\x03."); }

  std::string Bytes() const {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* sink = zip_source_buffer_create(nullptr, 0, 0, &error);
    zip_source_keep(sink);
    zip_t* archive = zip_open_from_source(sink, ZIP_TRUNCATE, &error);
    for (const auto& [name, file] : files_) {
      zip_file_add(archive, name.c_str(), zip_source_buffer(archive, file.data(), file.size(), 0), ZIP_FL_ENC_UTF_8);
    }
    if (zip_close(archive) != 0) throw std::runtime_error(zip_strerror(archive));
    zip_source_open(sink);
    zip_stat_t stat;
    zip_source_stat(sink, &stat);
    std::string bytes(stat.size, '\0');
    zip_source_read(sink, bytes.data(), bytes.size());
    zip_source_close(sink);
    zip_source_free(sink);
    return bytes;
  }

 private:
  static std::string Header(const std::string& type, const std::vector<size_t>& shape, bool columns) {
    std::string text = "{'descr': '" + type + "', 'fortran_order': " + (columns ? "True" : "False") + ", 'shape': (";
    for (const size_t size : shape) text += std::to_string(size) + ",";
    text += "), }\n";
    std::string header("\x93NUMPY\x01\x00", 8);
    header += static_cast<char>(text.size() & 255);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
  }

  static std::vector<double> ByColumns(const std::vector<size_t>& shape, const std::vector<double>& values) {
    std::vector<double> result(values.size());
    std::vector<size_t> index(shape.size(), 0);
    for (const double value : values) {
      size_t at = 0;
      for (size_t d = shape.size(); d-- > 0;) at = at * shape[d] + index[d];
      result[at] = value;
      for (size_t d = shape.size(); d-- > 0;) {
        if (++index[d] < shape[d]) break;
        index[d] = 0;
      }
    }
    return result;
  }

  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace retrace::recordings
