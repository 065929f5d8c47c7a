/// The other characters in the world of a receiver: any whose own control does not survive the impact is led back to
/// its own motion. Internal to the module.
#pragma once

#include <functional>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"
#include "retrace/planning/segments/segment_search.h"

namespace retrace::runs {

class OtherCharacters {
 public:
  /// What is found becomes the others' controls in `struck`, and stands in `found`. All must outlive the object.
  OtherCharacters(ImpactSimulation& struck, int threads, const ResponseHooks& hooks, std::vector<OtherCharacter>& found)
      : struck_(struck), problem_(struck.problem()), threads_(threads), hooks_(hooks), found_(found) {
    for (size_t c = 0; problem_.has_others() && c < problem_.run.scene.characters.size(); ++c) {
      alone_.push_back(control::ControlOf(problem_.run.scene, c));
    }
  }

  /// Each for itself, from the end of the impact on: by feedback, and where that falls by a search.
  void LeadBack();

  /// By feedback alone. Where one of them does not get to the end of its own motion so, all stay as they were.
  /// @return whether all do
  bool TrackBack();

  /// What the response disturbs leaves its path. It is led back once more in its presence, from the impact
  /// or from the last contact on, where that does not take the response away.
  /// @param whole what is simulated of all characters, with the response
  /// @param receiver the control of the character that responds
  /// @param evaluate simulates all of them again and evaluates each; tells whether the response holds
  void LeadBackAgain(const control::Trajectory& whole, const std::vector<control::Fragment>& receiver,
                     const std::function<bool()>& evaluate);

  /// From the end of the impact on its own motion is blended in, moved to where the impact left it: kinematic.
  void BlendBack();
  /// What is blended in lasts no longer than the motion of the receiver does, or its own [s].
  void EndWith(double duration);

  /// The others, where none had to be led back.
  void ListAll();

 private:
  void LeadBack(OtherCharacter& other);
  bool TrackBack(OtherCharacter& other);
  /// The plan of a recovery.
  struct Course {
    const control::Trajectory& whole;  ///< of all characters, whose state it begins with
    int from = 0;                      ///< step
    /// The control of the receiver, while it is in the world; none: it is not.
    const std::vector<control::Fragment>* receiver = nullptr;
    std::vector<int> restarts = {};  ///< steps at which a replay restarts it besides
  };
  /// What a search found of it before feedback takes over.
  struct Searched {
    std::vector<control::Fragment> fragments;
    std::vector<character::Pose> poses;  ///< that it followed
    character::State end;
  };
  bool TrackBack(const Course& course, double fade, OtherCharacter& other, const Searched* searched = nullptr);
  bool SearchThenTrackBack(const Course& course, OtherCharacter& other);
  bool SearchBack(const Course& course, OtherCharacter& other);
  SegmentProblem ProblemOf(const Course& course, const std::vector<character::Pose>& poses,
                           const character::State& start, int first_step, size_t character) const;
  std::vector<character::Pose> OwnFrom(size_t character, double time, double until) const;
  void Take(const Course& course, const std::vector<character::Pose>& poses, FoundSegment& way, OtherCharacter& other);
  double LastTouch(const control::Trajectory& whole) const;

  ImpactSimulation& struck_;
  const ResponseProblem& problem_;
  int threads_;
  const ResponseHooks& hooks_;
  std::vector<OtherCharacter>& found_;
  std::vector<control::OpenLoopControl> alone_;  // (characters) of each in a world of its own
};

}  // namespace retrace::runs
