#include "retrace/retargeting/reference_options.h"

namespace retrace::character {

io::Json ReferenceOptions::ToJson() const {
  io::JsonWriter writer;
  Describe(*this, writer);
  DescribeClip(*this, writer);
  DescribeRange(*this, writer);
  io::Json json = writer.json();
  json["joint_map"] = joint_map;
  return json;
}

}  // namespace retrace::character
