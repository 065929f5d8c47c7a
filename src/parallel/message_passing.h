/// What PassMessages does on a thread.
#pragma once

#include <functional>
#include <utility>

namespace retrace::parallel {

/// As long as it exists, PassMessages calls `pass` on this thread, but not from within itself.
struct MessagePassing {
  explicit MessagePassing(std::function<void()> what) {
    pass = [this, what = std::move(what)] {
      if (passing) return;
      passing = true;
      what();
      passing = false;
    };
    current = this;
  }
  ~MessagePassing() { current = before; }
  MessagePassing(const MessagePassing&) = delete;
  MessagePassing& operator=(const MessagePassing&) = delete;

  inline static thread_local MessagePassing* current = nullptr;
  std::function<void()> pass;
  MessagePassing* before = current;
  bool passing = false;
};

}  // namespace retrace::parallel
