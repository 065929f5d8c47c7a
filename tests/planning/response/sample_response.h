/// A walk under impacts, and libraries of motions for the response.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobs/sample_runs.h"
#include "retrace/character/skeleton.h"
#include "retrace/io/file.h"
#include "retrace/jobs/response_job.h"
#include "retrace/jobs/strike.h"
#include "retrace/recordings/bvh.h"
#include "task/synthetic_motion.h"

namespace retrace::runs {

/// Made once in a process.
class ResponseSamples {
 public:
  static const ResponseSamples& Get() {
    static const ResponseSamples samples;
    return samples;
  }

  /// A push after which the walk leaves its tolerances, and few samples.
  ResponseOptions Pushed(const std::string& push = "trunk,0:0:-250,0.6,0.1") const {
    ResponseOptions options;
    options.run = folder_ / "walk";
    options.library = folder_ / "library";
    options.push = push;
    options.seconds = 1;
    options.stand = 0.3;
    options.configuration.sampling.samples = 20;
    options.configuration.sampling.selection.saved = 5;
    options.configuration.sampling.max_back_offs = 0;
    options.configuration.sampling.refinement.passes = 0;
    return options;
  }

  /// The same with a library of a single motion, which gets up.
  ResponseOptions Felled() const {
    ResponseOptions options = Pushed("trunk,0:0:450,0.6,0.1");
    options.library = folder_ / "get_ups";
    return options;
  }

  /// A walking character runs into a standing one.
  ResponseOptions Struck() const {
    ResponseOptions options = Pushed("");
    options.run = folder_ / "strike";
    return options;
  }

  /// A thrown ball of 6 kg.
  ResponseOptions Thrown(const std::string& position = "[0, 1, 4.4]") const {
    ResponseOptions options = Pushed("");
    const std::string file = folder_ / "ball.json";
    io::WriteFile(file,
                  R"({"format": "retrace-world", "version": 1, "description": "a ball", "environment": {"bodies": [)"
                  R"({"name": "ball", "sphere": 0.12, "mass": 6, "position": )" +
                      position + R"(, "linear_velocity": [0, 2.7, -6]}]}})");
    options.worlds = {file};
    return options;
  }

 private:
  ResponseSamples() {
    WriteTrackedRun(folder_ / "walk", TrackedOptions("walk", 2.4));
    MakeLibraryOf({SampleClip("stand"), SampleClip("walk")}, "library");
    const motion::Clip get_up = character::ClipOf(task::Human(), task::Sampled(task::GettingUp, 4, 1.0 / 60), 1.0 / 60);
    io::WriteFile(folder_ / "get_up.bvh", motion::FormatBvh(get_up));
    MakeLibraryOf({folder_ / "get_up.bvh"}, "get_ups");
    StrikeOptions options;
    options.receiver.file = SampleClip("stand");
    options.attacker.file = SampleClip("walk");
    options.stance.ahead = 1.6;
    options.seconds = 0.6;
    const StrikeJob job(options);
    results::RunFolder folder(folder_ / "strike", false);
    WriteStrike(folder, job, SimulateStrike(job), {});
  }

  void MakeLibraryOf(const std::vector<std::filesystem::path>& clips, const std::string& name) const {
    MotionLibraryOptions options;
    for (const std::filesystem::path& clip : clips) {
      LibrarySource source{clip.stem().string(), clip.string(), {}};
      source.clip.file = clip;
      options.sources.push_back(source);
    }
    options.output = folder_ / name;
    BuildMotionLibrary(options);
  }

  SampleFolder folder_;
};

}  // namespace retrace::runs
