#include "unread_meshes.h"

namespace retrace::robots {

void SayUnread(const UnreadMeshes& unread, Robot& robot) {
  for (const auto& [why, files] : unread) {
    const std::string first = "the mesh " + *files.begin() + " " + why;
    if (files.size() == 1) {
      robot.notes.push_back("T" + first.substr(1) + ".");
    } else {
      robot.notes.push_back(std::to_string(files.size()) + " meshes are left out: " + first + ", for one.");
    }
  }
}

}  // namespace retrace::robots
