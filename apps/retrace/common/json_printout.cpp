#include "common/json_printout.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace retrace::apps {

cli::Option AddJsonOption(cli::Command& command, bool& json) {
  return command.AddFlag("--json", json, "Print one JSON document instead, for scripts");
}

void PrintJson(const io::Json& document) {
  std::printf("%s\n", io::Dump(document).c_str());
}

io::Json JsonOf(const std::optional<metrics::Evaluation>& evaluation) {
  return evaluation ? evaluation->ToJson() : io::Json();
}

}  // namespace retrace::apps
