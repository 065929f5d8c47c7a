#include "npz.h"

#include <zip.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "retrace/io/error.h"

namespace retrace::recordings {
namespace {

constexpr size_t kMostArrays = 1000;
constexpr size_t kLongestHeader = 65536;
constexpr size_t kMostDimensions = 8;

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, CloseArchive>;
using ArchivedFile = std::unique_ptr<zip_file_t, CloseFile>;

Archive Open(std::string_view bytes, const std::string& name) {
  const std::string expected = "an archive of arrays, as numpy.savez writes it";
  if (bytes.empty()) throw InputError(name, "an empty file", expected);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  Archive archive(source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error));
  if (archive == nullptr) {
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (source != nullptr) zip_source_free(source);
    throw InputError(name, "what is no zip archive (" + reason + ")", expected);
  }
  zip_error_fini(&error);
  return archive;
}

/// What stands before the numbers of an NPY file.
struct Header {
  std::string type;
  bool columns_first = false;
  std::vector<size_t> shape;
};

/// The value behind a key of the header, a literal of Python's; empty where there is none.
std::string_view ValueOf(std::string_view text, std::string_view key) {
  const size_t at = text.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  const size_t colon = text.find(':', at);
  if (colon == std::string_view::npos) return {};
  text.remove_prefix(colon + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

std::optional<Header> ParseHeader(std::string_view text) {
  Header header;
  const std::string_view type = ValueOf(text, "descr");
  const std::string_view order = ValueOf(text, "fortran_order");
  std::string_view shape = ValueOf(text, "shape");
  if (!type.starts_with('\'') || type.find('\'', 1) == std::string_view::npos || !shape.starts_with('(')) return {};
  header.type = type.substr(1, type.find('\'', 1) - 1);
  if (header.type.empty()) return {};
  header.columns_first = order.starts_with("True");
  const size_t end = shape.find(')');
  if (end == std::string_view::npos) return {};
  shape = shape.substr(1, end - 1);
  while (!shape.empty()) {
    shape.remove_prefix(std::min(shape.find_first_not_of(", "), shape.size()));
    if (shape.empty()) break;
    uint64_t size = 0;
    const auto [stop, fault] = std::from_chars(shape.data(), shape.data() + shape.size(), size);
    if (fault != std::errc() || header.shape.size() == kMostDimensions) return {};
    header.shape.push_back(static_cast<size_t>(size));
    shape.remove_prefix(static_cast<size_t>(stop - shape.data()));
  }
  return header;
}

double HalfToDouble(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double fraction = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

/// A number of the type T, with its bytes reversed where the file has the other order.
template <typename T>
double Decode(const char* bytes, bool reversed) {
  char ordered[sizeof(T)];
  std::memcpy(ordered, bytes, sizeof(T));
  if (reversed) std::reverse(ordered, ordered + sizeof(T));
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return static_cast<double>(value);
}
double DecodeHalf(const char* bytes, bool reversed) {
  char ordered[2] = {bytes[reversed ? 1 : 0], bytes[reversed ? 0 : 1]};
  uint16_t half;
  std::memcpy(&half, ordered, 2);
  return HalfToDouble(half);
}

struct Type {
  const char* name;
  size_t bytes;
  double (*decode)(const char*, bool);
};
constexpr Type kTypes[] = {{"f8", 8, Decode<double>},   {"f4", 4, Decode<float>},    {"f2", 2, DecodeHalf},
                           {"i8", 8, Decode<int64_t>},  {"i4", 4, Decode<int32_t>},  {"i2", 2, Decode<int16_t>},
                           {"i1", 1, Decode<int8_t>},   {"u8", 8, Decode<uint64_t>}, {"u4", 4, Decode<uint32_t>},
                           {"u2", 2, Decode<uint16_t>}, {"u1", 1, Decode<uint8_t>},  {"b1", 1, Decode<uint8_t>}};

/// Reads exactly so many bytes, or says how many there were.
size_t ReadUpTo(zip_file_t* file, char* to, size_t size) {
  size_t done = 0;
  while (done < size) {
    const zip_int64_t count = zip_fread(file, to + done, size - done);
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

class ArrayReader {
 public:
  ArrayReader(zip_file_t* file, std::string place, size_t most) : file_(file), place_(std::move(place)), most_(most) {}

  Array Read() {
    const Header header = ReadHeader();
    const bool little = header.type.starts_with('<') || header.type.starts_with('|');
    const bool big = header.type.starts_with('>');
    const auto* type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                    [&](const Type& t) { return (little || big) && header.type.substr(1) == t.name; });
    if (type == std::end(kTypes)) return {header.shape, {}, header.type};
    size_t count = 1;
    for (const size_t size : header.shape) {
      if (size != 0 && count > most_ / size) Fail(Shape(header), "at most " + std::to_string(most_) + " numbers");
      count *= size;
    }
    static_assert(std::endian::native == std::endian::little, "numbers are read as they are in memory");
    Array array;
    array.shape = header.shape;
    std::string piece(std::min<size_t>(count * type->bytes, size_t{1} << 16) / type->bytes * type->bytes, '\0');
    while (array.values.size() < count) {
      const size_t wanted = std::min(piece.size(), (count - array.values.size()) * type->bytes);
      const size_t got = ReadUpTo(file_, piece.data(), wanted);
      for (size_t at = 0; at + type->bytes <= got; at += type->bytes) {
        array.values.push_back(type->decode(piece.data() + at, big));
      }
      if (got < wanted) {
        Fail("an end after " + std::to_string(array.values.size()) + " numbers", std::to_string(count) + " numbers");
      }
    }
    RequireEnd(array.values.size());
    if (header.columns_first) Transpose(array);
    return array;
  }

 private:
  [[noreturn]] void Fail(const std::string& found, const std::string& expected) const {
    throw InputError(place_, found, expected);
  }

  /// The library compares the CRC-32 when it comes to the end.
  void RequireEnd(size_t numbers) const {
    char byte = 0;
    const zip_int64_t more = zip_fread(file_, &byte, 1);
    if (more > 0) Fail("more bytes after " + std::to_string(numbers) + " numbers", "as many as its shape says");
    if (more < 0) {
      Fail(std::string("damaged bytes (") + zip_file_strerror(file_) + ")",
           "those of which the archive has the CRC-32");
    }
  }

  static std::string Shape(const Header& header) {
    std::string text = "an array of ";
    for (size_t i = 0; i < header.shape.size(); ++i) text += (i == 0 ? "" : " x ") + std::to_string(header.shape[i]);
    return text;
  }

  Header ReadHeader() {
    const std::string expected = "an NPY file";
    unsigned char start[8];
    if (ReadUpTo(file_, reinterpret_cast<char*>(start), 8) < 8 || std::memcmp(start, "\x93NUMPY", 6) != 0) {
      Fail("other bytes", expected);
    }
    unsigned char length[4] = {};
    const size_t length_bytes = start[6] == 1 ? 2 : 4;
    if (start[6] < 1 || start[6] > 3) Fail("version " + std::to_string(start[6]), "version 1, 2 or 3 of NPY");
    if (ReadUpTo(file_, reinterpret_cast<char*>(length), length_bytes) < length_bytes) Fail("its end", expected);
    size_t size = 0;
    for (size_t i = length_bytes; i-- > 0;) size = size << 8 | length[i];
    if (size > kLongestHeader) Fail("a header of " + std::to_string(size) + " bytes", expected);
    std::string text(size, '\0');
    if (ReadUpTo(file_, text.data(), size) < size) Fail("an end in the header", expected);
    const std::optional<Header> header = ParseHeader(text);
    if (!header) Fail("another header", "one with descr, fortran_order and shape");
    return *header;
  }

  /// From the first index first to change to the last one.
  static void Transpose(Array& array) {
    const size_t dimensions = array.shape.size();
    std::vector<size_t> step(dimensions, 1);
    for (size_t d = 1; d < dimensions; ++d) step[d] = step[d - 1] * array.shape[d - 1];
    std::vector<double> values(array.values.size());
    std::vector<size_t> index(dimensions, 0);
    for (double& value : values) {
      size_t at = 0;
      for (size_t d = 0; d < dimensions; ++d) at += index[d] * step[d];
      value = array.values[at];
      for (size_t d = dimensions; d-- > 0;) {
        if (++index[d] < array.shape[d]) break;
        index[d] = 0;
      }
    }
    array.values = std::move(values);
  }

  zip_file_t* file_;
  std::string place_;
  size_t most_;
};

}  // namespace

std::map<std::string, Array> ParseNpz(std::string_view bytes, const std::string& name) {
  const Archive archive = Open(bytes, name);
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  if (entries > static_cast<zip_int64_t>(kMostArrays)) {
    throw InputError(name, std::to_string(entries) + " files in the archive", "at most " + std::to_string(kMostArrays));
  }
  std::map<std::string, Array> arrays;
  size_t left = kMostNumbers;
  for (zip_int64_t e = 0; e < entries; ++e) {
    const char* entry = zip_get_name(archive.get(), static_cast<zip_uint64_t>(e), 0);
    std::string array_name = entry != nullptr ? entry : "";
    if (!array_name.ends_with(".npy")) continue;
    array_name.resize(array_name.size() - 4);
    const std::string place = name + ": " + array_name;
    const ArchivedFile file(zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(e), 0));
    if (file == nullptr) {
      throw InputError(place, std::string("what cannot be unpacked (") + zip_strerror(archive.get()) + ")",
                       "an array that is stored or deflated");
    }
    Array array = ArrayReader(file.get(), place, left).Read();
    left -= array.values.size();
    arrays[array_name] = std::move(array);
  }
  return arrays;
}

}  // namespace retrace::recordings
