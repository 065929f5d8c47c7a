/// forces: a recorded clip in, the forces of the ground and the loads of the joints behind it out, with their band.
#include "common/job_options.h"
#include "common/number_option.h"
#include "common/program.h"
#include "common/reconstruction.h"
#include "retrace/jobs/forces.h"

namespace retrace::forces_program {
namespace {

void AddOptions(CLI::App& app, apps::ReconstructionArguments& o) {
  apps::AddReconstructionOptions(app, o);
  apps::AddRepairOption(app, o.job);
  apps::AddNumber(app, "--mass", o.job.mass, io::OptionalReal{{1, 1000}},
                  "Mass of the person [kg]: the masses and the servos of the character are scaled to it [that of the "
                  "character]");
  apps::AddNumber(app, "--seeds", o.run.forces.controls, io::Integer{1, 100},
                  "Seeds of controls to find, each in several ways; the one nearest to the forces that the recording "
                  "requires is the "
                  "run, and those found in the same way make the band");
  apps::AddNumber(app, "--perturbation", o.run.forces.perturbation, io::Real{{0, 1}},
                  "Standard deviation of random velocities at the start of the tracked controls after the first, in "
                  "m/s of the root and rad/s of joints");
  CLI::Option* measured =
      app.add_option("--measured", o.job.measured,
                     "Measured ground forces to compare with: a table, .mot or .sto of OpenSim, or .c3d")
          ->type_name("FILE");
  apps::AddNumber(app, "--measured-heading", o.job.measured_heading, io::Angle{{-360, 360}},
                  "Turn of the measured forces about the vertical, from z towards x, into the clip's axes [degrees]")
      ->needs(measured);
  app.set_version_flag("--version", "forces " + results::Version());
}

}  // namespace

int Main(int argc, char** argv) {
  apps::ReconstructionArguments arguments;
  arguments.program = "forces";
  arguments.output_suffix = "-forces";
  arguments.job.character = runs::kForcesCharacter;
  arguments.job.defaults = runs::ForcesConfiguration();
  arguments.run.forces.controls = 3;
  return apps::RunMpiProgram(
      arguments.program,
      "Finds the forces of the ground and the loads of the joints behind a recorded motion, with a band of several "
      "controls.",
      argc, argv, [&](CLI::App& app) { AddOptions(app, arguments); },
      [&](const std::string& command, parallel::MpiSession& mpi) {
        return apps::Reconstruct(arguments, command, mpi);
      });
}

}  // namespace retrace::forces_program
