/// forces: a recorded clip in, the forces of the ground and the loads of the joints behind it out, with their band.
#include "retrace/jobs/forces.h"

#include <memory>

#include "cli/number_option.h"
#include "cli/program.h"
#include "commands.h"
#include "common/job_options.h"
#include "common/reconstruction.h"

namespace retrace::apps::forces_command {
namespace {

void AddOptions(cli::Command& command, ReconstructionArguments& o) {
  AddReconstructionOptions(command, o);
  AddRepairOption(command, o.job);
  cli::AddNumber(command, "--mass", o.job.mass, io::OptionalReal{{1, 1000}},
                 "Mass of the person [kg]: the masses and the servos of the character are scaled to it [that of the "
                 "character]");
  cli::AddNumber(command, "--seeds", o.run.forces.controls, io::Integer{1, 100},
                 "Seeds of controls to find, each by several variants of tracking; the one nearest to the forces that "
                 "the recording "
                 "requires is the "
                 "run, and those found by the same variant make the band");
  cli::AddNumber(command, "--perturbation", o.run.forces.perturbation, io::Real{{0, 1}},
                 "Standard deviation of random velocities at the start of the tracked controls after the first, in "
                 "m/s of the root and rad/s of joints");
  const cli::Option force_plates =
      command
          .Add("--force-plates,--measured", o.job.force_plates,
               "Measured ground forces to compare with: a table, .mot or .sto of OpenSim, or .c3d")
          .Type("FILE");
  cli::AddNumber(command, "--force-plates-heading,--measured-heading", o.job.force_plates_heading,
                 io::Angle{{-360, 360}},
                 "Turn of the measured forces about the vertical, from z towards x, into the clip's axes [degrees]")
      .Needs(force_plates);
}

}  // namespace

Body Define(cli::Command& command) {
  const auto arguments = std::make_shared<ReconstructionArguments>();
  arguments->output_suffix = "-forces";
  arguments->job.character = runs::kForcesCharacter;
  arguments->job.defaults = runs::ForcesConfiguration();
  arguments->run.forces.controls = 3;
  AddOptions(command, *arguments);
  return [arguments](const Call& call) { return Reconstruct(*arguments, call); };
}

}  // namespace retrace::apps::forces_command
