/// The other characters in the world of a receiver: one whose own control does not survive the impact is led back to
/// its own motion. Internal to the module.
#pragma once

#include <functional>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/planning/response/impact_simulation.h"
#include "retrace/planning/response/response_problem.h"

namespace retrace::runs {

class OtherCharacters {
 public:
  /// What is found becomes the others' controls in `struck`, and stands in `found`. All must outlive the object.
  OtherCharacters(ImpactSimulation& struck, int threads, const ResponseHooks& hooks, std::vector<OtherCharacter>& found)
      : struck_(struck), problem_(struck.problem()), threads_(threads), hooks_(hooks), found_(found) {}

  /// Each for itself, by a search, from the end of the impact on.
  void LeadBack();

  /// Others that are touched again leave their path. From the last contact on they are led back once more, where that
  /// does not take the response away.
  /// @param whole what is simulated of all characters, with the response
  /// @param evaluate simulates all of them again and evaluates each; tells whether the response holds
  void LeadBackAgain(const control::Trajectory& whole, const std::function<bool()>& evaluate);

  /// The others, where none had to be led back.
  void ListAll();

 private:
  void LeadBack(OtherCharacter& other);
  void LeadBackFrom(const control::Trajectory& whole, int from, OtherCharacter& other);
  double LastTouch(const control::Trajectory& whole) const;

  ImpactSimulation& struck_;
  const ResponseProblem& problem_;
  int threads_;
  const ResponseHooks& hooks_;
  std::vector<OtherCharacter>& found_;
};

}  // namespace retrace::runs
