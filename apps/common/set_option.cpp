#include "common/set_option.h"

#include "retrace/io/error.h"

namespace retrace::apps {

void AddSetOption(CLI::App& app, std::vector<std::string>& sets, const std::string& text,
                  const std::function<void(const std::string&)>& set) {
  const auto check = [set](const std::string& assignment) -> std::string {
    try {
      set(assignment);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  app.add_option("--set", sets, text + ": /section/name=value (repeatable)")
      ->type_name("/POINTER=VALUE")
      ->allow_extra_args(false)
      ->check(check);
}

}  // namespace retrace::apps
