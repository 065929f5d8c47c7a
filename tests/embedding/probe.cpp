#include "embedding/probe.h"

#include <memory>

namespace retrace::probe {

double TwiceSineInLibrary(double x) {
  double (*volatile function)(double) = TwiceSineOf;  // not inlined
  return function(x);
}

double ShapeInLibrary(double x) {
  const std::unique_ptr<Shape> shape = std::make_unique<Shape>();
  return shape->At(x);
}

int* CallsInLibrary() {
  return &Calls();
}

}  // namespace retrace::probe
