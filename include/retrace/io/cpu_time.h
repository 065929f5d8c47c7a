/// Time that a thread has used of a processor.
#pragma once

#include <ctime>

namespace retrace::io {

/// CPU time of the calling thread since it began [s].
inline double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace retrace::io
