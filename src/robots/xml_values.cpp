#include "xml_values.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "retrace/io/error.h"
#include "retrace/io/number.h"

namespace retrace::robots {

XmlFile::XmlFile(const std::string& bytes, std::string name) : name_(std::move(name)) {
  for (size_t at = bytes.find('\n'); at != std::string::npos; at = bytes.find('\n', at + 1)) line_ends_.push_back(at);
  const pugi::xml_parse_result result = document_.load_buffer(bytes.data(), bytes.size());
  if (!result) {
    const auto line = std::lower_bound(line_ends_.begin(), line_ends_.end(), static_cast<size_t>(result.offset));
    throw InputError(name_ + ":" + std::to_string(line - line_ends_.begin() + 1), result.description(),
                     "an XML file of a robot");
  }
}

std::string XmlFile::PlaceOf(pugi::xml_node node) const {
  std::string place = name_;
  if (const ptrdiff_t offset = node.offset_debug(); offset >= 0) {
    const auto line = std::lower_bound(line_ends_.begin(), line_ends_.end(), static_cast<size_t>(offset));
    place += ":" + std::to_string(line - line_ends_.begin() + 1);
  }
  place += std::string(": <") + node.name();
  if (const pugi::xml_attribute name = node.attribute("name")) place += std::string(" name=\"") + name.value() + "\"";
  return place + ">";
}

void XmlFile::Fail(pugi::xml_node node, const std::string& found, const std::string& expected) const {
  throw InputError(PlaceOf(node), found, expected);
}

std::vector<double> XmlFile::Numbers(pugi::xml_node node, const std::string& attribute, const std::string& text,
                                     size_t least, size_t most) const {
  const std::string expected =
      attribute + " of " +
      (least == most ? std::to_string(least) : std::to_string(least) + " to " + std::to_string(most)) +
      (most == 1 ? " number" : " numbers");
  constexpr std::string_view kBlanks = " \t\r\n";
  if (text.find("${") != std::string::npos || text.find("$(") != std::string::npos) {
    Fail(node, attribute + "=\"" + text.substr(0, 100) + "\", an expression of xacro",
         "the file that `xacro FILE -o ROBOT.urdf` makes of it");
  }
  std::vector<double> numbers;
  for (size_t begin = text.find_first_not_of(kBlanks); begin < text.size();) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    double number = 0;
    if (!io::ParseNumber(std::string_view(text).substr(begin, end - begin), number) || !std::isfinite(number) ||
        numbers.size() == most) {
      Fail(node, attribute + "=\"" + text.substr(0, 100) + "\"", expected);
    }
    numbers.push_back(number);
    begin = text.find_first_not_of(kBlanks, end);
  }
  if (numbers.size() < least) Fail(node, attribute + "=\"" + text + "\"", expected);
  return numbers;
}

double XmlFile::Number(pugi::xml_node node, const char* attribute, std::optional<double> without) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found && without) return *without;
  if (!found) Fail(node, std::string("no ") + attribute, std::string(attribute) + " of 1 number");
  return Numbers(node, attribute, found.value(), 1, 1)[0];
}

double XmlFile::Limit(pugi::xml_node node, const char* attribute, double without) const {
  std::string text = node.attribute(attribute).value();
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* const infinite : {"inf", "+inf", ".inf", "infinity"}) {
    if (text == infinite) return std::numeric_limits<double>::infinity();
  }
  for (const char* const infinite : {"-inf", "-.inf", "-infinity"}) {
    if (text == infinite) return -std::numeric_limits<double>::infinity();
  }
  return Number(node, attribute, without);
}

Vec3 XmlFile::Vector(pugi::xml_node node, const char* attribute, std::optional<Vec3> without) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found && without) return *without;
  if (!found) Fail(node, std::string("no ") + attribute, std::string(attribute) + " of 3 numbers");
  const std::vector<double> numbers = Numbers(node, attribute, found.value(), 3, 3);
  return {numbers[0], numbers[1], numbers[2]};
}

std::string XmlFile::Text(pugi::xml_node node, const char* attribute) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found || *found.value() == '\0') Fail(node, std::string("no ") + attribute, std::string("a ") + attribute);
  return found.value();
}

}  // namespace retrace::robots
