/// What PassMessages does on a thread.
#pragma once

#include <functional>

namespace retrace::parallel {

/// As long as it exists, PassMessages calls `pass` on this thread, and after that what it called before.
class MessagePassing {
 public:
  explicit MessagePassing(std::function<void()> pass);
  ~MessagePassing();
  MessagePassing(const MessagePassing&) = delete;
  MessagePassing& operator=(const MessagePassing&) = delete;

 private:
  std::function<void()> before_;
};

}  // namespace retrace::parallel
