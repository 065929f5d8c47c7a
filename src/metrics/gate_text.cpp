#include "retrace/metrics/gate_text.h"

#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::metrics {

std::string FigureText(const Gate& gate, double figure) {
  if (gate.name == "root_orientation") return io::Fixed(Degrees(figure), 1) + " degrees";
  if (gate.name == "saturation" || gate.name == "motor_speed") return io::Fixed(100 * figure, 0) + " % of the time";
  return io::Fixed(figure, 3) + " m";
}

}  // namespace retrace::metrics
