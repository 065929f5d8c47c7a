/// What a motion requires of the ground as a whole, pose by pose. Internal to the repair module.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/state.h"

namespace retrace::repair {

/// The course of a motion: (poses) each.
struct Course {
  double frame_time = 0;  ///< [s]
  std::vector<character::State> states;
  Eigen::MatrixX3d center;        ///< of mass [m]
  Eigen::MatrixX3d velocity;      ///< of it, by central differences [m/s]
  Eigen::MatrixX3d acceleration;  ///< [m/s^2]
  Eigen::MatrixX3d momentum;      ///< angular, about the centre of mass [kg m^2/s]
  std::vector<double> lowest;     ///< height of the lowest point of all bodies [m]

  size_t size() const { return states.size(); }
};

Course MeasureCourse(const character::Character& character, const std::vector<character::Pose>& poses,
                     double frame_time);

/// A foot that stays where it is.
struct Stance {
  int body = 0;
  size_t first = 0, last = 0;  ///< poses
  double height = 0;           ///< mean height of the sole's lowest point [m]
};

/// The feet that stand, or would if the floor were there: that hardly move for some time, with no other body much
/// lower.
std::vector<Stance> FindStances(const character::Character& character, const Course& course);

/// The shift upwards of the whole body with which standing feet that are beside the floor are on it, and others where
/// they are (poses) [m]; zeros where all are near the floor.
std::vector<double> LevelStances(const Course& course, const std::vector<Stance>& stances);

/// Whether a stance is beside the floor.
bool IsBesideFloor(const Stance& stance);

/// A stretch of poses in which nothing is near the floor.
struct Flight {
  size_t first = 0, last = 0;
  double acceleration = 0;  ///< downwards, by the parabola that fits the height of the centre of mass [m/s^2]
};

/// A body that hardly falls with some part near the floor, as in rolls and cartwheels whose hands are some centimetres
/// too high, is held up there: that is no flight. @param shift of LevelStances @param gravity above 0 [m/s^2]
std::vector<Flight> FindFlights(const Course& course, const std::vector<Stance>& stances,
                                const std::vector<double>& shift, double gravity);

/// Whether a flight is far from a fall of that acceleration.
bool FallsOtherwise(const Flight& flight, double gravity, double frame_time);
/// Whether a flight that falls otherwise is none that another clock could mend.
bool IsUnsupported(const Flight& flight, double gravity, double frame_time);

}  // namespace retrace::repair
