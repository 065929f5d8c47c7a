#include "common/number_option.h"

#include "retrace/io/number.h"

namespace retrace::apps::detail {

std::string TextOf(const io::Json& number) {
  return number.is_number_float() ? io::Number(number.get<double>()) : number.dump();
}

void RefuseOption(const std::string& message) {
  throw CLI::ValidationError(message);
}

void RefuseOption(const std::string& option, const std::string& text, const std::string& legal,
                  const NumberWords& words) {
  std::string message = option;
  message.append(": found \"").append(text).append("\", expected ");
  for (const auto& [word, meaning] : words) message.append(word.empty() ? "nothing" : word).append(", ");
  message.resize(message.size() - 2);
  RefuseOption(message.append(" or a number, ").append(legal));
}

}  // namespace retrace::apps::detail
