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
  /// The same, but also a hinge is damped toward the rate of the reference, as equation 10 has it for ball joints.
  /// Equation 8 brakes every motion of a hinge: a swinging knee at 5 rad/s by 140 N m.
  kPaperRelative,
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
  double placement_drift = 0.5;      ///< share of the drift, ahead or behind, that adds to the distance there
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

void Describe(Options& o, io::FieldVisitor& v);

}  // namespace retrace::tracking
