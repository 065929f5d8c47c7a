#include "retrace/results/provenance.h"

#include <gnu/libc-version.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "retrace/math/elementary.h"
#include "revision.h"

namespace retrace::results {
namespace {

double ProcessCpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::string Compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

std::string Triple(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// Processor as the system names it, or empty.
std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

/// Rounded for people; a clock is not worth 17 digits.
double Milliseconds(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

}  // namespace

std::string Version() {
  const std::string revision = RETRACE_REVISION;
  return std::string(RETRACE_VERSION) + (revision.empty() ? "" : " (" + revision + ")");
}

RunTimer::RunTimer() : wall_start_(std::chrono::steady_clock::now()), cpu_start_(ProcessCpuSeconds()) {}

double RunTimer::WallSeconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start_).count();
}

double RunTimer::CpuSeconds() const {
  return ProcessCpuSeconds() - cpu_start_;
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char buffer[32];
  const size_t length = std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {buffer, length};
}

io::Json Provenance(const RunTimer& timer, const std::vector<LibraryVersion>& libraries) {
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  utsname system{};
  ::uname(&system);

  io::Json versions;
  versions["eigen"] = Triple(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
  versions["nlohmann_json"] =
      Triple(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
  versions["sleef"] = SleefVersion();  // its sines are part of every result
  versions["glibc"] = ::gnu_get_libc_version();
  for (const auto& [name, version] : libraries) versions[name] = version;

  io::Json json;
  json["version"] = RETRACE_VERSION;
  json["revision"] = std::string(RETRACE_REVISION).empty() ? "unknown" : RETRACE_REVISION;
  json["build"] = std::string(RETRACE_BUILD_TYPE);
  json["compiler"] = Compiler();
  json["libraries"] = versions;
  json["host"] = host;
  json["system"] = std::string(system.sysname) + " " + system.release + " " + system.machine;
  json["cpu"] = CpuModel();
  json["hardware_threads"] = std::max(1u, std::thread::hardware_concurrency());
  json["finished"] = UtcNow();
  json["wall_seconds"] = Milliseconds(timer.WallSeconds());
  json["cpu_seconds"] = Milliseconds(timer.CpuSeconds());
  return json;
}

}  // namespace retrace::results
