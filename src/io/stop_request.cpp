#include "retrace/io/stop_request.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/number.h"

namespace retrace::io {
namespace {

constexpr double kLongest = 1000 * 86400.0;  // time limit [s]

volatile std::sig_atomic_t stop_signal = 0;

extern "C" void NoteSignal(int signal) {
  if (signal == SIGINT && stop_signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  stop_signal = signal;
}

}  // namespace

void HandleStopSignals() {
  struct sigaction action {};
  action.sa_handler = NoteSignal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaction(signal, &action, nullptr);
}

double ParseDuration(const std::string& text) {
  const auto refuse = [&] {
    return UsageError("the duration \"" + text +
                      "\": expected seconds, or [days-][hours:]minutes:seconds, above 0 and at most 1000 days");
  };
  const auto number = [&](const std::string& part) {
    if (part.empty() || part.find_first_not_of("0123456789.") != std::string::npos) throw refuse();
    char* end = nullptr;
    const double value = std::strtod(part.c_str(), &end);
    if (end != part.c_str() + part.size()) throw refuse();
    return value;
  };
  std::string rest = text;
  double days = 0;
  if (const size_t dash = rest.find('-'); dash != std::string::npos) {
    days = number(rest.substr(0, dash));
    rest = rest.substr(dash + 1);
  }
  std::vector<double> parts;
  for (size_t begin = 0;;) {
    const size_t colon = rest.find(':', begin);
    parts.push_back(number(rest.substr(begin, colon == std::string::npos ? colon : colon - begin)));
    if (colon == std::string::npos) break;
    begin = colon + 1;
  }
  if (parts.size() > 3) throw refuse();
  double seconds = 0;
  for (const double part : parts) seconds = 60 * seconds + part;
  seconds += 86400 * days;
  if (!(seconds > 0 && seconds <= kLongest)) throw refuse();
  return seconds;
}

bool StopRequest::operator()() {
  const Clock::time_point now = Clock::now();
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  if (stop_signal != 0) {
    reason_ = std::string("signal ").append(::strsignal(stop_signal));
  } else if (limit_ > 0 && seconds(now - start_) + seconds(now - last_) > limit_) {
    reason_ = "the time limit of " + io::Fixed(limit_, 0);
    reason_ += " s";
  }
  last_ = now;
  return !reason_.empty();
}

}  // namespace retrace::io
