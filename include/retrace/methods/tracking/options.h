/// The options of the tracking method.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/io/describe.h"

namespace retrace::tracking {

/// What corrects between two solutions.
enum class Servo {
  kCharacter,  ///< the character's own servos, in the world's step, with the reference's velocity as their goal
  kPaper,      ///< equations 8 to 10 of the paper, torques at the start of a step: needs steps of 0.0001 s
};

/// What the controller of da Silva, Abe and Popovic 2008 ("Simulation of Human Motion Data using Short-Horizon
/// Model-Predictive Control") leaves to be chosen. The defaults are the same for all motions.
struct Options {
  double solve_rate = 120;  ///< quadratic programs per second; in between their torques are held
  double feedback = 300;    ///< k_os of equation 4 [1/s^2]; its damping is 2 sqrt(k_os)
  Servo servo = Servo::kCharacter;
  double stiffness = 0.05;    ///< k: factor on the servos, or on k_s of Table 3 in those of the paper
  double friction = 0.7;      ///< coefficient in the controller's model of contacts
  double torque_limit = 400;  ///< largest planned torque about each axis of a joint [N m]

  /// The controller's contacts follow the law of the simulation's step, not equation 7e: for soles that give way
  /// (/simulation/contact_stiffness). The feet of the reference are then pressed into the ground by what they carry
  /// (task::SeatFeet).
  bool soft_contacts = false;
  /// Whether these feet are pressed in without that law, too: soles land and lift off with their load.
  bool seat_feet = false;
  /// Weight of the squared difference of the forces under the feet from what the reference requires, as accelerations
  /// of the whole character. 0: no guidance by forces, nor by the positions of the feet; equation 11 instead.
  double guidance = 0;
  double guidance_feedback = 60;  ///< on the position of the center of mass in these forces [1/s^2]
  double foot_weight = 30;        ///< of the accelerations of the feet where forces guide
  double foot_feedback = 900;     ///< on their positions [1/s^2]
  /// Where forces guide, a swinging foot is put farther by this share of what the capture point is too far.
  double foot_step = 1.5;

  /// Share of its weight in height and tilt that the goal of a foot keeps while the foot stands: these are what it
  /// takes to press the soles so that the forces become those that are wanted.
  double standing_share = 0.1;
  double leg_weight = 0.1;  ///< of the joints of a leg where forces guide: its foot determines them

  /// Number of random variations of the controller that are tried in each fragment (0.1 s). Those that come nearest to
  /// the reference and to the ground forces that it requires are continued. 0: the controller as it is.
  int candidates = 0;
  /// Times that such a search goes over the motion: from the second on most candidates are near to what was best
  /// before.
  int passes = 1;

  double root_rotation_weight = 100;    ///< of its accelerations in the objective 7a; joints have 1
  double root_translation_weight = 10;  ///< the same
  double contact_weight = 1e4;          ///< of the square by which a contact point misses equation 7e
  double contact_damping = 20;          ///< share of a contact point's velocity that is to go away, per second [1/s]
  double regularization = 1e-6;         ///< weight of squared contact forces [1/N^2]
  /// A contact point that the reference has higher than this over the ground is about to leave: no force is planned for
  /// it, and with all of them a flight begins [m].
  double lifted = 0.01;
  /// A point for which less force than this is planned while it is faster than that in the reference is leaving the
  /// ground: the program is solved again without it, since equation 7e would hold it down [N], [m/s]. 0 N: never.
  double released_force = 20;
  double released_speed = 0.3;
  double stance_feedback = 100;  ///< on the distance of the center of mass from the standing feet [1/s^2]

  /// Before a flight, of the accelerations of the center of mass and of the angular momentum, which nothing can change
  /// in the air; 0: a flight is not foreseen.
  double take_off_weight = 1000;
  double take_off_feedback = 25;  ///< on these momenta [1/s]

  double placement_distance = 0.8;   ///< c_d of equation 11 [rad/m]
  double placement_velocity = 0.25;  ///< c_v of equation 11 [rad s/m]
  double placement_limit = 0.6;      ///< largest turn of a hip by equation 11, about each axis [rad]
  double placement_gap = 0.09;       ///< sideways, from a standing foot that is passed, as a share of the height
  double placement_rise = 0.04;      ///< time constant with which a swinging leg takes it on [s]
  double placement_decay = 0.3;      ///< and with which a standing leg gives it up [s]

  bool clean_feet = true;  ///< put the reference's feet on the floor (task::CleanFeet)
  /// Move the root so that flights obey gravity (task::MakeFlightBallistic).
  bool ballistic_flight = true;
  bool balance = true;      ///< move the root so that the feet can carry it (task::BalanceMotion)
  double smoothing = 0.02;  ///< standard deviation of a Gaussian filter over the reference [s]
  double perturbation = 0;  ///< standard deviation of random velocities added at the start [m/s, and rad/s per joint]
  uint64_t seed = 1;        ///< of these

  /// What is wrong with the options, as a sentence, or nothing. Any options for which there is nothing wrong can be
  /// run.
  std::optional<std::string> Validate() const;
};

template <io::DescribedAs<Options> AnyOptions, typename Visitor>
void Describe(AnyOptions& o, Visitor& v) {
  v.Section({"tracking", "The tracking controller (da Silva, Abe and Popovic 2008)"}, [&](auto& section) {
    section.Field({"solve_rate", "Quadratic programs per second; between two the torques are held", "1/s"},
                  o.solve_rate, io::Real{{1, 1e5}});
    section.Field({"feedback", "k_os, feedback on accelerations (equation 4)", "1/s^2"}, o.feedback,
                  io::Real{{0, 1e6}});
    section.Field({"servo",
                   "What corrects between two solutions: the character's own servos, or equations 8 to 10, which need "
                   "steps of 0.0001 s"},
                  o.servo, io::Words<Servo>{{{Servo::kCharacter, "character"}, {Servo::kPaper, "paper"}}});
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

}  // namespace retrace::tracking
