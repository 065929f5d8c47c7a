/// The numbers of the files of feedback, little-endian.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "retrace/dynamics/tangent.h"
#include "retrace/io/error.h"

namespace retrace::control {

static_assert(std::endian::native == std::endian::little, "the numbers are little-endian");

template <typename T>
inline void Append(std::string& bytes, const T* values, size_t count) {
  bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

inline void AppendQuaternion(std::string& bytes, const Quat& q) {
  const double numbers[] = {q.w(), q.x(), q.y(), q.z()};
  Append(bytes, numbers, 4);
}

inline void AppendPoint(std::string& bytes, const dynamics::MotionPoint& point) {
  Append(bytes, point.pose.root_position.data(), 3);
  AppendQuaternion(bytes, point.pose.root_orientation);
  for (const Quat& rotation : point.pose.joint_rotations) AppendQuaternion(bytes, rotation);
  Append(bytes, point.velocity.data(), static_cast<size_t>(point.velocity.size()));
}

/// Takes numbers off the front. The length of the bytes was compared with the sizes before.
class Numbers {
 public:
  Numbers(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  template <typename T>
  void Take(T* values, size_t count) {
    std::memcpy(values, bytes_.data(), count * sizeof(T));
    bytes_ = bytes_.substr(count * sizeof(T));
    for (size_t i = 0; i < count; ++i) {
      if (!std::isfinite(values[i])) throw InputError(name_, "a number that is none", "finite numbers");
    }
  }
  void Take(Quat& q) {
    double numbers[4];
    Take(numbers, 4);
    q = Quat(numbers[0], numbers[1], numbers[2], numbers[3]);
    if (std::abs(q.norm() - 1) > 1e-6) throw InputError(name_, "a rotation that is none", "unit quaternions");
  }
  void Take(dynamics::MotionPoint& point, size_t joints, size_t coordinates) {
    Take(point.pose.root_position.data(), 3);
    Take(point.pose.root_orientation);
    point.pose.joint_rotations.resize(joints);
    for (Quat& rotation : point.pose.joint_rotations) Take(rotation);
    point.velocity.resize(static_cast<Eigen::Index>(coordinates));
    Take(point.velocity.data(), coordinates);
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
};

}  // namespace retrace::control
