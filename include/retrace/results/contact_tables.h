/// The inside view of a motion: what the ground does to each body, as forces, centers of pressure and pressure maps
/// (Liu et al. 2010, figure 6). All of it follows from the contact points of a recorded trajectory. Only what presses
/// from outside counts: contacts between two bodies of the character are left out.
///
/// Contact points are discrete, and a rigid body has no pressure: a pressure map is made of them by a rule. A body has
/// six faces, those of the box about its shapes in the body's own frame, named as in the rest pose (left +x, right -x,
/// top +y, bottom -y, front +z, back -z). A contact point belongs to the face that the body turns towards what it rests
/// on: the one whose outward normal points most against the contact's normal, for a foot on the floor its sole. There
/// the point's normal force is spread by a Gaussian of `deviation`, cut off at `reach` and at the edge of the face, and
/// scaled so that the sum over the cells of pressure times area is the normal force to rounding. The magnitude of a
/// pressure therefore depends on `deviation`, which stands for the softness of flesh and sole; comparisons of runs with
/// the same rule do not.
///
/// Times are those of the states, as in contacts.csv: a step's contacts stand at the time of the state that it led to.
/// Positions in a body's frame are taken where the body was when the contact was found, at the start of the step.
/// Frames: world (y up) and body (at the center of mass, axes parallel to the world's in the rest pose).
#pragma once

#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/control/control.h"

namespace retrace::results {

/// Along a side of a face. On bodies of more than 10 m cells are larger than they should be, so that a map of pressure
/// takes little memory whatever the body.
inline constexpr int kMostCells = 500;

struct PressureOptions {
  double cell = 0.02;            ///< longest side of a cell [m]; a face has whole cells, at most kMostCells a side
  double deviation = 0.02;       ///< of the Gaussian by which a contact point's force is spread [m]
  double reach = 0.04;           ///< how far it is spread at most [m]; the nearest cell always gets a share
  double frame_time = 1.0 / 60;  ///< a map has a frame per so many seconds, in whole steps: the mean over them [s]
};

/// What presses on a body, or on the whole character, in one step.
struct ContactLoad {
  int points = 0;                        ///< contact points that carry force
  double normal_force = 0;               ///< sum of the components along the contacts' normals [N]
  Vec3 tangential_force = Vec3::Zero();  ///< sum of what is left, in world axes [N]
  Vec3 center = Vec3::Zero();            ///< center of pressure: mean of the points by normal force [m], world
  Vec3 center_in_body = Vec3::Zero();    ///< the same in the body's frame [m]; of the whole character: zero
  double contact_area = 0;               ///< of the cells under pressure [m^2]
  double peak_pressure = 0;              ///< of the cells [Pa]
  /// [Pa]; 0 without contact.
  double mean_pressure() const { return contact_area > 0 ? normal_force / contact_area : 0; }
};

/// One cell of a pressure map.
struct PressureCell {
  int body = -1;
  int face = -1;               ///< 0 right, 1 left, 2 bottom, 3 top, 4 back, 5 front
  int index = -1;              ///< of the cell on its face
  Vec3 center = Vec3::Zero();  ///< in the body's frame [m]
  double area = 0;             ///< [m^2]
  double pressure = 0;         ///< [Pa]
};
const char* FaceName(int face);

/// Everything that presses on a character over a motion, or over a part of one.
struct ContactHistory {
  double time_step = 0;                          ///< [s]
  size_t first_step = 0;                         ///< steps of the motion before this part; 0: its beginning
  size_t steps_per_frame = 1;                    ///< of a pressure map
  std::vector<std::vector<ContactLoad>> loads;   ///< (steps x bodies)
  std::vector<ContactLoad> totals;               ///< (steps) of the whole character
  std::vector<std::vector<PressureCell>> cells;  ///< (steps) under pressure, sorted by body, face, index
};
/// Steps of a frame of a pressure map.
size_t StepsPerFrame(double time_step, const PressureOptions& options = {});
/// Throws std::invalid_argument for a trajectory without the contacts of every step, and for a part of a motion that
/// does not begin with a frame.
ContactHistory TraceContacts(const character::Character& character, const control::Trajectory& trajectory,
                             const PressureOptions& options = {});

/// The tables below are texts as in tables.h: those of the parts of a motion, one after the other, are that of the
/// whole.
///
/// body_contacts.csv: a row per step and body that something presses on: time [s], body, points, normal_force,
/// tangential_force (its length) [N], center_x .. center_z (center of pressure, world), center_body_x .. center_body_z
/// (the same in the body's frame) [m], contact_area [m^2], mean_pressure, peak_pressure [Pa].
std::string FormatBodyContacts(const character::Character& character, const ContactHistory& history);

/// contact_totals.csv: a row per step, of the whole character: time [s], bodies and points in contact, normal_force,
/// tangential_force (length of the sum), force_per_point [N], contact_area [m^2], mean_pressure, peak_pressure [Pa].
std::string FormatContactTotals(const ContactHistory& history);

/// Pressure maps, pressure.csv: a row per frame and cell under pressure: time [s] of the frame's last step, body, face,
/// x, y, z of the cell's center in the body's frame [m], area [m^2], pressure [Pa], its mean over the frame's steps
/// (the last frame may have fewer). 7 significant digits but for the time.
/// @param bodies of which a map is written; empty: all
std::string FormatPressure(const character::Character& character, const ContactHistory& history,
                           const std::vector<int>& bodies = {});

/// What a body's contacts come to over a motion. Means are over the steps in which something presses on it.
struct ContactSummary {
  int body = -1;             ///< -1: the whole character
  double first_contact = 0;  ///< [s] time of the first and of the last step in contact
  double last_contact = 0;
  double contact_time = 0;  ///< [s]
  double peak_force = 0;    ///< largest normal force [N]
  double peak_time = 0;     ///< when it is [s]
  double impulse = 0;       ///< of the normal force [N s]
  double impulse_time = 0;  ///< its mean time: the center of the normal force over time [s]
  double mean_force = 0;    ///< normal [N]
  double mean_points = 0;
  double force_per_point = 0;  ///< impulse over points and time [N]
  double mean_pressure = 0;    ///< [Pa]
  double peak_pressure = 0;    ///< [Pa]
};

/// Sums up the contacts of a motion, part by part.
class ContactSummarizer {
 public:
  /// The parts of a motion in their order, or all of it.
  void Add(const ContactHistory& part);
  /// Bodies that are ever pressed on, in the character's order, and last the whole character (also when nothing is).
  std::vector<ContactSummary> Summaries() const;

 private:
  /// What is known of a body so far: the means of `summary` are found at the end.
  struct Sums {
    ContactSummary summary;
    int steps = 0;  ///< in contact
    double points = 0;
    double weighted_time = 0;
    double pressure = 0;
    void Add(const ContactLoad& load, double time, double time_step);
    ContactSummary Finish(double time_step) const;
  };
  double time_step_ = 0;
  std::vector<Sums> bodies_;
  Sums total_;
};

/// contact_summary.csv: a row for each; columns as the members of ContactSummary, `all` for the whole character.
std::string FormatContactSummary(const character::Character& character, const std::vector<ContactSummary>& summaries);

}  // namespace retrace::results
