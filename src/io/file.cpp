#include "retrace/io/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "retrace/io/error.h"

namespace retrace::io {
namespace {

std::string Reason() {
  return std::strerror(errno);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// What is no regular file.
std::string KindOf(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISLNK(status.st_mode)) return "a link";
  if (S_ISFIFO(status.st_mode)) return "a pipe";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  return "a device";
}

}  // namespace

std::string ReadFile(const std::filesystem::path& path, size_t largest) {
  // A pipe without a writer would be waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    throw InputError(path.string() + ": cannot be opened: " + Reason());
  }
  if (!S_ISREG(status.st_mode)) throw InputError(path.string(), KindOf(status), "a file");
  const auto too_large = [&](const std::string& size) {
    return InputError(path.string(), size + " bytes", "at most " + std::to_string(largest));
  };
  // The size is a hint: files of /proc have none, and a file that is being written may grow.
  const auto size = static_cast<size_t>(status.st_size);
  if (size > largest) throw too_large(std::to_string(size));
  std::string bytes(size > 0 ? size + 1 : 4096, '\0');
  size_t filled = 0;
  for (;;) {
    if (filled > largest) throw too_large("more than " + std::to_string(largest));
    if (filled == bytes.size()) bytes.resize(2 * bytes.size());
    const ssize_t count = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(path.string() + ": cannot be read: " + Reason());
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

void CheckOutput(const std::filesystem::path& path, std::span<const std::filesystem::path> inputs) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;  // there is nothing yet, or making the file will report why not
  if (!S_ISREG(status.st_mode)) {
    throw OutputError(path.string() + ": found " + KindOf(status) + ", expected a file or nothing");
  }
  const auto is_output = [&](const std::filesystem::path& input) {
    struct stat other {};
    return ::stat(input.c_str(), &other) == 0 && other.st_dev == status.st_dev && other.st_ino == status.st_ino;
  };
  const auto input = std::find_if(inputs.begin(), inputs.end(), is_output);
  if (input == inputs.end()) return;
  throw OutputError(path.string() + ": found an input of this program, " + input->string() +
                    ", expected another place for its results");
}

void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  WriteFile(path, std::span(&bytes, 1));
}

void WriteFile(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  CheckOutput(path);
  const std::string temporary = path.string() + ".part." + std::to_string(::getpid());
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) throw OutputError(path.string() + ": cannot be created: " + Reason());
  const auto fail = [&](const char* what) {
    const std::string reason = Reason();
    ::unlink(temporary.c_str());
    throw OutputError(path.string() + ": cannot be " + what + ": " + reason);
  };
  for (std::string_view bytes : pieces) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("written");
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }
  if (::fsync(file.get()) != 0 && errno != EINVAL) fail("flushed to disk");
  if (::close(file.Release()) != 0) fail("closed");
  if (::rename(temporary.c_str(), path.c_str()) != 0) fail("renamed into place");
}

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available in this build of OpenSSL");
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

}  // namespace retrace::io
