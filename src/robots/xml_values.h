/// Elements of an XML file and the values of their attributes, with the file and line in messages.
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::robots {

/// A file as it was parsed. Throws InputError where it is no XML.
class XmlFile {
 public:
  XmlFile(const std::string& bytes, std::string name);

  const std::string& name() const { return name_; }
  pugi::xml_document& document() { return document_; }

  /// `file:line: <element name="...">`.
  std::string PlaceOf(pugi::xml_node node) const;
  [[noreturn]] void Fail(pugi::xml_node node, const std::string& found, const std::string& expected) const;

  /// The numbers of a text; throws InputError where anything else is in it, or where there are not `least` to `most`.
  /// `node` and `attribute` are for the message.
  std::vector<double> Numbers(pugi::xml_node node, const std::string& attribute, const std::string& text, size_t least,
                              size_t most) const;
  /// The value of an attribute of the element; without it, what is given, or an error.
  double Number(pugi::xml_node node, const char* attribute, std::optional<double> without = std::nullopt) const;
  /// The same of a limit, which may be infinite.
  double Limit(pugi::xml_node node, const char* attribute, double without) const;
  Vec3 Vector(pugi::xml_node node, const char* attribute, std::optional<Vec3> without = std::nullopt) const;
  std::string Text(pugi::xml_node node, const char* attribute) const;

 private:
  std::string name_;
  std::vector<size_t> line_ends_;
  pugi::xml_document document_;
};

}  // namespace retrace::robots
