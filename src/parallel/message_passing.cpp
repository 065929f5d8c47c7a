#include "message_passing.h"

#include <utility>

#include "retrace/parallel/task_farm.h"

namespace retrace::parallel {
namespace {

thread_local std::function<void()> pass_messages;

}  // namespace

MessagePassing::MessagePassing(std::function<void()> pass) : before_(std::exchange(pass_messages, std::move(pass))) {}

MessagePassing::~MessagePassing() {
  pass_messages = std::move(before_);
}

void PassMessages() {
  if (pass_messages) pass_messages();
}

}  // namespace retrace::parallel
