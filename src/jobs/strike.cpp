#include "retrace/jobs/strike.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/control/cutting.h"
#include "retrace/control/reference_targets.h"
#include "retrace/io/error.h"
#include "retrace/io/field_error.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"
#include "retrace/planning/segments/frame_sequence.h"
#include "retrace/planning/segments/joined_control.h"
#include "retrace/planning/segments/segment_tracking.h"
#include "retrace/retargeting/reference.h"
#include "retrace/runs/inputs/character_input.h"
#include "retrace/runs/stored/run_files.h"
#include "retrace/runs/stored/scene_files.h"
#include "retrace/simulation/solver_in_use.h"
#include "retrace/task/task.h"

namespace retrace::runs {
namespace {

using character::Pose;
using character::ReferenceMotion;

constexpr const char* kSides[] = {"receiver", "attacker"};
constexpr double kFragment = 0.1;                // [s]
constexpr size_t kMostAims = 10;                 // that are simulated
constexpr double kDepths[] = {0, 0.03, 0.06};    // by which the receiver is nearer than the recordings touch [m]
constexpr double kUntilItLands = 0.3;            // after the touch of the recordings [s]
constexpr double kTracked[] = {1.5, 0.75, 0.4};  // of a clip, from where the scene begins [s]
constexpr double kLeastOfClip = 0.2;             // that there must be for a touch to be looked for [s]

/// The clip's files, with the side before each role.
std::vector<InputName> InputsOfSide(const ClipOptions& clip, const char* side) {
  CheckClip(clip);
  std::vector<InputName> names = ClipInputs(clip);
  for (InputName& name : names) name.role = std::string(side).append(" ").append(name.role);
  return names;
}

/// The same files with the roles that ParseClip knows.
std::vector<InputFile> ReadSide(const ClipOptions& clip, const char* side, std::vector<InputRecord>& records) {
  CheckClip(clip);
  std::vector<InputFile> files = ReadInputs(ClipInputs(clip));
  const std::vector<InputName> names = InputsOfSide(clip, side);
  for (size_t f = 0; f < files.size(); ++f) records.push_back({names[f], files[f].record.sha256});
  return files;
}

/// Turned about the vertical, then moved, as a motion of its own.
ReferenceMotion Moved(const ReferenceMotion& motion, const Quat& heading, const Vec3& offset) {
  std::vector<Pose> poses = motion.poses();
  for (Pose& pose : poses) character::Place(heading, offset, pose);
  return motion.WithPoses(std::move(poses));
}

/// With the positions of the root along the ground so many times as far from the origin.
ReferenceMotion Scaled(const ReferenceMotion& motion, double factor) {
  std::vector<Pose> poses = motion.poses();
  for (Pose& pose : poses) pose.root_position = pose.root_position.cwiseProduct(Vec3(factor, 1, factor));
  return motion.WithPoses(std::move(poses));
}

ReferenceMotion PartFrom(const ReferenceMotion& motion, double start, double end) {
  const double duration = std::min(end, motion.duration()) - start;
  std::vector<Pose> poses(NumCompositionFrames(duration));
  for (size_t f = 0; f < poses.size(); ++f) {
    motion.PoseAt(start + static_cast<double>(f) * kCompositionFrame, poses[f]);
  }
  return ReferenceMotion(motion.character(), kCompositionFrame, std::move(poses), kCompositionFrame);
}

/// The poses of a motion as targets, a pose for each step, taken ahead of the time by kd / kp of each joint.
std::vector<control::Fragment> TargetsAhead(const ReferenceMotion& motion, double time_step) {
  const character::Character& character = motion.character();
  const auto steps = static_cast<int>(std::floor(motion.duration() / time_step + 1e-9));
  const int longest = std::max(1, static_cast<int>(std::lround(kFragment / time_step)));
  std::vector<control::Fragment> fragments;
  Pose pose;
  for (int first = 0; first < steps; first += longest) {
    control::Fragment& fragment = fragments.emplace_back();
    fragment.first_step = first;
    fragment.num_steps = std::min(longest, steps - first);
    for (int t = 0; t <= fragment.num_steps; ++t) {
      control::TargetPose& targets = fragment.targets.emplace_back(character.joints.size());
      double ahead_of = -1;
      for (size_t j = 0; j < targets.size(); ++j) {
        const character::Joint& joint = character.joints[j];
        const double ahead = control::TimeAhead(joint);
        if (ahead != ahead_of) motion.PoseAt((first + t) * time_step + ahead, pose);
        ahead_of = ahead;
        targets[j] = pose.joint_rotations[j];
      }
    }
  }
  return fragments;
}

/// Feedback keeps what is recorded on its feet until it is hit, for as long as it can; after that, the poses are the
/// targets.
std::vector<control::Fragment> ControlAlong(const ReferenceMotion& motion, const task::Task& task,
                                            const Configuration& configuration) {
  const double h = task.world.time_step;
  std::vector<control::Fragment> targets = TargetsAhead(motion, h);
  for (const double longest : kTracked) {
    std::vector<Pose> poses(NumCompositionFrames(std::min(longest, motion.duration())));
    for (size_t f = 0; f < poses.size(); ++f) motion.PoseAt(static_cast<double>(f) * kCompositionFrame, poses[f]);
    SegmentProblem problem{motion.character(), task.world, task.start, 0, poses, configuration};
    problem.lowest_root = -1;
    FoundSegment tracked = TrackSegment(problem);
    if (!tracked.reached_end) continue;
    const int end = tracked.fragments.back().end_step();
    for (control::Fragment& fragment : control::SplitAt({end, targets.back().end_step()}, targets)) {
      if (fragment.first_step >= end) tracked.fragments.push_back(std::move(fragment));
    }
    return std::move(tracked.fragments);
  }
  return targets;
}

/// The receiver and the attacker in one world.
Strike SimulateBoth(const character::Character& character, const std::vector<ReferenceMotion>& references,
                    const Configuration& configuration) {
  Strike result;
  task::Options options = configuration.task;
  options.world.solver = simulation::SolverInUse(options.world);
  for (const ReferenceMotion& reference : references) {
    const task::Task task = task::Prepare(options, reference).task;
    const control::OpenLoopControl control{task.world, task.start, ControlAlong(reference, task, configuration)};
    if (result.scene.characters.empty()) {
      result.scene = control::MakeScene(character, control);
    } else {
      control::AddToScene(character, control, Quat::Identity(), Vec3::Zero(), result.scene);
    }
  }
  const control::Trajectory whole = control::Replay(result.scene);
  const simulation::Layout layout = result.scene.layout();
  result.impact = FirstImpact(whole, layout, 0);
  for (size_t c = 0; c < references.size(); ++c) {
    const auto steps = static_cast<size_t>(result.scene.fragments[c].back().end_step());
    metrics::Evaluator evaluator(character, references[c], options.gates, steps);
    evaluator.Add(control::TrajectoryOf(whole, layout, c));
    result.evaluations.push_back(evaluator.Finish(static_cast<double>(steps) * result.scene.world.time_step));
  }
  return result;
}

class StrikePlacer {
 public:
  explicit StrikePlacer(StrikeJob& job) : job_(job), o_(job.options) {}

  void Run() {
    if (o_.pair && o_.attacker.file.empty()) ChooseBothOfOneFile();
    Read();
    if (o_.aim) {
      ChooseAim();
    } else {
      Place();
    }
  }

 private:
  /// The first of several placements with which the bodies meet in the simulation, too.
  void ChooseAim() {
    const std::vector<ReferenceMotion> read = job_.motions;
    const std::vector<Aim> aims = AimsAt(read[1], read[0], *o_.aim, o_.within, o_.attacker.file.string(), kMostAims);
    std::optional<Aim> landing;
    for (const double depth : kDepths) {
      for (Aim aim : aims) {
        const Vec3 along = Vec3(aim.blow.velocity.x(), 0, aim.blow.velocity.z()).normalized();
        aim.offset -= depth * along;
        try {
          Take(aim, read);
        } catch (const InputError&) {  // so near to one another they are in one another
          continue;
        }
        std::vector<ReferenceMotion> references;
        for (const ReferenceMotion& motion : job_.motions) {
          references.push_back(PartFrom(motion, job_.start, job_.touch.time + kUntilItLands));
        }
        const Strike strike = SimulateBoth(job_.character, references, o_.configuration);
        if (MeetsAsAimed(job_, strike)) return;
        if (!landing && strike.success()) landing = aim;
      }
    }
    Take(landing.value_or(aims.front()), read);
  }

  /// Both motions begin with the wind-up of the strike.
  void Take(const Aim& aim, const std::vector<ReferenceMotion>& read) {
    job_.aim = aim;
    job_.references.clear();
    job_.motions = {PartFrom(read[0], aim.receiver_start, read[0].duration()),
                    PartFrom(read[1], aim.attacker_start, read[1].duration())};
    job_.motions[0] = Moved(job_.motions[0], aim.turn, aim.offset);
    Place();
  }

  /// Puts both into one world, from the touch of which the simulation begins.
  void Place() {
    const double until = std::min({o_.within, job_.motions[0].duration(), job_.motions[1].duration()});
    if (until < kLeastOfClip) {
      throw UsageError("found " + io::Fixed(until, 2) + " s of both clips, expected at least " +
                       io::Fixed(kLeastOfClip, 1) + " s in which they may touch");
    }
    if (o_.pair) {
      PlacePair(until);
    } else {
      if (!o_.aim) PlaceByStance();
      job_.touch = character::FirstTouch(job_.motions[0], job_.motions[1], 0, until);
      Require(job_.touch, until);
    }
    const double frame = 1 / std::min(job_.reports[0].frame_rate, job_.reports[1].frame_rate);
    job_.start = std::max(0.0, job_.touch.time - frame);
    for (const ReferenceMotion& motion : job_.motions) {
      if (motion.duration() < job_.touch.time + kLeastOfClip) {
        throw UsageError("a touch at " + io::Fixed(job_.touch.time, 2) + " s where a clip ends at " +
                         io::Fixed(motion.duration(), 2) + " s: expected more of it to go on with");
      }
      job_.references.push_back(PartFrom(motion, job_.start, job_.touch.time + o_.seconds));
    }
  }

  /// Names the two people of the receiver's file.
  void ChooseBothOfOneFile() {
    ClipOptions& receiver = job_.options.receiver;
    std::string attacker = o_.attacker.choice.performer;
    std::vector<InputRecord> unused;
    const std::vector<InputFile> files = ReadSide(receiver, kSides[0], unused);
    const std::vector<std::string> people = ParseClip(files, receiver.choice).performers;
    std::string& struck = receiver.choice.performer;
    const bool named = !struck.empty() && !attacker.empty();
    if (!named && people.size() != 2) {
      std::string names;
      for (const std::string& person : people) names += (names.empty() ? ": \"" : ", \"") + person + "\"";
      throw UsageError(receiver.file.string() + ": found " +
                       (people.empty() ? "one person" : std::to_string(people.size()) + " people" + names) +
                       ", expected two, or another file of the attacker, or both to be named");
    }
    if (!named) {
      const auto other = [&](const std::string& name) { return people[name == people[0] ? 1 : 0]; };
      if (struck.empty()) struck = attacker.empty() ? people[0] : other(attacker);
      if (attacker.empty()) attacker = other(struck);
    }
    if (struck == attacker) {
      throw UsageError(receiver.file.string() + ": found \"" + struck + "\" for both, expected two people");
    }
    job_.options.attacker = receiver;
    job_.options.attacker.choice.performer = attacker;
  }

  void Read() {
    const ClipOptions* clips[] = {&o_.receiver, &o_.attacker};
    for (size_t side = 0; side < 2; ++side) {
      ClipOptions clip = *clips[side];
      if (o_.pair) {
        clip.start = o_.receiver.start;
        if (!clip.skipped_frames) clip.skipped_frames = 0;  // a frame left out would shift the clock
      }
      const std::vector<InputFile> files = ReadSide(clip, kSides[side], job_.inputs);
      const motion::Clip recorded = ParseClip(files, clip.choice);
      if (!clip.end) {
        const double frame_time = clip.frame_rate ? 1 / *clip.frame_rate : recorded.frame_time;
        const double duration = static_cast<double>(recorded.frames.size() - 1) * frame_time;
        const double end = clip.start + (o_.within + o_.seconds) / clip.time_scale;
        if (end < duration) clip.end = end;
      }
      character::ReferenceOptions reference = o_.configuration.task.reference;
      Apply(clip, reference);
      ApplyJointMap(files, reference);
      job_.motions.push_back(character::MakeReference(job_.character, recorded, clip.file.string(), reference,
                                                      job_.reports.emplace_back()));
    }
  }

  void PlaceByStance() {
    character::State receiver, attacker;
    job_.motions[0].StateAt(0, receiver);
    job_.motions[1].StateAt(0, attacker);
    const auto root = static_cast<size_t>(job_.character.root);
    const Quat faces = Heading(receiver[root].orientation);
    const Quat turn = faces * AxisRotation(1, o_.stance.heading) * Heading(attacker[root].orientation).conjugate();
    Vec3 offset =
        receiver[root].position + faces * Vec3(o_.stance.left, 0, o_.stance.ahead) - turn * attacker[root].position;
    offset.y() = 0;
    job_.motions[1] = Moved(job_.motions[1], turn, offset);
  }

  /// Each motion was scaled to the character by its own factor, about the origin of the recordings. The mean factor
  /// tells where the roots would be, at each instant; motions whose feet do not slide are moved there as a whole, for
  /// the instant of the touch.
  void PlacePair(double until) {
    double factors[2], mean = 0;
    for (size_t side = 0; side < 2; ++side) {
      factors[side] = job_.reports[side].scale / job_.reports[side].unit;
      mean += 0.5 * factors[side];
    }
    std::vector<ReferenceMotion> scaled;
    for (size_t side = 0; side < 2; ++side) scaled.push_back(Scaled(job_.motions[side], mean / factors[side]));
    job_.touch = character::FirstTouch(scaled[0], scaled[1], 0, until);
    Require(job_.touch, until);
    Pose as_recorded, wanted;
    for (size_t side = 0; side < 2; ++side) {
      job_.motions[side].PoseAt(job_.touch.time, as_recorded);
      scaled[side].PoseAt(job_.touch.time, wanted);
      job_.motions[side] =
          Moved(job_.motions[side], Quat::Identity(), wanted.root_position - as_recorded.root_position);
    }
  }

  /// Throws where the two never touch or do so from the beginning.
  void Require(const character::Approach& approach, double until) const {
    const auto name = [&](size_t side, int body) {
      return std::string(kSides[side]).append("'s ").append(job_.character.bodies[static_cast<size_t>(body)].name);
    };
    const std::string bodies = name(1, approach.bodies.second) + " and the " + name(0, approach.bodies.first);
    const std::string file = o_.attacker.file.string();
    if (!approach.touch) {
      throw InputError(file,
                       "an impact that never touches: the " + bodies + " come no nearer than " +
                           io::Fixed(approach.bodies.distance, 3) + " m, at " + io::Fixed(approach.time, 2) + " s of " +
                           io::Fixed(until, 2) + " s",
                       "two characters that meet");
    }
    if (approach.time == 0) {
      throw InputError(file, "characters that begin inside one another: the " + bodies + " overlap at 0 s",
                       "two that are apart until the impact");
    }
  }

  StrikeJob& job_;
  const StrikeOptions& o_;
};

character::Character ReadCharacter(const StrikeOptions& options, std::vector<InputRecord>& records) {
  if (IsSubject(options.character)) {
    throw FieldError("character",
                     "found \"" + options.character + "\", expected one character for both: a JSON file, or a name");
  }
  const InputFile file = ReadInput({"character", CharacterFile(options.character)});
  records.push_back(file.record);
  return ParseCharacterFile(file);
}

}  // namespace

Stance ParseStance(const std::string& text) {
  const auto refuse = [&](const std::string& found) {
    std::string message = "the stance \"" + text + "\": found ";
    message.append(found).append(", expected AHEAD, AHEAD,LEFT or AHEAD,LEFT,HEADING: meters from ");
    message.append(io::Real{kStancePlaces}.Legal()).append(", degrees from ").append(io::Real{kStanceHeadings}.Legal());
    throw UsageError(message);
  };
  const std::vector<std::string> parts = io::Split(text, ',');
  if (parts.size() > 3) refuse(std::to_string(parts.size()) + " parts between commas");
  const auto number = [&](size_t part, const io::Range& range, double otherwise) {
    double value = otherwise;
    if (part < parts.size() && (!io::ParseNumber(parts[part], value) || !range.Contains(value))) {
      refuse("\"" + parts[part] + "\"");
    }
    return value;
  };
  return {number(0, kStancePlaces, 1), number(1, kStancePlaces, 0), Radians(number(2, kStanceHeadings, 180))};
}

StrikeJob::StrikeJob(const StrikeOptions& o) : options(o), character(ReadCharacter(o, inputs)) {
  if (const auto problem = o.configuration.Validate()) throw UsageError(*problem);
  StrikePlacer(*this).Run();
}

Strike SimulateStrike(const StrikeJob& job) {
  return SimulateBoth(job.character, job.references, job.options.configuration);
}

bool MeetsAsAimed(const StrikeJob& job, const Strike& result) {
  if (!job.aim || !result.impact) return false;
  const simulation::Layout layout = result.scene.layout();
  return layout.LocalBody(result.impact->body) == job.aim->at &&
         layout.LocalBody(result.impact->other) == job.aim->blow.with;
}

io::Json StrikeMember(const StrikeJob& job, const Strike& result) {
  const StrikeOptions& o = job.options;
  const ClipOptions* clips[] = {&o.receiver, &o.attacker};
  const auto name = [&](int body) { return job.character.bodies[static_cast<size_t>(body)].name; };
  io::Json strike = {{"pair", o.pair},
                     {"start", job.start},
                     {"touch",
                      {{"time", job.touch.time},
                       {"receiver", name(job.touch.bodies.first)},
                       {"attacker", name(job.touch.bodies.second)}}},
                     {"impact", result.impact ? ToJson(result.scene, *result.impact) : io::Json()},
                     {"targets", "the poses of the recordings, ahead of the time by kd / kp of each joint"}};
  for (size_t c = 0; c < 2; ++c) {
    io::Json choice = io::Json::object();
    AddChoice(clips[c]->choice, choice);
    if (!choice.empty()) strike["choice"][kSides[c]] = choice;
  }
  if (job.aim) {
    const Blow& blow = job.aim->blow;
    strike["aim"] = {{"with", name(blow.with)},
                     {"at", name(job.aim->at)},
                     {"facing", o.aim->facing},
                     {"time", blow.time},
                     {"speed", blow.speed},
                     {"height", blow.position.y()},
                     {"distance", job.aim->distance},
                     {"receiver_start", job.aim->receiver_start},
                     {"attacker_start", job.aim->attacker_start},
                     {"as_aimed", MeetsAsAimed(job, result)}};
  } else if (!o.pair) {
    strike["stance"] = {{"ahead", o.stance.ahead}, {"left", o.stance.left}, {"heading", o.stance.heading}};
  }
  return strike;
}

void WriteStrike(results::RunFolder& folder, const StrikeJob& job, const Strike& result, const RunContext& context) {
  const StrikeOptions& o = job.options;
  const ClipOptions* clips[] = {&o.receiver, &o.attacker};
  std::vector<SceneCharacter> characters;
  for (size_t c = 0; c < 2; ++c) {
    characters.push_back({&job.references[c], clips[c]->file.string(), "", o.configuration.task.gates,
                          result.evaluations[c],
                          "the recording from a frame before the touch on, put into the world of both: kinematic"});
  }
  WriteScene(folder, result.scene, characters, "a strike");
  io::Json manifest = {{"format", results::kRunFormat},
                       {"version", 2},
                       {"program", "strike"},
                       {"status", result.success() ? "completed" : "partial"},
                       {"success", result.success()},
                       {"physical", true},
                       {"command", context.command},
                       {"configuration", o.configuration.ToJson()},
                       {"strike", StrikeMember(job, result)},
                       {"characters", CharactersMember(result.scene, characters)},
                       {"inputs", ToJson(job.inputs)},
                       {"solver", simulation::DescribeSolver(o.configuration.task.world)}};
  manifest["provenance"] = results::Provenance(context.timer != nullptr ? *context.timer : result.timer, {});
  FinishWith(folder, std::move(manifest));
}

std::string Describe(const StrikeJob& job, const Strike& result) {
  const auto name = [&](int body) { return job.character.bodies[static_cast<size_t>(body)].name; };
  std::string text;
  const ClipOptions* clips[] = {&job.options.receiver, &job.options.attacker};
  for (size_t side = 0; side < job.reports.size(); ++side) {
    for (const character::Doubt& doubt : job.reports[side].doubts) {
      text.append("warning: ").append(MessageLine(clips[side]->file.string() + ": " + doubt.text)).append("\n");
    }
  }
  if (job.aim) {
    text += "the strike: the attacker's ";
    text.append(name(job.aim->blow.with)).append(" at the receiver's ").append(name(job.aim->at)).append(", ");
    text.append(io::Fixed(job.aim->blow.speed, 1)).append(" m/s, ").append(io::Fixed(job.aim->blow.position.y(), 2));
    text.append(" m above the ground, the roots ").append(io::Fixed(job.aim->distance, 2)).append(" m apart\n");
    if (!job.aim->as_aimed()) text += "warning: at no instant of it do these two meet first; what is nearest to that\n";
  }
  text += "the recordings touch at " + io::Fixed(job.touch.time, 3) + " s: the attacker's ";
  text.append(name(job.touch.bodies.second)).append(" and the receiver's ").append(name(job.touch.bodies.first));
  text.append("; simulated from ").append(io::Fixed(job.start, 3)).append(" s on\n");
  if (!result.impact) return text + "  in the simulation they miss one another\n";
  const ContactEpisode& impact = *result.impact;
  text.append("  the impact: ").append(Describe(result.scene, impact)).append(", ");
  text.append(io::Fixed(impact.start, 3)).append(" to ").append(io::Fixed(impact.end, 3)).append(" s after that, ");
  text.append(io::Fixed(impact.impulse.norm(), 1)).append(" N s, at most ");
  text.append(io::Fixed(impact.largest_force, 0)).append(" N, closing at ");
  text.append(io::Fixed(impact.closing_speed, 1)).append(" m/s\n");
  return text;
}

}  // namespace retrace::runs
