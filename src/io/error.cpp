#include "retrace/io/error.h"

#include <cerrno>
#include <new>
#include <system_error>

namespace retrace {

std::string ExhaustedResource(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "memory ran out";
  const auto* of_system = dynamic_cast<const std::system_error*>(&error);
  if (of_system == nullptr) return "";
  // The codes of std::thread, fork, pipe and of functions that open files.
  for (const int code : {ENOMEM, EAGAIN, EMFILE, ENFILE}) {
    if (of_system->code() == std::error_code(code, std::generic_category()) ||
        of_system->code() == std::error_code(code, std::system_category())) {
      return std::string(code == ENOMEM ? "memory ran out" : "a resource of the system ran out") + ": " + error.what();
    }
  }
  return "";
}

std::string MessageLine(std::string_view message) {
  constexpr size_t kLongest = 8192;
  constexpr size_t kEnd = 2048;  // what was expected stands at the end
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  const auto append = [&line](std::string_view part) {
    for (size_t i = 0; i < part.size(); ++i) {
      const char c = part[i];
      auto byte = static_cast<unsigned char>(c);
      // The control characters from U+0080 on, as UTF-8 has them: to some terminals one of them begins a command.
      const auto next = static_cast<unsigned char>(i + 1 < part.size() ? part[i + 1] : 0);
      const bool late_control = byte == 0xc2 && next >= 0x80 && next < 0xa0;
      if (late_control) {
        byte = next;
        ++i;
      }
      if (c == '\n') {
        line.append("\\n");
      } else if (c == '\t') {
        line.append("\\t");
      } else if (byte < 0x20 || byte == 0x7f || late_control) {
        line.append("\\x");
        line.push_back(kDigits[byte >> 4]);
        line.push_back(kDigits[byte & 15]);
      } else {
        line.push_back(c);
      }
    }
  };
  if (message.size() <= kLongest) {
    append(message);
  } else {
    append(message.substr(0, kLongest - kEnd));
    line.append(" [...] ");
    append(message.substr(message.size() - kEnd));
  }
  return line;
}

}  // namespace retrace
