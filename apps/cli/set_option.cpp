#include "cli/set_option.h"

#include "retrace/io/error.h"

namespace retrace::cli {

void AddSetOption(Command& command, std::vector<std::string>& sets, const std::string& text,
                  const std::function<void(const std::string&)>& set) {
  const auto check = [set](const std::string& assignment) -> std::string {
    try {
      set(assignment);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  command.Add("--set", sets, text + ": /section/name=value (repeatable)").Type("/POINTER=VALUE").OneEach().Check(check);
}

}  // namespace retrace::cli
