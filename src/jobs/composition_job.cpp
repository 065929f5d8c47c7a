#include "retrace/jobs/composition_job.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "retrace/control/push_text.h"
#include "retrace/control/pushes.h"
#include "retrace/io/error.h"
#include "retrace/io/field_error.h"
#include "retrace/io/number.h"
#include "retrace/io/split_text.h"
#include "retrace/math/random.h"
#include "retrace/math/rotation.h"
#include "retrace/planning/composition/standing_end.h"

namespace retrace::runs {
namespace fs = std::filesystem;
namespace {

constexpr double kLongestAnswer = 30;  // of a fall with what follows it, for the range of the pushes [s]

size_t FindRun(const std::vector<fs::path>& runs, const std::string& name) {
  std::vector<std::string> names;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].filename() == name) return r;
    names.push_back(runs[r].filename().string());
  }
  throw FieldError("play", "found \"" + name + "\", expected one of " + io::List(names));
}

/// Fills a problem as the options say.
class ProblemBuilder {
 public:
  ProblemBuilder(const CompositionOptions& o, CompositionProblem& filled) : options_(o), problem_(filled) {}
  void Build();

 private:
  size_t Find(const std::string& name, const std::string& field) const;
  /// Names with commas between, the first of which may be NAME@SECOND.
  CompositionProblem::Rise ParseNames(const std::string& text, const std::string& field) const;
  void AddPushes();

  const CompositionOptions& options_;
  CompositionProblem& problem_;
};

void ProblemBuilder::Build() {
  std::vector<LibraryControl>& controls = problem_.controls;
  std::vector<size_t>& play = problem_.play;
  std::vector<control::Push>& pushes = problem_.pushes;
  if (const auto mistake = options_.configuration.Validate()) throw UsageError(*mistake);
  problem_.begins = !options_.begin.empty();
  const ControlLibrary library(options_.library);
  const std::vector<fs::path>& runs = library.runs();
  if (options_.play.empty()) throw FieldError("play", "found no name, expected those of runs in the library");
  if (problem_.begins) {
    controls.push_back(ReadFirstControl(options_.begin));
    play.push_back(0);
    pushes = controls[0].run.AllPushes();
    problem_.num_begun = pushes.size();
  }
  for (const std::string& name : options_.play) {
    const fs::path& folder = runs[FindRun(runs, name)];
    const auto known = std::find_if(controls.begin(), controls.end(),
                                    [&](const LibraryControl& control) { return control.name == name; });
    play.push_back(static_cast<size_t>(known - controls.begin()));
    if (known != controls.end()) continue;
    controls.push_back(library.Read(folder));
    CheckAlike(controls.front(), controls.back());
  }
  for (size_t p = 1; p < play.size(); ++p) {
    const LibraryControl& control = controls[play[p]];
    if (control.control.duration() >= kLeastLeft) continue;
    throw InputError(control.run.controls[0].file.string(),
                     "a control of " + io::Fixed(control.control.duration(), 2) + " s, too short to go on with",
                     "one of " + io::Fixed(kLeastLeft, 1) + " s at least");
  }
  if (options_.transition == Transition::kKinematic && !controls[0].control.world.environment.empty()) {
    throw InputError(controls[0].file().string(), "a world with things in it",
                     "a plain floor, where a kinematic transition may lead anywhere");
  }
  double longest = options_.seconds;
  for (const size_t p : play) longest += controls[p].control.duration();
  longest += kLongestAnswer * static_cast<double>(options_.pushes.size());
  for (const std::string& text : options_.pushes)
    pushes.push_back(control::ParsePush(text, controls[0].run.scene, longest));
  AddPushes();
  problem_.num_played = controls.size();
  if (pushes.empty() && !problem_.begins) {
    if (!options_.get_ups.empty()) throw FieldError("get_ups", "found no push, expected one that ends in a fall");
    if (!options_.break_falls.empty())
      throw FieldError("break_falls", "found no push, expected one that ends in a fall");
    return;
  }
  for (const fs::path& folder : runs) {
    const std::string name = folder.filename().string();
    const auto same = [&](const LibraryControl& control) { return control.name == name; };
    if (std::any_of(controls.begin(), controls.end(), same)) continue;
    controls.push_back(library.Read(folder));
    CheckAlike(controls.front(), controls.back());
  }
  for (size_t c = problem_.begins ? 1 : 0; c < controls.size(); ++c) {
    if (!controls[c].succeeded() || !controls[c].EndsStanding()) continue;
    if (!CanStandAtEnd(controls[c], options_.configuration)) {
      problem_.falling_ends.push_back(c);
    } else if (controls[c].GetsUp()) {
      problem_.get_ups.push_back(c);
    }
  }
  if (problem_.get_ups.empty()) {  // the next control may catch what falls
    for (const size_t c : problem_.falling_ends) {
      if (controls[c].GetsUp()) problem_.get_ups.push_back(c);
    }
  }
  for (const std::string& text : options_.get_ups) problem_.rises.push_back(ParseNames(text, "get_ups"));
  for (const std::string& text : options_.break_falls) {
    problem_.break_falls.push_back(text == "none" ? CompositionProblem::Rise() : ParseNames(text, "break_falls"));
  }
}

CompositionProblem::Rise ProblemBuilder::ParseNames(const std::string& text, const std::string& field) const {
  const std::vector<LibraryControl>& controls = problem_.controls;
  CompositionProblem::Rise rise;
  for (std::string name : io::Split(text, ',')) {
    const size_t at = name.find('@');
    if (at != std::string::npos) {
      double time = 0;
      const bool first = rise.controls.empty();
      if (!first || !io::ParseNumber(name.substr(at + 1), time) || !(time >= 0 && time <= 1e4)) {
        throw FieldError(field, "found \"" + name + "\", expected NAME, or of the first one NAME@SECOND");
      }
      rise.time = time;
      name.resize(at);
    }
    rise.controls.push_back(Find(name, field));
    if (rise.time && rise.controls.size() == 1 && *rise.time > controls[rise.controls[0]].control.duration()) {
      throw FieldError(field, "found \"" + text + "\", expected a second of a control that lasts " +
                                  io::Fixed(controls[rise.controls[0]].control.duration(), 2) + " s");
    }
  }
  return rise;
}

size_t ProblemBuilder::Find(const std::string& name, const std::string& field) const {
  const std::vector<LibraryControl>& controls = problem_.controls;
  std::vector<std::string> names;
  for (size_t c = 0; c < controls.size(); ++c) {
    if (controls[c].name == name) return c;
    names.push_back(controls[c].name);
  }
  throw FieldError(field, "found \"" + name + "\", expected one of " + io::List(names));
}

void ProblemBuilder::AddPushes() {
  const std::vector<LibraryControl>& controls = problem_.controls;
  std::vector<control::Push>& pushes = problem_.pushes;
  const size_t num_begun = problem_.num_begun;
  if (!options_.push_every.empty()) {
    const control::Scene& scene = controls[0].run.scene;
    const std::vector<std::string> parts = io::Split(options_.push_every, ',');
    double force = 0, interval = 0, duration = 0;
    const auto positive = [](const std::string& text, double& value) {
      return io::ParseNumber(text, value) && value >= 0.01 && value <= 1e5;
    };
    const int body = parts.size() == 4 ? control::FindBody(scene, parts[0]) : -1;
    if (body < 0 || !positive(parts[1], force) || !positive(parts[2], interval) || !positive(parts[3], duration) ||
        duration >= interval) {
      throw FieldError(
          "push_every",
          "found \"" + options_.push_every +
              "\", expected BODY,NEWTON,INTERVAL,DURATION, such as trunk,300,10,0.2, each number from 0.01 "
              "to 1e+05, the duration shorter than the interval");
    }
    if (options_.seconds <= 0) throw FieldError("push_every", "found no seconds, expected the length of the motion");
    const double begun = problem_.begins ? controls[0].control.duration() : 0;
    for (uint32_t p = 1; p * interval < options_.seconds; ++p) {
      if (p * interval < begun) continue;
      RandomStream random(options_.configuration.sampling.seed, RandomStage::kPushes, p, 0);
      const double angle = random.Uniform(0, 2 * kPi);
      pushes.push_back({body, Vec3(force * std::cos(angle), 0, force * std::sin(angle)), p * interval, duration});
    }
  }
  for (size_t p = num_begun; p < pushes.size() && num_begun > 0; ++p) {
    if (pushes[p].start >= pushes[num_begun - 1].end()) continue;
    throw UsageError("found a push at " + io::Fixed(pushes[p].start, 2) + " s, expected one after the pushes of " +
                     controls[0].name);
  }
  std::stable_sort(pushes.begin(), pushes.end(),
                   [](const control::Push& a, const control::Push& b) { return a.start < b.start; });
}

}  // namespace

CompositionJob::CompositionJob(const CompositionOptions& o)
    : options(o), problem{o, {}, 0, false, {}, {}, {}, {}, {}, {}, 0} {
  ProblemBuilder(options, problem).Build();
}

std::vector<fs::path> CompositionJob::Files() const {
  std::vector<fs::path> files;
  for (const LibraryControl& control : problem.controls) {
    for (fs::path& file : control.run.Files()) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace retrace::runs
