#include "retrace/methods/tracking/options.h"

namespace retrace::tracking {

void Describe(Options& o, io::FieldVisitor& v) {
  v.Section({"tracking", "The tracking controller (da Silva, Abe and Popovic 2008)"}, [&](io::FieldVisitor& section) {
    section.Field({"solve_rate", "Quadratic programs per second; between two the torques are held", "1/s"},
                  o.solve_rate, io::Real{{1, 1e5}});
    section.Field({"feedback", "k_os, feedback on accelerations (equation 4)", "1/s^2"}, o.feedback,
                  io::Real{{0, 1e6}});
    section.Field(
        {"servo",
         "What corrects between two solutions: the character's own servos, or equations 8 to 10 (paper), which "
         "need steps of 0.0001 s; paper_relative: equation 8 with the rate of the reference, like equation 10"},
        o.servo,
        io::Words<Servo>{
            {{Servo::kCharacter, "character"}, {Servo::kPaper, "paper"}, {Servo::kPaperRelative, "paper_relative"}}});
    section.Field(
        {"stiffness", "k, factor on the servos, or on the stiffness of Table 3 in those of the paper; 0: none"},
        o.stiffness, io::Real{{0, 100}});
    section.Field({"friction", "Coefficient of friction in the controller's model"}, o.friction, io::Real{{0.01, 100}});
    section.Field({"torque_limit", "Largest planned torque about each axis of a joint", "N m"}, o.torque_limit,
                  io::Real{{1, 1e5}});
    section.Field({"soft_contacts",
                   "Whether the controller's contacts follow the law of the simulation's step, for soft soles, and not "
                   "equation 7e"},
                  o.soft_contacts, io::Flag{});
    section.Field({"seat_feet",
                   "Whether the reference's feet are pressed into the ground by what they carry, for soft soles; with "
                   "soft_contacts they always are"},
                  o.seat_feet, io::Flag{});
    section.Field({"guidance",
                   "Weight of the squared difference of the forces under the feet from what the reference requires, as "
                   "accelerations; 0: forces do not guide, and feet are placed by equation 11"},
                  o.guidance, io::Real{{0, 1e6}});
    section.Field({"guidance_feedback", "Feedback on the place of the center of mass in these forces", "1/s^2"},
                  o.guidance_feedback, io::Real{{0, 1e6}});
    section.Field({"foot_weight", "Weight of the accelerations of the feet where forces guide"}, o.foot_weight,
                  io::Real{{0, 1e6}});
    section.Field({"foot_feedback", "Feedback on the places of the feet where forces guide", "1/s^2"}, o.foot_feedback,
                  io::Real{{0, 1e6}});
    section.Field({"foot_step",
                   "Share of what the capture point is too far by which a swinging foot is put farther where forces "
                   "guide"},
                  o.foot_step, io::Real{{0, 10}});
    section.Field({"standing_share",
                   "Share of its weight that the goal of a foot keeps in height and tilt while it stands, where forces "
                   "guide"},
                  o.standing_share, io::Real{{1e-6, 1}});
    section.Field({"leg_weight", "Weight of the accelerations of the joints of a leg where forces guide"}, o.leg_weight,
                  io::Real{{1e-6, 100}});
    section.Field({"candidates",
                   "Random variations of the controller that are tried in each fragment of 0.1 s, of which those go on "
                   "that come nearest to the reference and the ground forces it requires; 0: no search"},
                  o.candidates, io::Integer{0, 100000});
    section.Field(
        {"passes",
         "Times that a search among candidates goes over the motion, from the second on near to the best that "
         "was found"},
        o.passes, io::Integer{1, 1000});
    section.Field({"root_rotation_weight", "Weight of the root's angular acceleration; joints have 1"},
                  o.root_rotation_weight, io::Real{{1e-3, 1e6}});
    section.Field({"root_translation_weight", "Weight of the root's linear acceleration; joints have 1"},
                  o.root_translation_weight, io::Real{{1e-3, 1e6}});
    section.Field({"contact_weight", "Weight of what contact points miss of standing still (equation 7e)"},
                  o.contact_weight, io::Real{{1, 1e8}});
    section.Field({"contact_damping", "Rate at which the velocity of a contact point is to go away", "1/s"},
                  o.contact_damping, io::Real{{0, 1000}});
    section.Field({"regularization", "Weight of squared contact forces", "1/N^2", {"regularisation"}}, o.regularization,
                  io::Real{{1e-9, 1}});
    section.Field({"lifted", "Height in the reference over which a contact point is about to leave the ground", "m"},
                  o.lifted, io::Real{{0, 10}});
    section.Field({"released_force",
                   "Force under which a contact point that moves in the reference is let go, and a second program "
                   "solved; 0: never",
                   "N"},
                  o.released_force, io::Real{{0, 1e4}});
    section.Field({"released_speed", "Speed in the reference from which on a contact point may be let go", "m/s"},
                  o.released_speed, io::Real{{0, 100}});
    section.Field({"stance_feedback", "Feedback on the distance of the center of mass from the standing feet", "1/s^2"},
                  o.stance_feedback, io::Real{{0, 1e6}});
    section.Field({"take_off_weight",
                   "Weight of the accelerations of the center of mass and of the angular momentum before a flight, in "
                   "which nothing can change them; 0: a flight is not foreseen"},
                  o.take_off_weight, io::Real{{0, 1e6}});
    section.Field({"take_off_feedback", "Feedback on these momenta", "1/s"}, o.take_off_feedback, io::Real{{0, 1000}});
    section.Field({"placement_distance",
                   "c_d, turn of a swinging hip per distance of the body from the stance foot "
                   "(equation 11)",
                   "rad/m"},
                  o.placement_distance, io::Real{{0, 100}});
    section.Field(
        {"placement_velocity", "c_v, turn of a swinging hip per velocity of the body (equation 11)", "rad s/m"},
        o.placement_velocity, io::Real{{0, 100}});
    section.Field(
        {"placement_drift",
         "Share of what the body is behind the reference in the world, or ahead of it, that adds to the distance "
         "there; at most 0.05 m, and none while the body catches itself"},
        o.placement_drift, io::Real{{0, 10}});
    section.Field({"placement_limit", "Largest such turn about each axis", "rad"}, o.placement_limit, io::Real{{0, 2}});
    section.Field({"placement_gap",
                   "Distance sideways to which equation 11 brings a leg in passing the standing one, as a share of the "
                   "character's height; less where the reference has less"},
                  o.placement_gap, io::Real{{0, 1}});
    section.Field({"placement_rise", "Time constant with which a swinging leg takes such a turn on", "s"},
                  o.placement_rise, io::Real{{0, 10}});
    section.Field({"placement_decay", "Time constant with which a standing leg gives it up", "s"}, o.placement_decay,
                  io::Real{{0, 10}});
    section.Field({"clean_feet", "Whether the reference's feet are put on the floor"}, o.clean_feet, io::Flag{});
    section.Field({"ballistic_flight", "Whether the root is moved so that flights obey gravity"}, o.ballistic_flight,
                  io::Flag{});
    section.Field({"balance", "Whether the root is moved so that the feet can carry the motion"}, o.balance,
                  io::Flag{});
    section.Field({"smoothing", "Standard deviation of a Gaussian filter over the reference that is tracked", "s"},
                  o.smoothing, io::Real{{0, 1}});
    section.Field({"perturbation",
                   "Standard deviation of random velocities that are added at the start, in m/s for the root and rad/s "
                   "for joints"},
                  o.perturbation, io::Real{{0, 10}});
    section.Field({"seed", "Seed of these"}, o.seed, io::Natural{});
  });
}

std::optional<std::string> Options::Validate() const {
  return io::FindProblem(*this);
}

}  // namespace retrace::tracking
