/// retrace config show: every setting with its value, its meaning, its unit and its legal values.
#include <cstdio>
#include <memory>

#include "commands.h"
#include "common/job_options.h"

namespace retrace::apps::config_show_command {

Body Define(cli::Command& command) {
  const auto job = std::make_shared<JobArguments>();
  AddConfigurationOptions(command, *job);
  AddQualityOption(command, *job);
  return [job](const Call&) {
    std::fputs(ParseJob(*job).configuration.ToCommentedJson().c_str(), stdout);
    return 0;
  };
}

}  // namespace retrace::apps::config_show_command
