#include "retrace/exports/formats.h"

#include <algorithm>
#include <array>
#include <utility>

#include "retrace/exports/bvh.h"
#include "retrace/exports/csv.h"
#include "retrace/exports/glb.h"
#include "retrace/exports/mujoco_model.h"
#include "retrace/exports/npz.h"
#include "retrace/exports/robot_joints.h"
#include "retrace/exports/sto.h"
#include "retrace/exports/trc.h"
#include "retrace/io/error.h"
#include "retrace/results/run_folder.h"

namespace retrace::exports {
namespace {

constexpr std::array<const char*, 8> kNames = {"glb", "bvh", "csv", "npz", "sto", "trc", "joints", "mujoco"};

/// Files of a single character.
std::vector<std::string> FilesOfOne(ExportFormat format) {
  switch (format) {
    case ExportFormat::kGlb:
      return {"motion.glb"};
    case ExportFormat::kBvh:
      return {"motion.bvh"};
    case ExportFormat::kCsv:
      return {"bodies.csv", "joints.csv"};
    case ExportFormat::kNpz:
      return {"motion.npz"};
    case ExportFormat::kSto:
      return {"coordinates.sto", "ground_forces.sto", "external_loads.xml"};
    case ExportFormat::kTrc:
      return {"markers.trc"};
    case ExportFormat::kJoints:
      return {"joint_motion.csv"};
    case ExportFormat::kMujoco:
      return {"mujoco_model.xml", "mujoco_motion.csv"};
  }
  return {};
}

/// Contents of these.
std::vector<std::string> FormatOne(ExportFormat format, const ExportedMotion& motion, double rate) {
  switch (format) {
    case ExportFormat::kGlb:
      return {FormatGlb(motion, rate)};
    case ExportFormat::kBvh:
      return {FormatMotionBvh(motion.character, motion.trajectory, rate)};
    case ExportFormat::kCsv:
      return {FormatBodiesTable(motion, rate), FormatJointsTable(motion, rate)};
    case ExportFormat::kNpz:
      return {FormatNpz(motion)};
    case ExportFormat::kSto:
      return {FormatCoordinates(motion), FormatGroundForces(motion), FormatExternalLoads(motion)};
    case ExportFormat::kTrc:
      return {FormatTrc(motion, rate)};
    case ExportFormat::kJoints:
      return {FormatJointMotion(motion, rate)};
    case ExportFormat::kMujoco:
      return {FormatMujocoModel(motion), FormatJointMotion(motion, rate)};
  }
  return {};
}

}  // namespace

std::vector<ExportFormat> ParseFormats(const std::vector<std::string>& names) {
  std::array<bool, kNames.size()> wanted = {};
  for (const std::string& list : names) {
    for (size_t from = 0; from <= list.size();) {
      const size_t comma = std::min(list.find(',', from), list.size());
      const std::string name = list.substr(from, comma - from);
      from = comma + 1;
      const auto known = std::find(kNames.begin(), kNames.end(), name);
      if (known != kNames.end()) {
        wanted[static_cast<size_t>(known - kNames.begin())] = true;
      } else if (name == "all") {
        wanted.fill(true);
      } else {
        throw UsageError(
            "the formats \"" + list + "\": found \"" + name +
            "\", expected glb, bvh, csv, npz, sto, trc, joints, mujoco, several of them with commas between, or all");
      }
    }
  }
  std::vector<ExportFormat> formats;
  for (size_t f = 0; f < wanted.size(); ++f) {
    if (wanted[f]) formats.push_back(static_cast<ExportFormat>(f));
  }
  return formats;
}

std::vector<std::string> FilesOf(ExportFormat format, size_t num_characters) {
  if (format == ExportFormat::kGlb) return FilesOfOne(format);
  std::vector<std::string> names;
  for (size_t c = 0; c < num_characters; ++c) {
    for (const std::string& name : FilesOfOne(format)) {
      names.push_back(results::CharacterPrefix(c, num_characters) + name);
    }
  }
  return names;
}

double DefaultRate(ExportFormat format) {
  if (format == ExportFormat::kMujoco) return 240;  // torques of every step
  return format == ExportFormat::kGlb ? 60 : exports::kBvhRate;
}

bool HasRate(ExportFormat format) {
  return format != ExportFormat::kNpz && format != ExportFormat::kSto;
}

std::vector<std::string> Format(ExportFormat format, std::span<const ExportedMotion> motions, double rate,
                                std::span<const skin::BodySkin> skins) {
  if (format == ExportFormat::kGlb) return {FormatGlb(motions, rate, skins)};
  std::vector<std::string> files;
  for (const ExportedMotion& motion : motions) {
    for (std::string& file : FormatOne(format, motion, rate)) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace retrace::exports
