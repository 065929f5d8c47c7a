/// The exception that ends a run, shared by both farms.
#pragma once

#include <cstddef>
#include <exception>
#include <limits>
#include <utility>

namespace retrace::parallel {

/// Keeps the exception of the lowest task index, so that which one is reported does not depend on timing.
class FirstFailure {
 public:
  void Record(size_t task_index, std::exception_ptr exception) {
    if (task_index >= task_index_) return;
    task_index_ = task_index;
    exception_ = std::move(exception);
  }

  bool any() const { return exception_ != nullptr; }

  void Rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  size_t task_index_ = std::numeric_limits<size_t>::max();
  std::exception_ptr exception_;
};

}  // namespace retrace::parallel
