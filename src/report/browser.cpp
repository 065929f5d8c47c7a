#include "retrace/report/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "retrace/io/base64.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/program_path.h"
#include "retrace/io/remedy.h"

namespace retrace::report {
namespace fs = std::filesystem;
namespace {

constexpr int kTimeout = 120;  // [s] for a picture: software rendering on a slow machine takes some

/// A folder of its own that goes away.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "retrace-report-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw OutputError(pattern + ": cannot be created: " + std::strerror(errno));
    }
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// What a program writes to standard output; nothing when it does not end in time.
std::optional<std::string> OutputOf(const std::vector<std::string>& words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw ResourceError(std::string("no pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  // A group of its own, so that all of its processes can be ended.
  const int failure = io::StartProgram(words, actions, POSIX_SPAWN_SETPGROUP, child);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failure != 0) {
    ::close(ends[0]);
    const std::string message = words.front() + ": does not start: " + std::strerror(failure);
    if (failure == EAGAIN || failure == ENOMEM) throw ResourceError(message);
    throw OutputError(message);
  }
  std::string text;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(kTimeout);
  bool ended = false;
  while (!ended) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd waiting{ends[0], POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 65536> buffer;
    const ssize_t count = ::read(ends[0], buffer.data(), buffer.size());
    ended = count <= 0;
    if (count > 0) text.append(buffer.data(), static_cast<size_t>(count));
  }
  ::close(ends[0]);
  ::kill(-child, SIGKILL);  // helpers that it leaves behind, or all of them when it did not end
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!ended) return std::nullopt;
  return text;
}

std::string FileUrl(const fs::path& file) {
  std::string url = "file://";
  for (const char c : file.string()) {
    static constexpr std::string_view kPlain = "/-_.~0123456789";
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      url += c;
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      url += '%';
      url += kDigits[static_cast<unsigned char>(c) >> 4];
      url += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return url;
}

}  // namespace

fs::path FindBrowser(const std::string& wanted) {
  if (!wanted.empty()) {
    if (fs::path found = io::FindProgram(wanted); !found.empty()) return found;
    throw UsageError("the browser " + wanted + ": found no such program, expected Chromium or Chrome");
  }
  for (const char* name :
       {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"}) {
    if (fs::path found = io::FindProgram(name); !found.empty()) return found;
  }
  throw WithHint<UsageError>(
      {Remedy::kNamedBrowser},
      "a picture needs Chromium or Chrome, and there is none on the PATH: install one (on Debian: apt-get install "
      "chromium) or name it");
}

std::string DrawPicture(const fs::path& browser, const std::function<void(const fs::path& file)>& write_page,
                        const std::string& fragment) {
  const ScratchFolder scratch;
  const fs::path file = scratch.path() / "report.html";
  write_page(file);
  // arguments of another program
  std::vector<std::string> command = {browser.string(),
                                      "--headless",
                                      "--disable-gpu",
                                      "--use-angle=swiftshader",  // the same picture with and without a graphics card
                                      "--enable-unsafe-swiftshader",
                                      "--hide-scrollbars",
                                      "--force-device-scale-factor=1",
                                      "--disable-quic",
                                      "--no-first-run",
                                      "--disable-background-networking",
                                      "--disable-component-update",
                                      "--disable-sync",
                                      "--disable-extensions",
                                      "--user-data-dir=" + (scratch.path() / "profile").string(),
                                      "--dump-dom",
                                      FileUrl(file) + "#" + fragment};
  // arguments of another program: Chromium's own sandbox does not run as root
  if (::geteuid() == 0) command.insert(command.begin() + 2, "--no-sandbox");
  const std::optional<std::string> document = OutputOf(command);
  if (!document) {
    throw OutputError(browser.string() + ": drew no picture within " + std::to_string(kTimeout) + " s");
  }
  static constexpr std::string_view kPicture = "id=\"picture\" src=\"data:image/png;base64,";
  const size_t begin = document->find(kPicture);
  if (begin == std::string::npos) {
    throw OutputError(browser.string() + ": drew no picture; a browser with WebGL 2 is needed");
  }
  const size_t first = begin + kPicture.size();
  std::optional<std::string> png =
      io::DecodeBase64(std::string_view(*document).substr(first, document->find('"', first) - first));
  if (!png || !png->starts_with("\x89PNG")) throw OutputError(browser.string() + ": drew something that is no PNG");
  return *png;
}

}  // namespace retrace::report
