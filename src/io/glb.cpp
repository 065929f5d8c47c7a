#include "retrace/io/glb.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/number.h"

namespace retrace::io::glb {
namespace {

static_assert(std::endian::native == std::endian::little, "a GLB file is little-endian");

template <typename Value>
Value Load(std::string_view bytes, size_t at) {
  Value value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string Count(size_t number) {
  return std::to_string(number);
}

size_t SizeOf(int component_type) {
  switch (component_type) {
    case kByte:
    case kUnsignedByte:
      return 1;
    case kShort:
    case kUnsignedShort:
      return 2;
    default:
      return 4;
  }
}

size_t ColumnsOf(const std::string& type) {
  return type == "SCALAR" ? 1 : type == "VEC3" ? 3 : type == "VEC4" ? 4 : 16;
}

double Component(std::string_view bytes, size_t at, int type, bool normalized) {
  const auto integer = [&](auto value) {
    constexpr double kLargest = std::numeric_limits<decltype(value)>::max();
    return normalized ? std::max(-1.0, static_cast<double>(value) / kLargest) : static_cast<double>(value);
  };
  switch (type) {
    case kByte:
      return integer(Load<int8_t>(bytes, at));
    case kUnsignedByte:
      return integer(Load<uint8_t>(bytes, at));
    case kShort:
      return integer(Load<int16_t>(bytes, at));
    case kUnsignedShort:
      return integer(Load<uint16_t>(bytes, at));
    case kUnsignedInt:
      return integer(Load<uint32_t>(bytes, at));
    default:
      return static_cast<double>(Load<float>(bytes, at));
  }
}

/// A member of an object that is a whole number; 0 where it is missing.
size_t Offset(const JsonView& view, const char* key) {
  constexpr int kMost = std::numeric_limits<int>::max();
  return view.Has(key) ? static_cast<size_t>(view[key].Integer(0, kMost)) : 0;
}

template <typename Value>
constexpr ComponentType TypeOf() {
  if constexpr (std::is_same_v<Value, float>) return kFloat;
  if constexpr (std::is_same_v<Value, uint32_t>) return kUnsignedInt;
  if constexpr (std::is_same_v<Value, uint16_t>) return kUnsignedShort;
  if constexpr (std::is_same_v<Value, uint8_t>) return kUnsignedByte;
}

/// Chunks of the container begin and end at multiples of four bytes, and so do our accessors.
size_t Padded(size_t size) {
  return (size + 3) / 4 * 4;
}

}  // namespace

Reader::Reader(const std::string& bytes, std::string name) : name_(std::move(name)) {
  constexpr size_t kHeader = 12, kChunkHeader = 8;
  constexpr uint32_t kJson = 0x4E4F534A, kBinary = 0x004E4942;
  const std::string_view all = bytes;
  if (!all.starts_with("glTF")) {
    const bool text = all.starts_with("{");
    throw InputError(name_,
                     text ? "a text file, which may be glTF in JSON" : "a file that does not begin with \"glTF\"",
                     "a binary glTF file (GLB)");
  }
  if (all.size() < kHeader) throw InputError(name_, Count(all.size()) + " bytes", "the header of a GLB file");
  if (const auto version = Load<uint32_t>(all, 4); version != 2) {
    throw InputError(name_, "version " + Count(version) + " of glTF", "version 2");
  }
  if (const auto length = Load<uint32_t>(all, 8); length != all.size()) {
    throw InputError(name_, Count(all.size()) + " bytes", Count(length) + " bytes, as its header says");
  }
  std::string_view text;
  bool has_text = false;
  for (size_t at = kHeader; at < all.size();) {
    if (all.size() - at < kChunkHeader) throw InputError(name_, "a chunk that is cut off", "a whole chunk");
    const auto length = Load<uint32_t>(all, at);
    const auto type = Load<uint32_t>(all, at + 4);
    at += kChunkHeader;
    if (length > all.size() - at) {
      throw InputError(name_, "a chunk of " + Count(length) + " bytes where " + Count(all.size() - at) + " are left",
                       "chunks within the file");
    }
    const std::string_view content = all.substr(at, length);
    if (!has_text) {
      if (type != kJson) throw InputError(name_, "a first chunk of another type", "a first chunk of type JSON");
      text = content;
      has_text = true;
    } else if (type == kBinary && buffer_.empty()) {
      buffer_ = content;
    }
    at += length;
  }
  if (!has_text) throw InputError(name_, "no chunk", "a chunk of type JSON");
  document_ = ParseJson(std::string(text), name_);
  if (!document_->is_object()) root().Expect("an object");
  // Compressed and quantized meshes are extensions without which a file cannot be shown.
  if (root().Has("extensionsRequired")) {
    for (const JsonView& extension : root()["extensionsRequired"].Elements(100)) {
      const std::string wanted = extension.String();
      if (wanted != "KHR_materials_unlit" && wanted != "KHR_texture_transform") {
        extension.Fail("the extension " + wanted, "a file that can be read without it: exported without compression");
      }
    }
  }
}

JsonView Chosen(const JsonView& root, const char* list, const JsonView& index) {
  const JsonView entries = root[list];
  if (!entries.json().is_array()) entries.Expect("an array");
  return entries[static_cast<size_t>(
      index.Integer(0, static_cast<int>(std::min<size_t>(entries.size(), 1u << 30)) - 1))];
}

Reader::Numbers Reader::Read(const JsonView& index, const std::string& type,
                             std::initializer_list<ComponentType> components, size_t most) const {
  const JsonView accessor = Chosen(root(), "accessors", index);
  if (accessor.Has("sparse")) accessor["sparse"].Fail("a sparse accessor", "numbers that all stand in the buffer");
  if (accessor["type"].String() != type) accessor["type"].Expect("\"" + type + "\"");
  const int component = accessor["componentType"].Integer(0, kFloat);
  if (std::find(components.begin(), components.end(), component) == components.end()) {
    std::string legal;
    for (const ComponentType c : components) legal += (legal.empty() ? "" : " or ") + std::to_string(c);
    accessor["componentType"].Expect(legal);
  }
  const bool normalized = accessor.Has("normalized") && accessor["normalized"].Boolean();
  Numbers numbers;
  numbers.columns = ColumnsOf(type);
  numbers.rows = static_cast<size_t>(accessor["count"].Integer(1, static_cast<int>(most)));
  const JsonView view = Chosen(root(), "bufferViews", accessor["bufferView"]);
  if (view["buffer"].Integer(0, std::numeric_limits<int>::max()) != 0) {
    view["buffer"].Expect("0, the buffer inside the file");
  }
  if (root()["buffers"][0].Has("uri"))
    root()["buffers"][0]["uri"].Fail("a buffer in another file", "one in the GLB file");
  const size_t begin = Offset(view, "byteOffset");
  const size_t length = Offset(view, "byteLength");
  if (begin > buffer_.size() || length > buffer_.size() - begin) {
    view.Fail(Count(length) + " bytes from byte " + Count(begin),
              "bytes within the buffer of " + Count(buffer_.size()));
  }
  const size_t element = numbers.columns * SizeOf(component);
  const size_t stride = view.Has("byteStride") ? static_cast<size_t>(view["byteStride"].Integer(4, 252)) : element;
  if (stride < element) view["byteStride"].Expect("at least the " + Count(element) + " bytes of an element");
  const size_t offset = Offset(accessor, "byteOffset");
  // Within the bytes of the file, before any memory is taken for the numbers.
  if (offset > length || element > length - offset || (numbers.rows - 1) * stride > length - offset - element) {
    accessor["count"].Fail(Count(numbers.rows) + " elements",
                           "elements within the " + Count(length) + " bytes of the buffer view");
  }
  numbers.values.reserve(numbers.rows * numbers.columns);
  for (size_t row = 0; row < numbers.rows; ++row) {
    const size_t at = begin + offset + row * stride;
    for (size_t column = 0; column < numbers.columns; ++column) {
      const double value = Component(buffer_, at + column * SizeOf(component), component, normalized);
      if (!std::isfinite(value)) {
        accessor.Fail(Number(value) + " in element " + Count(row), "finite numbers");
      }
      numbers.values.push_back(value);
    }
  }
  return numbers;
}

Writer::Writer(const std::string& generator) {
  (*json_)["asset"] = {{"version", "2.0"}, {"generator", generator}};
  (*json_)["scene"] = 0;
  (*json_)["scenes"] = Json::array({{{"nodes", Json::array()}}});
}

template <typename Value>
int Writer::AddAccessor(const std::vector<Value>& values, int components, Target target, bool bounds, bool normalized) {
  static const char* const kTypes[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
  Json view = {{"buffer", 0}, {"byteOffset", bytes_.size()}, {"byteLength", values.size() * sizeof(Value)}};
  if (target != kNoTarget) view["target"] = static_cast<int>(target);
  bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  bytes_.resize(Padded(bytes_.size()));
  (*json_)["bufferViews"].push_back(view);
  Json accessor = {{"bufferView", (*json_)["bufferViews"].size() - 1},
                   {"componentType", static_cast<int>(TypeOf<Value>())},
                   {"count", values.size() / static_cast<size_t>(components)},
                   {"type", components == 16 ? "MAT4" : kTypes[components]}};
  if (normalized) accessor["normalized"] = true;
  if (bounds) {
    for (int c = 0; c < components; ++c) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (size_t i = static_cast<size_t>(c); i < values.size(); i += static_cast<size_t>(components)) {
        low = std::min(low, static_cast<double>(values[i]));
        high = std::max(high, static_cast<double>(values[i]));
      }
      accessor["min"].push_back(low);
      accessor["max"].push_back(high);
    }
  }
  return Push("accessors", accessor);
}
template int Writer::AddAccessor(const std::vector<float>&, int, Target, bool, bool);
template int Writer::AddAccessor(const std::vector<uint32_t>&, int, Target, bool, bool);
template int Writer::AddAccessor(const std::vector<uint16_t>&, int, Target, bool, bool);
template int Writer::AddAccessor(const std::vector<uint8_t>&, int, Target, bool, bool);

int Writer::Push(const char* list, Json entry) {
  (*json_)[list].push_back(std::move(entry));
  return static_cast<int>((*json_)[list].size()) - 1;
}

std::string Writer::Bytes() {
  (*json_)["buffers"] = Json::array({{{"byteLength", bytes_.size()}}});
  std::string text = Dump(json_);
  text.resize(Padded(text.size()), ' ');
  std::string file = "glTF";
  const auto word = [&](uint32_t value) { file.append(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto chunk = [&](const std::string& type, const std::string& content) {
    word(static_cast<uint32_t>(content.size()));
    file.append(type);
    file.append(content);
  };
  word(2);
  word(static_cast<uint32_t>(12 + 8 + text.size() + 8 + bytes_.size()));
  chunk("JSON", text);
  chunk(std::string("BIN\0", 4), bytes_);
  return file;
}

}  // namespace retrace::io::glb
