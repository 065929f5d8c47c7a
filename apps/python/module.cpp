/// The Python module: values of Python in, a call of the library, arrays and dictionaries out. What Python sees of it
/// is apps/python/retrace/__init__.py.
#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "motion_arrays.h"
#include "options.h"
#include "retrace/character/kinematics.h"
#include "retrace/control/push_text.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/jobs/inverse_dynamics.h"
#include "retrace/jobs/run_pipeline.h"
#include "retrace/jobs/source_export.h"
#include "retrace/jobs/tracked_baseline.h"
#include "retrace/parallel/thread_farm.h"
#include "retrace/results/provenance.h"
#include "retrace/runs/inputs/clip_checks_text.h"
#include "retrace/runs/stored/replay.h"
#include "retrace/runs/stored/replay_files.h"
#include "retrace/runs/stored/run_export.h"
#include "retrace/runs/stored/stored_feedback.h"
#include "retrace/runs/stored/stored_run.h"
#include "retrace/runs/stored/verification.h"

namespace retrace::python {
namespace {

namespace py = pybind11;
namespace fs = std::filesystem;

/// Lets other threads of Python run, and this one look for signals and report from time to time.
class WithoutInterpreter {
 public:
  /// Throws what Python raised meanwhile: KeyboardInterrupt.
  static void Look() {
    const py::gil_scoped_acquire hold;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }

 private:
  py::gil_scoped_release release_;
};

/// A JSON document as Python reads it.
std::string Text(const io::Json& json) {
  return io::Dump(json);
}

/// An array that shares the memory of its owner, and that nothing may write into.
template <typename Value>
py::array View(const Shared<Value>& values, std::vector<py::ssize_t> shape) {
  auto owner = std::make_unique<Shared<Value>>(values);
  const py::capsule keeper(owner.get(), [](void* pointer) { delete static_cast<Shared<Value>*>(pointer); });
  static_cast<void>(owner.release());
  py::array array(py::dtype::of<Value>(), std::move(shape), values->data(), keeper);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

py::ssize_t Size(size_t size) {
  return static_cast<py::ssize_t>(size);
}

/// A simulated motion of one character.
struct Motion {
  MotionArrays arrays;
  double time_step = 0;  // [s]
  std::vector<std::string> bodies, joints;
  int root = 0;
};

std::shared_ptr<Motion> MakeMotion(const character::Character& character, const control::Trajectory& trajectory) {
  auto motion = std::make_shared<Motion>();
  motion->arrays = ArraysOf(character, trajectory);
  motion->time_step = trajectory.time_step;
  for (const character::Body& body : character.bodies) motion->bodies.push_back(body.name);
  for (const character::Joint& joint : character.joints) motion->joints.push_back(joint.name);
  motion->root = character.root;
  return motion;
}

struct ReplayResult {
  std::vector<std::shared_ptr<Motion>> motions;  // (characters)
  bool success = false;
  bool completed = false;
  bool diverged = false;
  std::string text;  // for people
};

/// A run as its folder keeps it.
class Run {
 public:
  explicit Run(const fs::path& folder) : stored_(folder) {}

  const runs::StoredRun& stored() const { return stored_; }

  ReplayResult Replay(const std::vector<std::string>& texts, bool feedback, const std::optional<fs::path>& output,
                      bool force, const std::string& command) const {
    const WithoutInterpreter without;
    const results::RunTimer timer;
    stored_.RequirePhysical("it cannot be simulated otherwise");
    std::vector<control::Push> pushes;
    for (const std::string& text : texts) pushes.push_back(control::ParsePush(text, stored_.scene));
    runs::ReplayOptions options;
    std::optional<runs::RunFeedback> run_feedback;
    std::optional<runs::FeedbackReplay> with_feedback;
    runs::Replayed replayed;
    if (feedback) {
      run_feedback.emplace(stored_, stabilization::ReindexingOptions());
      with_feedback = runs::ReplayWithFeedback(stored_, *run_feedback, pushes);
      options.feedback = &*run_feedback;
      options.feedback_replay = &*with_feedback;
      replayed = with_feedback->replayed;
    } else {
      replayed = runs::Replay(stored_, pushes);
    }
    if (output) {
      results::RunFolder folder(*output, force, stored_.Files());
      runs::WriteReplay(folder, stored_, replayed, {command, {}, &timer}, options);
    }
    return ResultOf(std::move(replayed));
  }

  /// The stored motion itself, under its pushes.
  ReplayResult Motion() const {
    const WithoutInterpreter without;
    return ResultOf(runs::Replay(stored_, stored_.pushes));
  }

  std::string Verify() const {
    const WithoutInterpreter without;
    return runs::Verify(stored_).difference;
  }

  std::vector<fs::path> Export(const std::vector<std::string>& formats, const fs::path& output,
                               std::optional<double> rate, const std::string& skeleton, const fs::path& recording,
                               bool skin, bool force) const {
    const WithoutInterpreter without;
    std::vector<fs::path> files;
    if (skeleton == "source") {
      if (skin) throw UsageError("skin: found with skeleton=\"source\", expected none: it is the character's");
      if (rate) throw UsageError("rate: found with skeleton=\"source\", expected none: it is that of the recording");
      runs::SourceExportOptions options{stored_.folder, runs::ParseSourceFormats(formats), output, recording, force};
      files = runs::SourceExportTargets(options);
      const runs::ExportableRun exportable{runs::StoredRun(stored_.folder)};
      runs::WriteSourceExports(exportable, options, files);
      return files;
    }
    if (skeleton != "character") {
      throw UsageError("skeleton: found \"" + skeleton + "\", expected \"character\" or \"source\"");
    }
    if (!recording.empty()) throw UsageError("recording: found without skeleton=\"source\", expected none");
    if (rate && !(*rate >= 1 && *rate <= 10000)) {
      throw UsageError("rate: found " + std::to_string(*rate) + ", expected 1 to 10000 frames per second");
    }
    runs::ExportOptions options{stored_.folder, exports::ParseFormats(formats), output, rate, force, {}};
    const auto targets = runs::ExportTargets(options, stored_.characters.size());
    const runs::ExportableRun exportable{runs::StoredRun(stored_.folder)};
    if (skin) options.skins = runs::GeneratedSkins(exportable);
    runs::WriteExports(exportable, options, targets,
                       [&](const runs::ExportTarget& target, size_t, double) { files.push_back(target.path); });
    return files;
  }

 private:
  ReplayResult ResultOf(const runs::Replayed& replayed) const {
    ReplayResult result;
    result.success = replayed.success();
    result.completed = replayed.completed();
    result.diverged = replayed.diverged();
    result.text = runs::Describe(stored_, replayed);
    for (size_t c = 0; c < replayed.characters.size(); ++c) {
      result.motions.push_back(MakeMotion(stored_.scene.characters[c], replayed.characters[c].trajectory));
    }
    return result;
  }

  runs::StoredRun stored_;
};

/// Called after each iteration, with the fraction of the motion that the search has come to.
using ProgressCallback = std::function<void(double share)>;

/// Reconstructs into a folder, as the program does. Returns whether it is a success, and the doubts.
std::pair<bool, std::vector<std::string>> Reconstruct(const std::string& options, const fs::path& output, int threads,
                                                      bool force, bool resume, bool report, const std::string& command,
                                                      const ProgressCallback& progress) {
  const WithoutInterpreter without;
  const results::RunTimer timer;
  runs::RunOptions run;
  run.output = output;
  run.force = force;
  run.resume = resume;
  run.report = report;
  runs::CheckOptions(run);
  runs::Job job = runs::WithBaseline(runs::Job(JobOptionsOf(options, runs::Configuration())), threads,
                                     {.on_progress = [](double) { WithoutInterpreter::Look(); }});
  const std::unique_ptr<parallel::TaskFarm> farm = parallel::MakeThreadFarm(threads, runs::MakeWorkersOf(job, run));
  const double duration = job.reference().duration();
  const auto look = [&](double time) {
    WithoutInterpreter::Look();
    if (!progress) return;
    const py::gil_scoped_acquire hold;
    progress(duration > 0 ? time / duration : 1);
  };
  runs::RunSetting setting;
  setting.context = {command, runs::DescribeWorkers(false, *farm), &timer};
  setting.observer.on_iteration = [&](const sampling::IterationRecord& record) { look(record.end); };
  setting.observer.on_window_iteration = [&](const trajectory::IterationRecord& record) { look(record.end); };
  const runs::RunOutcome outcome = runs::Run(job, *farm, run, setting);
  return {outcome.success, outcome.doubts};
}

ForceArrays FindForces(const std::string& options, const std::optional<fs::path>& output, bool use_measured,
                       bool cycles, bool force, const std::string& command) {
  const WithoutInterpreter without;
  const results::RunTimer timer;
  const runs::Job job = runs::JobOfEstimate(JobOptionsOf(options, runs::ForcesConfiguration()));
  const runs::InverseDynamicsOptions estimate_options{use_measured, cycles};
  runs::ForceEstimate estimate;
  if (output) {
    results::RunFolder folder(*output, force, runs::PathsOf(job.inputs));
    estimate = runs::EstimateForces(job, estimate_options);
    runs::WriteForceEstimate(folder, job, estimate, estimate_options, {command, {}, &timer});
  } else {
    estimate = runs::EstimateForces(job, estimate_options);
  }
  return ArraysOf(job, estimate);
}

std::string Inspect(const std::string& options) {
  const WithoutInterpreter without;
  const runs::JobOptions job = JobOptionsOf(options, runs::Configuration());
  runs::CheckClip(job.clip);
  const std::vector<runs::InputFile> files = runs::ReadInputs(runs::ClipInputs(job.clip));
  const motion::Clip clip = runs::ParseClip(files, job.clip.choice);
  const runs::ClipFindings findings(job.clip, files, job.character, clip);
  return Text(findings.ToJson());
}

/// The exceptions of the package, which stand in its Python part.
void Raise(const char* name, const std::string& message, int code) {
  const py::object type = py::module_::import("retrace._errors").attr(name);
  const py::object error = type(message, code);
  PyErr_SetObject(type.ptr(), error.ptr());
}

void Translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const UsageError& error) {
    Raise("UsageError", error.what(), static_cast<int>(error.code()));
  } catch (const InputError& error) {
    Raise("InputError", error.what(), static_cast<int>(error.code()));
  } catch (const OutputError& error) {
    Raise("OutputError", error.what(), static_cast<int>(error.code()));
  } catch (const Error& error) {
    Raise("Error", error.what(), static_cast<int>(error.code()));
  }
}

}  // namespace
}  // namespace retrace::python

PYBIND11_MODULE(_core, m) {
  using namespace retrace::python;
  PYBIND11_NUMPY_DTYPE(BodyRow, position, orientation, linear_velocity, angular_velocity);
  PYBIND11_NUMPY_DTYPE(ContactRow, state, body, other, object, point, force, normal);
  py::register_exception_translator(Translate);
  m.attr("version") = retrace::results::Version();

  py::class_<Motion, std::shared_ptr<Motion>>(m, "Motion")
      .def_readonly("time_step", &Motion::time_step)
      .def_readonly("body_names", &Motion::bodies)
      .def_readonly("joint_names", &Motion::joints)
      .def_readonly("root", &Motion::root)
      .def_property_readonly("time", [](const Motion& o) { return View(o.arrays.time, {Size(o.arrays.states)}); })
      .def_property_readonly("states",
                             [](const Motion& o) {
                               return View(o.arrays.body_states, {Size(o.arrays.states), Size(o.arrays.bodies)});
                             })
      .def_property_readonly("torques",
                             [](const Motion& o) {
                               return View(o.arrays.torques, {Size(o.arrays.states), Size(o.arrays.joints), 3});
                             })
      .def_property_readonly("contacts",
                             [](const Motion& o) { return View(o.arrays.contacts, {Size(o.arrays.contacts->size())}); })
      .def_property_readonly("forces",
                             [](const Motion& o) {
                               return View(o.arrays.forces, {Size(o.arrays.states), Size(o.arrays.bodies), 3});
                             })
      .def_property_readonly("ground_force", [](const Motion& o) {
        return View(o.arrays.ground_force, {Size(o.arrays.states), 3});
      });
  py::class_<ReplayResult>(m, "ReplayResult")
      .def_readonly("motions", &ReplayResult::motions)
      .def_readonly("success", &ReplayResult::success)
      .def_readonly("completed", &ReplayResult::completed)
      .def_readonly("diverged", &ReplayResult::diverged)
      .def_readonly("text", &ReplayResult::text);
  py::class_<Run>(m, "Run")
      .def(py::init<const fs::path&>())
      .def_property_readonly("manifest", [](const Run& o) { return Text(*o.stored().manifest); })
      .def_property_readonly("characters", [](const Run& o) { return o.stored().characters.size(); })
      .def("motion", &Run::Motion)
      .def("replay", &Run::Replay)
      .def("verify", &Run::Verify)
      .def("export", &Run::Export);
  py::class_<NamedColumns>(m, "NamedColumns")
      .def_readonly("names", &NamedColumns::names)
      .def_property_readonly("values", [](const NamedColumns& o) {
        return View(o.values, {Size(o.rows), Size(o.names.size())});
      });
  py::class_<ForceArrays>(m, "ForceArrays")
      .def_property_readonly("time", [](const ForceArrays& o) { return View(o.time, {Size(o.time->size())}); })
      .def_readonly("ground", &ForceArrays::ground)
      .def_readonly("joints", &ForceArrays::joints)
      .def_readonly("mass", &ForceArrays::mass)
      .def_readonly("notes", &ForceArrays::notes)
      .def_readonly("warnings", &ForceArrays::warnings)
      .def_readonly("text", &ForceArrays::text);
  m.def("reconstruct", &Reconstruct);
  m.def("forces", &FindForces);
  m.def("inspect", &Inspect);
}
