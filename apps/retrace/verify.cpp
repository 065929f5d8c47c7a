/// retrace verify: whether a stored run is what its control does, bit for bit.
#include "verify.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/program.h"
#include "commands.h"
#include "common/json_printout.h"
#include "retrace/io/error.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::apps {

int PrintVerification(const std::string& program, const runs::StoredRun& run, bool json) {
  const runs::Verification verification = Verify(run);
  if (json) {
    io::Json evaluations = io::Json::array();
    for (const auto& evaluation : verification.evaluations) evaluations.push_back(JsonOf(evaluation));
    PrintJson({{"folder", run.folder.string()},
               {"verified", verification.difference.empty()},
               {"difference", verification.difference},
               {"states", verification.num_states},
               {"evaluations", evaluations}});
    return static_cast<int>(verification.difference.empty() ? ExitCode::kSuccess : ExitCode::kBelowGate);
  }
  if (!verification.difference.empty()) {
    std::fprintf(stderr, "%s: %s\n", cli::Shown(program).c_str(), cli::Shown(verification.difference).c_str());
    return static_cast<int>(ExitCode::kBelowGate);
  }
  std::printf("%s", cli::ShownLines(runs::DescribeVerified(run, verification)).c_str());
  return 0;
}

namespace verify_command {

Body Define(cli::Command& command) {
  struct Options {
    std::string folder;
    bool json = false;
  };
  const auto options = std::make_shared<Options>();
  command.Add("folder", options->folder, "Folder of a run").Type("DIR").Required();
  AddJsonOption(command, options->json);
  return [options](const Call& call) {
    const runs::StoredRun run(options->folder);
    cli::Warn(call.name, run.solver_warning);
    return PrintVerification(call.name, run, options->json);
  };
}

}  // namespace verify_command
}  // namespace retrace::apps
