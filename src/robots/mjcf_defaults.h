/// The default values of an MJCF file: classes of them, which inherit from one another.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>

#include "xml_values.h"

namespace retrace::robots {

class MjcfDefaults {
 public:
  /// Reads all <default> elements below the root of the model.
  MjcfDefaults(const XmlFile& xml, pugi::xml_node model);

  /// The element with what its class adds to its own attributes. @param childclass that of the bodies around it; empty:
  /// none
  pugi::xml_node Complete(pugi::xml_node element, const std::string& childclass);

 private:
  using Attributes = std::map<std::string, std::string>;
  using Class = std::map<std::string, Attributes>;  // by the name of the element

  void ReadClass(pugi::xml_node node, const Class& parent, bool top);

  const XmlFile& xml_;
  std::map<std::string, Class> classes_;
  std::string main_ = "main";
};

}  // namespace retrace::robots
