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

/// Whatever is not a regular file.
std::string KindOf(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISLNK(status.st_mode)) return "a link";
  if (S_ISFIFO(status.st_mode)) return "a pipe";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  return "a device";
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

// A pipe without a writer would be waited for.
FileReader::FileReader(std::filesystem::path path, size_t largest)
    : path_(std::move(path)), largest_(largest), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) {
    throw InputError(path_.string() + ": cannot be opened: " + Reason());
  }
  if (!S_ISREG(status.st_mode)) throw InputError(path_.string(), KindOf(status), "a file");
  size_ = static_cast<size_t>(status.st_size);
  if (size_ > largest_) {
    throw InputError(path_.string(), std::to_string(size_) + " bytes", "at most " + std::to_string(largest_));
  }
}

size_t FileReader::Read(std::span<char> to) {
  size_t filled = 0;
  while (filled < to.size()) {
    const ssize_t count = ::read(file_.get(), to.data() + filled, to.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw InputError(path_.string() + ": cannot be read: " + Reason());
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  done_ += filled;
  if (done_ > largest_) {
    const std::string most = std::to_string(largest_);
    throw InputError(path_.string(), "more than " + most + " bytes", "at most " + most);
  }
  return filled;
}

std::string ReadFile(const std::filesystem::path& path, size_t largest) {
  FileReader reader(path, largest);
  std::string bytes(reader.size() > 0 ? reader.size() + 1 : 4096, '\0');
  size_t filled = 0;
  for (;;) {
    filled += reader.Read(std::span(bytes).subspan(filled));
    if (filled < bytes.size()) break;
    bytes.resize(2 * bytes.size());
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
  FileWriter writer(path);
  for (const std::string_view bytes : pieces) writer.Write(bytes);
  writer.Finish();
}

FileWriter::FileWriter(std::filesystem::path path) : path_(std::move(path)) {
  CheckOutput(path_);
  std::string temporary = path_.string() + ".part." + std::to_string(::getpid());
  file_ = Descriptor(::open(temporary.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file_.get() < 0) throw OutputError(path_.string() + ": cannot be created: " + Reason());
  temporary_ = std::move(temporary);
}

FileWriter::~FileWriter() {
  if (file_.get() >= 0) ::unlink(temporary_.c_str());
}

void FileWriter::Fail(const char* what) const {
  throw OutputError(path_.string() + ": cannot be " + what + ": " + Reason());
}

void FileWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Fail("written");
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

Descriptor FileWriter::Finish() {
  if (::fsync(file_.get()) != 0 && errno != EINVAL) Fail("flushed to disk");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) Fail("renamed into place");
  return std::move(file_);
}

Sha256Sum::Sha256Sum() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_.get()), EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not available in this build of OpenSSL");
  }
}

void Sha256Sum::Free::operator()(void* context) const {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context));
}

void Sha256Sum::Add(std::string_view bytes) {
  EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_.get()), bytes.data(), bytes.size());
}

std::string Sha256Sum::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_.get()), digest.data(), &length);
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

std::string Sha256(std::string_view bytes) {
  Sha256Sum sum;
  sum.Add(bytes);
  return sum.Finish();
}

std::string Sha256OfFile(const std::filesystem::path& path) {
  FileReader reader(path);
  Sha256Sum sum;
  std::string block(size_t{1} << 16, '\0');
  for (size_t count = 0; (count = reader.Read(block)) > 0;) sum.Add(std::string_view(block).substr(0, count));
  return sum.Finish();
}

}  // namespace retrace::io
