#include "retrace/runs/composition.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/control/control_file.h"
#include "retrace/control/feedback.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/metrics/state_distance.h"
#include "retrace/runs/pushes.h"
#include "retrace/runs/ranks.h"
#include "retrace/runs/run_files.h"
#include "retrace/runs/solver.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr double kCutInterval = 0.1;    // between the cuts of a control [s]
constexpr double kLeastLeft = 1.5;      // of a control after a cut: less is no way to go on [s]
constexpr double kLeastPlayed = 0.5;    // of a part before it is left [s]
constexpr double kExitWindow = 1.0;     // before the end of a part, in which it may be left [s]
constexpr double kCutsApart = 0.3;      // between two cuts that are both tried [s]
constexpr double kReaction = 0.2;       // after the start of a push the plan goes on for so long [s]
constexpr double kBlend = 0.3;          // in which a reference goes over from the state at hand to the motion [s]
constexpr double kBlendOnGround = 0.6;  // the same where the root is low [s]
constexpr int kEfforts[] = {1, 4};      // factors on samples, one after the other
constexpr int kMostSamples = 1000000, kMostSaved = 100000;
constexpr double kLow = 0.5;  // share of the root's height when standing

/// A way from a motion into another one.
struct Cut {
  int exit_step = 0;  // of the composed motion
  size_t control = 0;
  int step = 0;  // of that control
  double distance = 0;
};

std::vector<fs::path> RunsOf(const fs::path& library) {
  if (!fs::is_directory(library)) throw InputError(library.string(), "no such folder", "a folder with runs in it");
  std::vector<fs::path> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(library)) {
    if (fs::exists(entry.path() / results::kControlFile)) runs.push_back(entry.path());
  }
  std::sort(runs.begin(), runs.end());
  if (runs.empty()) throw InputError(library.string(), "no run", "a sub-folder with a control.json for each control");
  return runs;
}

size_t FindRun(const std::vector<fs::path>& runs, const std::string& name) {
  std::vector<std::string> names;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].filename() == name) return r;
    names.push_back(runs[r].filename().string());
  }
  throw UsageError("--play: found \"" + name + "\", expected one of " + io::List(names));
}

LibraryControl ReadControl(const fs::path& folder) {
  LibraryControl read{folder.filename().string(), StoredRun(folder), {}, {}};
  read.run.RequireOneCharacter("a composed motion is of one");
  read.control = control::ControlOf(read.run.scene, 0);
  const std::string file = read.run.controls[0].file.string();
  if (!read.run.pushes.empty()) throw InputError(file, "a motion that was made under pushes", "one without");
  const simulation::Environment& environment = read.control.world.environment;
  const bool moves = std::any_of(environment.boxes.begin(), environment.boxes.end(),
                                 [](const simulation::Box& box) { return box.course.has_value(); });
  if (moves || read.run.scene.layout().num_free_bodies() > 0) {
    throw InputError(file, "a world in which things move", "one that is the same at any time");
  }
  if (read.control.fragments.empty() || read.control.fragments.front().first_step != 0) {
    throw InputError(file, "a control that does not begin at step 0", "one that does");
  }
  control::Trajectory trajectory = control::Replay(read.run.scene.characters[0], read.control);
  if (trajectory.diverged) throw InputError(file, "a control whose motion diverges", "one that can be replayed");
  read.states = std::move(trajectory.states);
  return read;
}

/// Throws InputError where two controls cannot follow one another.
void CheckAlike(const LibraryControl& first, const LibraryControl& other) {
  const std::string file = other.run.controls[0].file.string();
  const std::string of_first = "that of " + first.run.controls[0].file.string();
  if (control::CharacterSha256(first.run.scene.characters[0]) !=
      control::CharacterSha256(other.run.scene.characters[0])) {
    throw InputError(file, "another character", of_first);
  }
  if (first.control.world.ToJson() != other.control.world.ToJson()) throw InputError(file, "another world", of_first);
}

/// Rotation by a share of what leads from `a` to `b`, before `b`.
Quat Towards(const Quat& a, const Quat& b, double share, const Quat& now) {
  return (FromRotationVector(share * RotationVector(a * b.conjugate())) * now).normalized();
}

class Composer {
 public:
  Composer(const CompositionJob& job, int threads, const CompositionHooks& hooks)
      : job_(job), threads_(threads), hooks_(hooks), character_(job.controls[0].run.scene.characters[0]) {}

  Composition Run() {
    Begin();
    size_t next = 1, push = 0;
    try {
      for (;;) {
        if (push < job_.pushes.size() && job_.pushes[push].start < result_.control.duration()) {
          if (!Answer(job_.pushes[push++])) break;
        } else if (next < job_.play.size()) {
          if (!Follow(job_.play[next++])) break;
        } else {
          break;
        }
      }
    } catch (const StoppedError& error) {
      result_.stopped = true;
      result_.ending = "stopped";
    }
    Evaluate();
    return std::move(result_);
  }

 private:
  double h() const { return result_.control.world.time_step; }
  int StepsIn(double seconds) const { return static_cast<int>(std::lround(seconds / h())); }

  void Begin() {
    const LibraryControl& first = job_.controls[job_.play[0]];
    result_.control = first.control;
    const auto& reference = first.run.characters[0].reference;
    const auto frames = static_cast<size_t>(std::floor(first.control.duration() / kCompositionFrame + 1e-9)) + 1;
    for (size_t f = 0; f < frames; ++f) {
      const double time = static_cast<double>(f) * kCompositionFrame;
      character::Pose& pose = result_.reference.emplace_back();
      if (reference) {
        reference->PoseAt(time, pose);
      } else {
        character::PoseOf(character_, StateOf(first, StepsIn(time)), pose);
      }
    }
    AddPart({0, job_.play[0], 0, 0, 0, false, 0});
    Simulate();
  }

  void AddPart(const CompositionPart& part) {
    result_.parts.push_back(part);
    if (hooks_.on_part) hooks_.on_part(part);
  }

  const character::State& StateOf(const LibraryControl& control, int step) const {
    return control.states[std::min(static_cast<size_t>(step), control.states.size() - 1)];
  }

  void Simulate() { actual_ = control::Replay(character_, result_.control, job_.pushes).states; }

  /// The next control of the plan.
  bool Follow(size_t control) {
    const int end = result_.control.num_steps(), begin = result_.parts.back().first_step;
    std::vector<int> exits;
    for (const control::Fragment& fragment : result_.control.fragments) {
      const int exit = fragment.end_step();
      if (exit == end || (exit >= begin + StepsIn(kLeastPlayed) && exit >= end - StepsIn(kExitWindow))) {
        exits.push_back(exit);
      }
    }
    if (TryAll(CutsFrom(exits, {control}), false)) return true;
    result_.ending = "no way found from " + job_.controls[result_.parts.back().control].name + " into " +
                     job_.controls[control].name;
    return false;
  }

  /// After a push the motion goes on that is nearest, be it the same one; then the plan.
  bool Answer(const control::Push& push) {
    const double least = std::max(push.start + kReaction, push.start + push.duration);
    for (const control::Fragment& fragment : result_.control.fragments) {
      const int exit = fragment.end_step();
      if (exit * h() < least - 1e-9 || static_cast<size_t>(exit) >= actual_.size()) continue;
      std::vector<size_t> any(job_.controls.size());
      for (size_t c = 0; c < any.size(); ++c) any[c] = c;
      if (TryAll(CutsFrom({exit}, any), true)) return true;
      result_.ending = "no way found after the push at " + io::Fixed(push.start, 2) + " s";
      return false;
    }
    return true;  // it comes at the end: nothing is left to be played
  }

  /// The nearest ones, some time apart.
  std::vector<Cut> CutsFrom(const std::vector<int>& exits, const std::vector<size_t>& controls) const {
    std::vector<Cut> all;
    for (const int exit : exits) {
      if (static_cast<size_t>(exit) >= actual_.size()) continue;
      for (const size_t c : controls) {
        const LibraryControl& control = job_.controls[c];
        const int last = control.control.num_steps() - StepsIn(kLeastLeft);
        for (int step = 0; step <= last; step += StepsIn(kCutInterval)) {
          const int cut = job_.options.transition == Transition::kPlain ? FragmentStart(control, step) : step;
          const double distance =
              metrics::StateDistance(character_, actual_[static_cast<size_t>(exit)], StateOf(control, cut));
          all.push_back({exit, c, cut, distance});
        }
      }
    }
    std::stable_sort(all.begin(), all.end(), [](const Cut& a, const Cut& b) { return a.distance < b.distance; });
    std::vector<Cut> cuts;
    const int apart = StepsIn(kCutsApart);
    for (const Cut& cut : all) {
      const bool near = std::any_of(cuts.begin(), cuts.end(), [&](const Cut& other) {
        return other.control == cut.control && std::abs(other.step - cut.step) < apart &&
               std::abs(other.exit_step - cut.exit_step) < apart;
      });
      if (!near) cuts.push_back(cut);
      if (cuts.size() == static_cast<size_t>(job_.options.cuts)) break;
    }
    return cuts;
  }

  static int FragmentStart(const LibraryControl& control, int step) {
    int start = 0;
    for (const control::Fragment& fragment : control.control.fragments) {
      if (fragment.first_step <= step) start = fragment.first_step;
    }
    return start;
  }

  /// Where no cut leads on, all are tried once more with more samples.
  bool TryAll(const std::vector<Cut>& cuts, bool pushed) {
    CompositionPart part;
    for (size_t t = 0; t < cuts.size() * std::size(kEfforts); ++t) {
      const Cut& cut = cuts[t % cuts.size()];
      if (hooks_.stop && hooks_.stop()) throw StoppedError("stopped");
      part = {cut.exit_step, cut.control, cut.step, cut.distance, part.tries + 1, pushed, part.cpu_seconds};
      const std::vector<character::Pose> reference = ReferenceFrom(cut);
      std::vector<control::Fragment> fragments;
      if (job_.options.transition == Transition::kPlain) {
        fragments = FragmentsFrom(cut);
      } else if (!Search(cut, reference, kEfforts[t / cuts.size()], fragments, part.cpu_seconds)) {
        continue;
      }
      Append(cut, reference, std::move(fragments));
      AddPart(part);
      return true;
    }
    return false;
  }

  /// The motion of a control from a cut on, where the character is; it begins with the state at hand.
  std::vector<character::Pose> ReferenceFrom(const Cut& cut) const {
    const LibraryControl& control = job_.controls[cut.control];
    const character::State& here = actual_[static_cast<size_t>(cut.exit_step)];
    const auto [heading, offset] = metrics::AlignOnGround(character_, here, StateOf(control, cut.step));
    const double duration = (control.control.num_steps() - cut.step) * h();
    const auto frames = static_cast<size_t>(std::floor(duration / kCompositionFrame + 1e-9)) + 1;
    const auto root = static_cast<size_t>(character_.root);
    const bool low = here[root].position.y() < kLow * character_.bodies[root].rest_position.y();
    const double blend = low ? kBlendOnGround : kBlend;
    character::Pose at_hand, first;
    character::PoseOf(character_, here, at_hand);
    std::vector<character::Pose> poses(frames);
    for (size_t f = 0; f < frames; ++f) {
      character::Pose& pose = poses[f];
      const double time = static_cast<double>(f) * kCompositionFrame;
      character::PoseOf(character_, StateOf(control, cut.step + StepsIn(time)), pose);
      pose.root_position = heading * pose.root_position + offset;
      pose.root_orientation = heading * pose.root_orientation;
      if (f == 0) first = pose;
      const double x = std::min(1.0, time / blend), share = 1 - x * x * (3 - 2 * x);
      if (share == 0) continue;
      pose.root_position += share * (at_hand.root_position - first.root_position);
      pose.root_orientation = Towards(at_hand.root_orientation, first.root_orientation, share, pose.root_orientation);
      for (size_t j = 0; j < pose.joint_rotations.size(); ++j) {
        pose.joint_rotations[j] =
            Towards(at_hand.joint_rotations[j], first.joint_rotations[j], share, pose.joint_rotations[j]);
      }
    }
    return poses;
  }

  std::vector<control::Fragment> FragmentsFrom(const Cut& cut) const {
    std::vector<control::Fragment> fragments;
    for (const control::Fragment& fragment : job_.controls[cut.control].control.fragments) {
      if (fragment.first_step < cut.step) continue;
      fragments.push_back(fragment);
      fragments.back().first_step += cut.exit_step - cut.step;
    }
    return fragments;
  }

  /// @param effort factor on samples and simulated time
  bool Search(const Cut& cut, const std::vector<character::Pose>& poses, int effort,
              std::vector<control::Fragment>& fragments, double& cpu_seconds) {
    Configuration configuration = job_.options.configuration;
    configuration.sampling.samples = std::min(configuration.sampling.samples * effort, kMostSamples);
    configuration.sampling.selection.saved = std::min(configuration.sampling.selection.saved * effort, kMostSaved);
    configuration.sampling.budget *= effort;
    const character::ReferenceMotion reference(character_, kCompositionFrame, poses,
                                               configuration.task.reference.velocity_interval);
    task::Options options = configuration.task;
    options.world.environment = result_.control.world.environment;
    options.world.time_step = h();
    task::Preparation preparation = task::Prepare(options, reference);
    preparation.task.world = result_.control.world;
    preparation.task.start = actual_[static_cast<size_t>(cut.exit_step)];
    const sampling::Problem problem{preparation.task, configuration.sampling};
    const auto farm = MakeThreadFarm(threads_, sampling::MakeWorkerFactory(problem));
    sampling::Hooks hooks;
    hooks.stop = hooks_.stop;
    sampling::Summary summary = sampling::Run(problem, *farm, hooks);
    cpu_seconds += summary.cpu_seconds;
    if (!summary.reached_end()) return false;
    fragments = std::move(summary.control.fragments);
    for (control::Fragment& fragment : fragments) fragment.first_step += cut.exit_step;
    searched_end_ = control::Fingerprint(summary.end);
    return true;
  }

  void Append(const Cut& cut, const std::vector<character::Pose>& poses, std::vector<control::Fragment> fragments) {
    std::vector<control::Fragment>& all = result_.control.fragments;
    const auto after = [&](const control::Fragment& fragment) { return fragment.first_step >= cut.exit_step; };
    all.erase(std::find_if(all.begin(), all.end(), after), all.end());
    all.insert(all.end(), std::make_move_iterator(fragments.begin()), std::make_move_iterator(fragments.end()));
    // Frames are even from the beginning on, whenever the part began.
    const character::ReferenceMotion part(character_, kCompositionFrame, poses, kCompositionFrame);
    const double exit = cut.exit_step * h();
    const auto kept = static_cast<size_t>(std::floor(exit / kCompositionFrame + 1e-9)) + 1;
    result_.reference.resize(std::min(kept, result_.reference.size()));
    for (;;) {
      const double time = static_cast<double>(result_.reference.size()) * kCompositionFrame - exit;
      if (time > part.duration() + 1e-9) break;
      part.PoseAt(time, result_.reference.emplace_back());
    }
    Simulate();
    const bool as_searched = job_.options.transition == Transition::kSearched && !PushedAfter(cut.exit_step);
    if (as_searched && control::Fingerprint(actual_.back()) != searched_end_) {
      throw std::logic_error("the replay does not end in the state that the search found");
    }
  }

  bool PushedAfter(int step) const {
    return std::any_of(job_.pushes.begin(), job_.pushes.end(), [&](const control::Push& push) {
      return push.start + push.duration > step * h() && push.start < result_.control.duration();
    });
  }

  void Evaluate() {
    const character::ReferenceMotion reference(character_, kCompositionFrame, result_.reference, kCompositionFrame);
    result_.evaluation =
        metrics::Evaluate(character_, control::Replay(character_, result_.control, job_.pushes), reference,
                          result_.control.duration(), job_.options.configuration.task.gates);
  }

  const CompositionJob& job_;
  int threads_;
  const CompositionHooks& hooks_;
  const character::Character& character_;
  Composition result_;
  std::vector<character::State> actual_;  // (steps + 1) of the motion so far, under all pushes
  uint64_t searched_end_ = 0;
};

int EndOf(const Composition& result, size_t part) {
  return part + 1 < result.parts.size() ? result.parts[part + 1].first_step : result.control.num_steps();
}

io::Json CompositionMember(const CompositionJob& job, const Composition& result) {
  const double h = result.control.world.time_step;
  io::Json parts = io::Json::array();
  for (size_t p = 0; p < result.parts.size(); ++p) {
    const CompositionPart& part = result.parts[p];
    parts.push_back({{"start", part.first_step * h},
                     {"end", EndOf(result, p) * h},
                     {"control", job.controls[part.control].name},
                     {"cut", part.cut_step * h},
                     {"distance", part.distance},
                     {"tries", part.tries},
                     {"pushed", part.pushed},
                     {"cpu_seconds", part.cpu_seconds}});
  }
  return {{"ending", result.ending},
          {"transition", Name(job.options.transition)},
          {"play", job.options.play},
          {"parts", parts},
          {"reference",
           "the motions that are followed, put where the character is, and blended from its state: kinematic"}};
}

}  // namespace

std::string Name(Transition transition) {
  return transition == Transition::kSearched ? "searched" : "plain";
}

Configuration CompositionConfiguration() {
  Configuration configuration;
  configuration.sampling.samples = 200;
  configuration.sampling.selection.saved = 40;
  configuration.sampling.budget = 1000;
  return configuration;
}

CompositionJob::CompositionJob(const CompositionOptions& o) : options(o) {
  if (const auto problem = options.configuration.Validate()) throw UsageError(*problem);
  const std::vector<fs::path> runs = RunsOf(options.library);
  if (options.play.empty()) throw UsageError("--play: found no name, expected those of runs in the library");
  for (const std::string& name : options.play) {
    const fs::path& folder = runs[FindRun(runs, name)];
    const auto known = std::find_if(controls.begin(), controls.end(),
                                    [&](const LibraryControl& control) { return control.name == name; });
    play.push_back(static_cast<size_t>(known - controls.begin()));
    if (known != controls.end()) continue;
    controls.push_back(ReadControl(folder));
    CheckAlike(controls.front(), controls.back());
  }
  for (size_t p = 1; p < play.size(); ++p) {
    const LibraryControl& control = controls[play[p]];
    if (control.control.duration() >= kLeastLeft) continue;
    throw InputError(control.run.controls[0].file.string(),
                     "a control of " + io::Fixed(control.control.duration(), 2) + " s, too short to go on with",
                     "one of " + io::Fixed(kLeastLeft, 1) + " s at least");
  }
  for (const std::string& text : options.pushes) pushes.push_back(ParsePush(text, controls[0].run.scene));
  std::stable_sort(pushes.begin(), pushes.end(),
                   [](const control::Push& a, const control::Push& b) { return a.start < b.start; });
}

std::vector<fs::path> CompositionJob::Files() const {
  std::vector<fs::path> files;
  for (const LibraryControl& control : controls) {
    for (fs::path& file : control.run.Files()) files.push_back(std::move(file));
  }
  return files;
}

Composition Compose(const CompositionJob& job, int threads, const CompositionHooks& hooks) {
  return Composer(job, threads, hooks).Run();
}

void WriteComposition(results::RunFolder& folder, const CompositionJob& job, const Composition& result,
                      const RunContext& context) {
  const character::Character& character = job.controls[0].run.scene.characters[0];
  control::WriteControl(character, result.control,
                        [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  const character::ReferenceMotion reference(character, kCompositionFrame, result.reference, kCompositionFrame);
  const control::Scene scene = control::MakeScene(character, result.control);
  std::string title;
  for (const std::string& name : job.options.play) title += (title.empty() ? "" : ", ") + name;
  MotionWriter writer(folder, "",
                      {character, result.control.world, &reference, title,
                       static_cast<size_t>(std::lround(result.evaluation.simulated_duration / scene.world.time_step))});
  ReplayInParts(scene, job.pushes, [&](size_t, const control::Trajectory& part) { writer.Add(part); });
  writer.Finish();
  folder.Write(results::kCompositionFile, FormatComposition(job, result));
  io::Json manifest = {{"format", results::kRunFormat},
                       {"version", 2},
                       {"program", "compose"},
                       {"status", result.ending == "completed" ? "completed" : "partial"},
                       {"success", result.success()},
                       {"evaluation", result.evaluation.ToJson()},
                       {"command", context.command},
                       {"configuration", job.options.configuration.ToJson()},
                       {"seed", job.options.configuration.sampling.seed},
                       {"composition", CompositionMember(job, result)},
                       {"solver", DescribeSolver(result.control.world)}};
  if (!job.pushes.empty()) {
    manifest["perturbed"] = true;
    manifest["pushes"] = PushesToJson(scene, job.pushes);
  }
  manifest["inputs"] = io::Json::array();
  for (const LibraryControl& control : job.controls) {
    for (const ControlInput& input : control.run.controls) {
      manifest["inputs"].push_back({{"file", input.file.string()}, {"role", "control"}, {"sha256", input.sha256}});
    }
  }
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : result.timer, {});
  FinishWith(folder, std::move(manifest));
}

std::string FormatComposition(const CompositionJob& job, const Composition& result) {
  const double h = result.control.world.time_step;
  io::CsvWriter csv;
  for (const char* column : {"start", "end", "control", "cut", "distance", "tries", "pushed"}) csv.Text(column);
  csv.EndRow();
  for (size_t p = 0; p < result.parts.size(); ++p) {
    const CompositionPart& part = result.parts[p];
    csv.Number(part.first_step * h);
    csv.Number(EndOf(result, p) * h);
    csv.Text(job.controls[part.control].name);
    csv.Number(part.cut_step * h);
    csv.Number(part.distance);
    csv.Integer(part.tries);
    csv.Integer(part.pushed ? 1 : 0);
    csv.EndRow();
  }
  return csv.Take();
}

std::string Describe(const CompositionJob& job, const CompositionPart& part) {
  const LibraryControl& control = job.controls[part.control];
  const double h = control.control.world.time_step;
  std::string text = io::Fixed(part.first_step * h, 2) + " s: " + control.name;
  if (part.tries == 0) return text;
  text.append(" from ").append(io::Fixed(part.cut_step * h, 2)).append(" s on, state ");
  text.append(io::Fixed(part.distance, 2)).append(" m off, at try ").append(std::to_string(part.tries));
  return text.append(part.pushed ? ", after a push" : "");
}

}  // namespace retrace::runs
