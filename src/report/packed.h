/// Arrays of a page's document: {"type": "f32" | "u32" | "u16" | "u8", "data": base64 of the little-endian values}.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/character/state.h"
#include "retrace/io/base64.h"
#include "retrace/io/json.h"
#include "retrace/math/types.h"

namespace retrace::report {

static_assert(std::endian::native == std::endian::little, "the page reads little-endian arrays");

template <typename T>
inline constexpr const char* kTypeName = nullptr;
template <>
inline constexpr const char* kTypeName<float> = "f32";
template <>
inline constexpr const char* kTypeName<uint32_t> = "u32";
template <>
inline constexpr const char* kTypeName<uint16_t> = "u16";
template <>
inline constexpr const char* kTypeName<uint8_t> = "u8";

template <typename T>
io::Json Pack(const std::vector<T>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return {{"type", kTypeName<T>}, {"data", io::EncodeBase64(bytes)}};
}

/// The values of a packed array of the document's own making.
template <typename T>
std::vector<T> Unpack(const io::Json& packed) {
  const std::string bytes = io::DecodeBase64(packed.at("data").get_ref<const std::string&>()).value();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (packed.at("type") != kTypeName<T>) throw std::invalid_argument("an array of another type");
  std::copy_n(bytes.data(), values.size() * sizeof(T), reinterpret_cast<char*>(values.data()));
  return values;
}

/// Values that become a packed array of float32.
class Floats {
 public:
  void Add(double value) { values_.push_back(static_cast<float>(value)); }
  void Add(const Vec3& v) {
    for (int k = 0; k < 3; ++k) Add(v[k]);
  }
  void Add(const Quat& q) {
    Add(q.w());
    Add(Vec3(q.vec()));
  }
  void Add(const character::BodyState& body) {
    Add(body.position);
    Add(body.orientation);
  }
  size_t size() const { return values_.size(); }
  void Resize(size_t size) { values_.resize(size); }
  const std::vector<float>& values() const { return values_; }
  /// Leaves nothing behind.
  io::Json Packed() { return Pack(std::exchange(values_, {})); }

 private:
  std::vector<float> values_;
};

}  // namespace retrace::report
