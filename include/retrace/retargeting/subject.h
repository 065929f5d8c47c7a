/// A character of the size of the person who was recorded.
///
/// Forces are a person's mass times accelerations, and these are in proportion to lengths. A recording that is scaled
/// to a body of another size has other forces.
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/io/describe.h"
#include "retrace/motion/clip.h"
#include "retrace/retargeting/reference_options.h"

namespace retrace::character {

/// The model with the lengths of a recorded skeleton: thighs, shins, the distance of the hips, the trunk from the hips
/// to the shoulders, the distance of the shoulders, upper and lower arms, and the foot up to the ball where the
/// skeleton has toes. All lengths are medians over the frames, left and right
/// are alike, and the trunk is that of the rest pose, in its direction, where the rest pose stands. What a skeleton
/// does not show (height of the ankles, hands, head, thickness of limbs) is in proportion to thighs and shins together.
///
/// Shapes, centers of mass and moments of inertia follow the lengths of their bodies. Shares of mass stay the model's;
/// the mass is in proportion to the square of the height, as a person of that height and of the model's body mass index
/// would have it, and servos follow mass and length, so that the body moves alike.
///
/// A single length that is off the proportions of the model by more than a third (kSubjectProportions), or a foot that
/// is shorter by more than a tenth (kSubjectFeet), is not believed, and is taken in proportion to the legs; and where
/// the height is none of a person (kSubjectHeights), all lengths are scaled so that it is the model's. `notes` receives
/// what was found, and both of these, as sentences.
///
/// @param model thighs, shins and feet as a human has them, pelvis, trunk and arms; else InputError is thrown
/// @param recording in the unit that the options state or that is recognized. Throws InputError where its joints are
/// not
/// @param name stands for the clip in messages
Character MakeSubject(const Character& model, const motion::Clip& recording, const std::string& name,
                      const ReferenceOptions& options, std::vector<std::string>& notes);

/// The name of such a character, also where characters are chosen by name.
inline constexpr const char* kSubjectName = "subject";

/// Lengths as multiples of the model's, over that of the legs, which are believed.
inline constexpr io::Range kSubjectProportions{0.75, 4.0 / 3};
/// The same of feet. Some skeletons have the joint of the toes before the ball, and no body
/// lands from a jump on a sole that ends there.
inline constexpr io::Range kSubjectFeet{0.9, 4.0 / 3};
/// Heights that are believed [m].
inline constexpr io::Range kSubjectHeights{0.8, 2.3};

}  // namespace retrace::character
