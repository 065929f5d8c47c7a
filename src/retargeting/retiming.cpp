#include "retrace/retargeting/retiming.h"

#include <algorithm>
#include <cmath>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/smooth_step.h"

namespace retrace::character {
namespace {

constexpr double kShortest = 0.05;  // part [s]
constexpr double kRamp = 0.1;       // half of the time in which the speed changes [s]

/// A step from 0 to 1 about 0, whose rise takes twice `ramp`, and its integral.
double Step(double time, double ramp) {
  if (time <= -ramp) return 0;
  return time >= ramp ? 1 : SmoothStep((time + ramp) / (2 * ramp));
}
double IntegralOfStep(double time, double ramp) {
  if (time <= -ramp) return 0;
  if (time >= ramp) return time;
  const double x = (time + ramp) / (2 * ramp);
  return 2 * ramp * x * x * x * (1 - x / 2);
}

}  // namespace

Retiming ParseRetiming(const std::string& text) {
  Retiming retiming;
  const size_t colon = text.find(':');
  const size_t dash = text.find('-');
  const bool read = colon != std::string::npos && dash != std::string::npos && dash < colon &&
                    io::ParseNumber(text.substr(0, dash), retiming.start) &&
                    io::ParseNumber(text.substr(dash + 1, colon - dash - 1), retiming.end) &&
                    io::ParseNumber(text.substr(colon + 1), retiming.scale);
  if (!read) {
    throw UsageError("found \"" + text +
                     "\", expected START-END:FACTOR, such as 1.2-1.8:1.5, with seconds of the clip");
  }
  if (!kInstants.Contains(retiming.start) || !kInstants.Contains(retiming.end) ||
      retiming.end < retiming.start + kShortest) {
    throw UsageError("found \"" + text + "\", expected an end at least " + io::Number(kShortest) +
                     " s after the start, and both from 0 to " + io::Number(kInstants.max) + " s");
  }
  if (!kTimeScales.Contains(retiming.scale)) {
    throw UsageError("found the factor " + io::Number(retiming.scale) + " in \"" + text + "\", expected a number of " +
                     io::Real{kTimeScales}.Legal());
  }
  return retiming;
}

std::string Format(const Retiming& retiming) {
  return io::Number(retiming.start) + "-" + io::Number(retiming.end) + ":" + io::Number(retiming.scale);
}

PlaybackClock::PlaybackClock(double start, double end, double scale, std::vector<Retiming> retimings,
                             const std::string& name)
    : start_(start), scale_(scale) {
  std::stable_sort(retimings.begin(), retimings.end(),
                   [](const Retiming& a, const Retiming& b) { return a.start < b.start; });
  constexpr double kRounding = 1e-6;
  for (size_t i = 0; i < retimings.size(); ++i) {
    const Retiming& retiming = retimings[i];
    if (retiming.start < start - kRounding || retiming.end > end + kRounding) {
      throw UsageError(name + ": found the retimed part " + Format(retiming) + ", expected one between " +
                       io::Fixed(start, 3) + " and " + io::Fixed(end, 3) + " s, which are used of the clip");
    }
    if (i > 0 && retiming.start < retimings[i - 1].end - kRounding) {
      throw UsageError(name + ": found the retimed parts " + Format(retimings[i - 1]) + " and " + Format(retiming) +
                       ", expected parts that do not overlap");
    }
    const double before = i == 0 ? start : retimings[i - 1].end;
    const double after = i + 1 == retimings.size() ? end : retimings[i + 1].start;
    const double half = (retiming.end - retiming.start) / 2;
    parts_.push_back({retiming, std::clamp(std::min(retiming.start - before, half), 0.0, kRamp),
                      std::clamp(std::min(after - retiming.end, half), 0.0, kRamp)});
  }
}

/// What the retimed parts add to the time from the start of the recording to an instant, at a scale of 1 [s].
double PlaybackClock::Retimed(double recorded) const {
  double added = 0;
  for (const Part& part : parts_) {
    const double inside = IntegralOfStep(recorded - part.retiming.start, part.start_ramp) -
                          IntegralOfStep(recorded - part.retiming.end, part.end_ramp);
    added += (part.retiming.scale - 1) * inside;
  }
  return added;
}

double PlaybackClock::PlayedTime(double recorded) const {
  return scale_ * (recorded - start_ + Retimed(recorded));
}

double PlaybackClock::SlownessAt(double recorded) const {
  double slowness = 1;
  for (const Part& part : parts_) {
    slowness += (part.retiming.scale - 1) * (Step(recorded - part.retiming.start, part.start_ramp) -
                                             Step(recorded - part.retiming.end, part.end_ramp));
  }
  return scale_ * slowness;
}

double PlaybackClock::RecordedTime(double played) const {
  const double even = played / scale_;
  if (parts_.empty()) return start_ + even;
  double least = 1, most = 1;  // slowness
  for (const Part& part : parts_) {
    least = std::min(least, part.retiming.scale);
    most = std::max(most, part.retiming.scale);
  }
  double low = start_ + (even > 0 ? even / most : even / least);
  double high = start_ + (even > 0 ? even / least : even / most);
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (PlayedTime(middle) < played ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace retrace::character
