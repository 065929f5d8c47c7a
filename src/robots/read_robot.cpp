#include "retrace/robots/read_robot.h"

#include "mjcf.h"
#include "retrace/io/error.h"
#include "urdf.h"
#include "xml_values.h"

namespace retrace::robots {

bool LooksLikeXml(const std::string& bytes) {
  size_t first = bytes.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  first = bytes.find_first_not_of(" \t\r\n", first);
  return first != std::string::npos && bytes[first] == '<';
}

Robot ReadRobot(const std::string& bytes, const std::filesystem::path& path) {
  XmlFile xml(bytes, path.string());
  const pugi::xml_node top = xml.document().document_element();
  const std::string_view name = top.name();
  Robot robot;
  if (name == "robot") {
    robot = ReadUrdf(xml, path);
  } else if (name == "mujoco") {
    robot = ReadMjcf(xml, path);
  } else if (name == "sdf") {
    xml.Fail(top, "a model of Gazebo (SDF)", "URDF or MJCF: `gz sdf` and `sdformat_urdf` convert it");
  } else {
    xml.Fail(top, "no robot", "<robot> of a URDF or <mujoco> of an MJCF file");
  }
  if (robot.name.empty()) robot.name = path.stem().string();
  return robot;
}

}  // namespace retrace::robots
