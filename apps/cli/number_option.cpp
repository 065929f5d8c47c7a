#include "cli/number_option.h"

#include "retrace/io/number.h"

namespace retrace::cli::detail {

std::string TextOf(const io::Json& number) {
  return number.is_number_float() ? io::Number(number.get<double>()) : number.dump();
}

void RefuseNumber(const std::string& option, const std::string& text, const std::string& legal,
                  const NumberWords& words) {
  std::string message = option;
  message.append(": found \"").append(text).append("\", expected ");
  for (const auto& [word, meaning] : words) message.append(word.empty() ? "nothing" : word).append(", ");
  message.resize(message.size() - 2);
  Refuse(message.append(" or a number, ").append(legal));
}

}  // namespace retrace::cli::detail
