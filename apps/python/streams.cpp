// Debian's ODE is compiled for programs: it expects to find stdout and stderr in a table of the program itself, which a
// module that is loaded cannot have. The linker (--wrap) gives the module variables of its own instead.
#include <cstdio>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are the linker's
extern "C" {
extern std::FILE* __real_stdout;
extern std::FILE* __real_stderr;
__attribute__((visibility("hidden"))) std::FILE* __wrap_stdout = nullptr;
__attribute__((visibility("hidden"))) std::FILE* __wrap_stderr = nullptr;
}

namespace {
__attribute__((constructor)) void FindStreams() {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}
}  // namespace
// NOLINTEND(bugprone-reserved-identifier)
