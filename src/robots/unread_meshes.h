/// Meshes that a robot's file names and that cannot be read, as sentences.
#pragma once

#include <map>
#include <set>
#include <string>

#include "retrace/robots/robot.h"

namespace retrace::robots {

/// Files by why they cannot be read: "is not there".
using UnreadMeshes = std::map<std::string, std::set<std::string>>;

/// A note for each reason: a mesh by its name, several by their number and the first of them.
void SayUnread(const UnreadMeshes& unread, Robot& robot);

}  // namespace retrace::robots
