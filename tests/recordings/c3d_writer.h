/// Writes C3D files, for tests: by the user guide of the format.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::recordings {

class C3dWriter {
 public:
  enum class Processor { kIntel = 84, kDec = 85, kMips = 86 };
  explicit C3dWriter(Processor processor = Processor::kIntel, bool is_float = true)
      : processor_(processor), is_float_(is_float) {}

  void Group(int id, const std::string& name) {
    parameters_ += static_cast<char>(name.size());
    parameters_ += static_cast<char>(-id);
    parameters_ += name;
    parameters_ += Word(3);
    parameters_ += '\0';
  }
  void Texts(int group, const std::string& name, const std::vector<std::string>& texts, size_t length = 16) {
    std::string data;
    for (std::string text : texts) {
      text.resize(length, ' ');
      data += text;
    }
    Parameter(group, name, -1, {length, texts.size()}, data);
  }
  void Wholes(int group, const std::string& name, const std::vector<size_t>& shape, const std::vector<int>& values) {
    std::string data;
    for (const int value : values) data += Word(static_cast<uint16_t>(value));
    Parameter(group, name, 2, shape, data);
  }
  void Floats(int group, const std::string& name, const std::vector<size_t>& shape, const std::vector<double>& values) {
    std::string data;
    for (const double value : values) data += Float(value);
    Parameter(group, name, 4, shape, data);
  }

  /// @param positions (frames, points) in the unit of the file, not a number where a point was not seen
  /// @param analog (frames, samples x channels) raw
  std::string Bytes(const std::vector<std::vector<Vec3>>& places, double rate, double scale = 0.1,
                    const std::vector<std::vector<double>>& analog = {}, size_t samples = 0) const {
    const size_t per_frame = analog.empty() ? 0 : analog[0].size();
    std::string section("\x01\x50", 2);
    const size_t blocks = (4 + parameters_.size() + 2 + 511) / 512;
    section += static_cast<char>(blocks);
    section += static_cast<char>(processor_);
    section += parameters_;
    section.resize(512 * blocks, '\0');
    std::string header("\x02\x50", 2);
    header += Word(static_cast<uint16_t>(places[0].size()));
    header += Word(static_cast<uint16_t>(per_frame));
    header += Word(1);
    header += Word(static_cast<uint16_t>(places.size()));
    header += Word(0);
    header += Float(is_float_ ? -scale : scale);
    header += Word(static_cast<uint16_t>(2 + blocks));
    header += Word(static_cast<uint16_t>(samples));
    header += Float(rate);
    header.resize(512, '\0');
    std::string data;
    for (size_t f = 0; f < places.size(); ++f) {
      for (const Vec3& place : places[f]) {
        const bool seen = place.allFinite();
        for (int axis = 0; axis < 3; ++axis) {
          const double value = seen ? place[axis] : 0;
          data +=
              is_float_ ? Float(value) : Word(static_cast<uint16_t>(static_cast<int16_t>(std::lround(value / scale))));
        }
        data += is_float_ ? Float(seen ? 0 : -1) : Word(static_cast<uint16_t>(seen ? 0 : -1));
      }
      for (size_t i = 0; i < per_frame; ++i) {
        data += is_float_ ? Float(analog[f][i])
                          : Word(static_cast<uint16_t>(static_cast<int16_t>(std::lround(analog[f][i]))));
      }
    }
    return header + section + data;
  }

 private:
  void Parameter(int group, const std::string& name, int type, const std::vector<size_t>& shape,
                 const std::string& data) {
    parameters_ += static_cast<char>(name.size());
    parameters_ += static_cast<char>(group);
    parameters_ += name;
    parameters_ += Word(static_cast<uint16_t>(2 + 2 + shape.size() + data.size() + 1));
    parameters_ += static_cast<char>(type);
    parameters_ += static_cast<char>(shape.size());
    for (const size_t size : shape) parameters_ += static_cast<char>(size);
    parameters_ += data;
    parameters_ += '\0';
  }
  std::string Word(uint16_t word) const {
    const char low = static_cast<char>(word & 255), high = static_cast<char>(word >> 8);
    return processor_ == Processor::kMips ? std::string{high, low} : std::string{low, high};
  }
  std::string Float(double value) const {
    auto bits = std::bit_cast<uint32_t>(static_cast<float>(processor_ == Processor::kDec ? 4 * value : value));
    if (processor_ == Processor::kDec) bits = bits << 16 | bits >> 16;
    std::string bytes;
    for (int i = 0; i < 4; ++i) {
      bytes += static_cast<char>(bits >> (processor_ == Processor::kMips ? 24 - 8 * i : 8 * i) & 255);
    }
    return bytes;
  }

  Processor processor_;
  bool is_float_;
  std::string parameters_;
};

}  // namespace retrace::recordings
