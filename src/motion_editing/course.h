/// What a motion requires of the ground as a whole, pose by pose. Internal to the repair module.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
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
  Eigen::MatrixX3d momentum;      ///< angular, about the center of mass [kg m^2/s]
  Eigen::MatrixX3d moment;        ///< its rate, which the forces from outside have [N m]
  std::vector<double> lowest;     ///< height of the lowest point of all bodies [m]
  std::vector<bool> on_foot;      ///< whether that is a foot's, with the root high over it
  std::vector<double> slide;      ///< speed over the floor of the slowest point next to it, or next to the lowest [m/s]

  size_t size() const { return states.size(); }
};

Course MeasureCourse(const character::Character& character, const std::vector<character::Pose>& poses,
                     double frame_time);

/// Where the ground can press on a body: how far its points near the floor reach in even directions around it.
struct SupportReach {
  static constexpr size_t kDirections = 8;
  /// Outwards along the floor. @param k below kDirections
  static Vec3 Direction(size_t k);

  bool any = false;                         ///< else nothing is near the floor
  std::array<double, kDirections> reach{};  ///< from the origin [m]
};

/// Supports of each pose, with the body raised by `shift` (poses) [m].
std::vector<SupportReach> MeasureSupport(const character::Character& character, const Course& course,
                                         const std::vector<double>& shift);

/// A clock that has to run faster or slower by more is none that a repair finds.
constexpr double kMostFactor = 4;

/// A foot that stays where it is.
struct Stance {
  int body = 0;
  size_t first = 0, last = 0;  ///< poses
  double height = 0;           ///< mean height of the sole's lowest point [m]
};

/// The feet that stand, or would if the floor were there: that hardly move for some time, with no other body much
/// lower.
std::vector<Stance> FindStances(const character::Character& character, const Course& course);

/// A stretch of poses in which nothing is near the floor.
struct Flight {
  size_t first = 0, last = 0;
  double acceleration = 0;  ///< downwards, by the parabola that fits the height of the center of mass [m/s^2]
  double clearance = 0;     ///< height of the lowest point where it is highest [m]
  double nearest = 0;       ///< and where it is lowest [m]
  bool skims = false;       ///< feet are next to the floor, but move over it as feet do in flight
};

/// The smooth curve upwards that has the wanted heights where there are any, and is small elsewhere (poses) [m].
std::vector<double> LevelCurve(const std::vector<std::optional<double>>& wanted, double frame_time);

/// The shift upwards of the whole body with which standing feet that are beside the floor are on it, and others where
/// they are, and with which the lowest point of a floating body is on the floor (poses) [m]; zeros where all are near
/// the floor.
std::vector<double> LevelStances(const Course& course, const std::vector<Stance>& stances,
                                 const std::vector<Flight>& floats);

/// The stretches in which an upright body is a little over the floor and hardly falls: a floor is missing under feet
/// that do not stand. None without gravity.
std::vector<Flight> FindFloats(const Course& course, const std::vector<Stance>& stances, double gravity);

/// Whether a stance is beside the floor.
bool IsBesideFloor(const Stance& stance);

/// A body that hardly falls with some part near the floor, as in rolls and cartwheels whose hands are some centimeters
/// too high, is held up there: that is no flight. Where all that is next to the floor moves over it too fast to carry
/// the body, it is: poses before and after a jump that are joined without it do so. Not where another flight falls at
/// another rate. @param shift of LevelStances @param gravity above 0 [m/s^2]
std::vector<Flight> FindFlights(const Course& course, const std::vector<Stance>& stances,
                                const std::vector<double>& shift, double gravity);

/// Whether a flight is far from a fall of that acceleration.
bool FallsOtherwise(const Flight& flight, double gravity, double frame_time);
/// Whether a flight that falls otherwise is none that another clock could mend.
bool IsUnsupported(const Flight& flight, double gravity, double frame_time);

}  // namespace retrace::repair
