#include "retrace/io/error.h"

namespace retrace {

std::string MessageLine(std::string_view message) {
  constexpr size_t kLongest = 8192;
  constexpr size_t kEnd = 2048;  // what was expected stands at the end
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string line;
  const auto append = [&line](std::string_view part) {
    for (const char c : part) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\n') {
        line.append("\\n");
      } else if (c == '\t') {
        line.append("\\t");
      } else if (byte < 0x20 || byte == 0x7f) {
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
