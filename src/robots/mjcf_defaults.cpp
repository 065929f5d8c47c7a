#include "mjcf_defaults.h"

#include <vector>

#include "retrace/io/nearest_words.h"

namespace retrace::robots {

MjcfDefaults::MjcfDefaults(const XmlFile& xml, pugi::xml_node model) : xml_(xml) {
  classes_[main_];
  for (const pugi::xml_node node : model.children("default")) ReadClass(node, classes_[main_], true);
}

void MjcfDefaults::ReadClass(pugi::xml_node node, const Class& parent, bool top) {
  std::string name = node.attribute("class").value();
  if (name.empty() && !top) xml_.Fail(node, "no class", "a name in class=\"...\"");
  if (name.empty()) name = main_;
  if (top) main_ = name;
  Class of = parent;
  for (const auto& [element, attributes] : classes_[name]) {  // several files may add to one class
    for (const auto& [key, value] : attributes) of[element][key] = value;
  }
  for (const pugi::xml_node child : node.children()) {
    if (std::string_view(child.name()) == "default") continue;
    for (const pugi::xml_attribute attribute : child.attributes())
      of[child.name()][attribute.name()] = attribute.value();
  }
  classes_[name] = of;
  for (const pugi::xml_node child : node.children("default")) ReadClass(child, of, false);
}

pugi::xml_node MjcfDefaults::Complete(pugi::xml_node element, const std::string& childclass) {
  std::string name = element.attribute("class").value();
  if (name.empty()) name = childclass.empty() ? main_ : childclass;
  const auto found = classes_.find(name);
  if (found == classes_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, of] : classes_) names.push_back(known);
    const std::string meant = io::DidYouMean(name, names);
    xml_.Fail(element, "class \"" + name + "\"", meant.empty() ? "the name of a class in <default>" : meant);
  }
  const auto add = [&](const std::string& of) {
    const auto attributes = found->second.find(of);
    if (attributes == found->second.end()) return;
    for (const auto& [key, value] : attributes->second) {
      if (!element.attribute(key.c_str())) element.append_attribute(key.c_str()) = value.c_str();
    }
  };
  add(element.name());
  return element;
}

}  // namespace retrace::robots
