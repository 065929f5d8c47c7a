/// Retrace: from a recorded motion to the control and the forces of a physical simulation that performs it.
///
///     #include <retrace/retrace.h>
///
///     retrace::runs::JobOptions options;
///     options.clip.file = "walk.bvh";
///     const retrace::runs::Job job(options);
///     const retrace::runs::Reconstruction result = retrace::runs::Reconstruct(job);
///     const retrace::control::Motion motion = retrace::runs::SimulateAgain(job, result);  // states, contacts, torques
///     retrace::runs::WriteRun("results/walk", job, result);                               // the folder of the run
///
/// In CMake: find_package(retrace 0.2 REQUIRED), then target_link_libraries(program PRIVATE retrace::retrace). Programs
/// of at most thirty lines are in apps/examples.
///
/// What is stable. The headers that are named below, with everything that they declare, and the files that the project
/// writes. A minor version (0.2 -> 0.3) may rename or replace such a declaration; the old one then stays for one minor
/// version more, marked [[deprecated]] with the name of the new one, and apps/manual/CHANGELOG.md says what to write in
/// its position. A patch (0.2.0 -> 0.2.1) changes none. All other headers are installed because these include them or
/// because they may be of use; what they declare may change with any version, without a warning.
///
/// Units are SI (meters, kilograms, seconds, newtons, radians); y points up.
///
/// Errors are exceptions derived from std::exception, whose message says what was found where, and what was expected
/// (retrace/io/error.h): InputError for files, UsageError for requests, OutputError for what cannot be written,
/// StoppedError for what was stopped. Settings are called by their JSON pointers and members of options by their names.
///
/// An application that links the library keeps the sin and exp of its C library, and may use an ODE of its own: see
/// retrace/math/elementary.h.
#pragma once

#include "retrace/character/character.h"  // characters: bodies, joints, shapes; read from files
#include "retrace/control/motion.h"       // states, contacts and torques of a simulated motion
#include "retrace/io/error.h"             // exceptions
#include "retrace/jobs/reconstruction.h"
#include "retrace/jobs/reconstruction_files.h"         // from a clip to a control
#include "retrace/jobs/simulated_motion.h"             // motions of results and of stored runs
#include "retrace/methods/tracking/live_controller.h"  // tracking of motions that come as they are made, in any simulator
#include "retrace/motion/clip.h"                       // recorded motions in memory
#include "retrace/recordings/bvh.h"                    // clips as BVH
#include "retrace/recordings/recording.h"              // recorded motions in every format that is read
#include "retrace/runs/stored/replay.h"                // stored runs replayed: pushed, in other worlds, together
#include "retrace/runs/stored/run_export.h"            // motions as BVH, GLB, NPZ, TRC, STO ...
#include "retrace/runs/stored/stored_run.h"            // run folders
