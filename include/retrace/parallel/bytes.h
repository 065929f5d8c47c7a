/// Plain values to bytes and back, for messages between the ranks of one program and for checkpoints.
#pragma once

#include <cstring>
#include <span>
#include <stdexcept>

#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {

template <typename T>
void Put(parallel::Bytes& bytes, const T* values, size_t count) {
  if (count == 0) return;  // a null pointer then, which memcpy must not be given
  const size_t size = bytes.size();
  bytes.resize(size + count * sizeof(T));
  std::memcpy(bytes.data() + size, static_cast<const void*>(values), count * sizeof(T));
}

/// Takes values off the front.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <typename T>
  void Take(T* values, size_t count) {
    if (bytes_.size() < count * sizeof(T)) throw std::logic_error("too few bytes");
    if (count > 0) std::memcpy(static_cast<void*>(values), bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.subspan(count * sizeof(T));
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace retrace::parallel
