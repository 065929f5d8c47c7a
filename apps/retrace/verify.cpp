/// retrace verify: whether a stored run is what its control does, bit for bit.
#include "verify.h"

#include <cstdio>
#include <memory>

#include "cli/program.h"
#include "commands.h"
#include "retrace/io/error.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::apps {

int PrintVerification(const std::string& program, const runs::StoredRun& run) {
  const runs::Verification verification = Verify(run);
  if (!verification.difference.empty()) {
    std::fprintf(stderr, "%s: %s\n", cli::Shown(program).c_str(), cli::Shown(verification.difference).c_str());
    return static_cast<int>(ExitCode::kBelowGate);
  }
  std::printf("%s", cli::ShownLines(runs::DescribeVerified(run, verification)).c_str());
  return 0;
}

namespace verify_command {

Body Define(cli::Command& command) {
  const auto folder = std::make_shared<std::string>();
  command.Add("folder", *folder, "Folder of a run").Type("DIR").Required();
  return [folder](const Call& call) {
    const runs::StoredRun run(*folder);
    cli::Warn(call.name, run.solver_warning);
    return PrintVerification(call.name, run);
  };
}

}  // namespace verify_command
}  // namespace retrace::apps
