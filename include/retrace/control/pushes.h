/// Pushes in files, and the names of the bodies that they meet.
#pragma once

#include <string>
#include <vector>

#include "retrace/control/control.h"
#include "retrace/io/json.h"

namespace retrace::control {

inline constexpr io::Range kPushForces{-1e6, 1e6};        ///< along each axis [N]
inline constexpr io::Range kPushTimes{0, 1e5};            ///< [s]
inline constexpr io::Range kPushDurations{0, 1e5, true};  ///< [s]
inline constexpr size_t kMostPushes = 1000;

/// What a body of a scene is called: by its own name, in a scene of several characters with the number of its character
/// before it, counted from 1: `2:trunk`. A free body has its own name.
std::string BodyName(const Scene& scene, int body);
/// Names of the characters' bodies, with commas between: a world may have hundreds of others.
std::string NamesOfBodies(const Scene& scene);
/// The body of that name, -1 where there is none. The number may also stand before the bodies of a single character.
int FindBody(const Scene& scene, const std::string& name);

/// As in a manifest or a control file: [{"body": "trunk", "force": [0, 0, 100], "start": 1, "duration": 0.2}], and
/// back. Throws InputError for a body that the scene does not have and for numbers outside their ranges.
io::Json PushesToJson(const Scene& scene, const std::vector<Push>& pushes);
std::vector<Push> ReadPushes(const io::JsonView& view, const Scene& scene);

}  // namespace retrace::control
