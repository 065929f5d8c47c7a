/// Scratch memory that is kept from call to call.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace retrace::simulation {

/// Memory that is only ever enlarged, aligned to cache lines. Enlarging loses the contents.
template <class T>
class GrowBuffer {
 public:
  T* Reserve(size_t count) {
    if (count > capacity_) {
      capacity_ = count + count / 2;
      data_.reset(static_cast<T*>(::operator new (capacity_ * sizeof(T), std::align_val_t{64})));
    }
    return data_.get();
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }

 private:
  static_assert(std::is_trivial_v<T>);
  struct Free {
    void operator()(T* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<T, Free> data_;
  size_t capacity_ = 0;
};

}  // namespace retrace::simulation
