#include "retrace/io/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>
#include <utility>

#include "retrace/io/error.h"

namespace retrace::io {
namespace {

std::string Reason() {
  return std::strerror(errno);
}

/// What a failed call is thrown as: where files or memory of the process ran out, the path is not to blame.
template <typename E>
[[noreturn]] void ThrowFailure(const std::filesystem::path& path, const std::string& what) {
  const int code = errno;
  const std::string message = path.string() + ": " + what + ": " + std::strerror(code);
  if (code == EMFILE || code == ENFILE || code == ENOMEM) throw ResourceError(message);
  throw E(message);
}

/// Whatever is not a regular file.
std::string KindOf(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISLNK(status.st_mode)) return "a link";
  if (S_ISFIFO(status.st_mode)) return "a pipe";
  if (S_ISSOCK(status.st_mode)) return "a socket";
  return "a device";
}

constexpr char kHexadecimal[] = "0123456789abcdef";

/// What the names of temporary files begin with, and how many hexadecimal digits follow.
constexpr std::string_view kTemporary = ".retrace-part-";
constexpr size_t kTemporaryDigits = 32;

/// An unpredictable name, in the folder of the file. Its length does not depend on that of the file's name.
std::string TemporaryName(const std::filesystem::path& path) {
  std::array<unsigned char, kTemporaryDigits / 2> random;
  if (::getentropy(random.data(), random.size()) != 0) {
    throw OutputError(path.string() + ": cannot be created: no random numbers: " + Reason());
  }
  std::string name(kTemporary);
  for (const unsigned char byte : random) {
    name.push_back(kHexadecimal[byte >> 4]);
    name.push_back(kHexadecimal[byte & 15]);
  }
  return (path.parent_path() / name).string();
}

bool IsTemporaryName(std::string_view name) {
  return name.size() == kTemporary.size() + kTemporaryDigits && name.starts_with(kTemporary) &&
         name.find_first_not_of(kHexadecimal, kTemporary.size()) == std::string_view::npos;
}

bool IsNamed(int file, const std::string& name) {
  struct stat here {};
  struct stat named {};
  return ::fstat(file, &here) == 0 && ::lstat(name.c_str(), &named) == 0 && here.st_ino == named.st_ino &&
         here.st_dev == named.st_dev;
}

/// Opens a new temporary file for `path` and locks it for as long as it is open, so that SweepTemporaryFiles of another
/// process leaves it alone. Between the two the other may have taken it for one that was left behind: then another one.
/// Without success the descriptor is none, and errno says why.
Descriptor OpenTemporary(const std::filesystem::path& path, std::string& name) {
  constexpr int kMostTries = 100;
  for (int tries = 0; tries < kMostTries; ++tries) {
    name = TemporaryName(path);
    Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (file.get() < 0 && errno == EEXIST) continue;
    if (file.get() < 0) break;
    // File systems without locks do without: there, nothing is swept either.
    const bool taken = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && IsNamed(file.get(), name)) return file;
  }
  return Descriptor();
}

}  // namespace

void CheckFolder(const std::filesystem::path& folder) {
  std::string name;
  const Descriptor file = OpenTemporary(folder / "any", name);
  if (file.get() < 0) ThrowFailure<OutputError>(folder, "no files can be made there");
  ::unlink(name.c_str());
}

size_t SweepTemporaryFiles(const std::filesystem::path& folder) {
  size_t removed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!IsTemporaryName(entry->path().filename().string())) continue;
    const std::string name = entry->path().string();
    // Some file systems lock exclusively only what is open for writing.
    const Descriptor file(::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;  // its writer lives, or there are no locks
    if (IsNamed(file.get(), name) && ::unlink(name.c_str()) == 0) ++removed;
  }
  return removed;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

// A pipe without a writer would be waited for.
FileReader::FileReader(std::filesystem::path path, size_t largest)
    : path_(std::move(path)), largest_(largest), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  struct stat status {};
  if (file_.get() < 0 || ::fstat(file_.get(), &status) != 0) {
    ThrowFailure<InputError>(path_, "cannot be opened");
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
    if (count < 0) ThrowFailure<InputError>(path_, "cannot be read");
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

void CheckOutputFolder(const std::filesystem::path& path) {
  if (path.empty()) throw UsageError("the output folder has an empty name");
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  const bool link = S_ISLNK(status.st_mode);
  if (link && ::stat(path.c_str(), &status) != 0) {
    throw OutputError(path.string() + ": found a link to nothing, expected a folder or nothing");
  }
  if (S_ISDIR(status.st_mode)) return;
  throw OutputError(path.string() + ": found " + (S_ISREG(status.st_mode) ? "a file" : KindOf(status)) +
                    ", expected a folder or nothing");
}

void WriteFile(const std::filesystem::path& path, std::string_view bytes) {
  WriteFile(path, std::span(&bytes, 1));
}

void WriteFile(const std::filesystem::path& path, std::span<const std::string_view> pieces) {
  FileWriter writer(path);
  for (const std::string_view bytes : pieces) writer.Write(bytes);
  writer.Finish();
}

namespace {

/// Sweeps a folder that this process writes into for the first time.
void SweepOnce(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::set<std::filesystem::path> swept;
  const std::scoped_lock lock(mutex);
  if (swept.insert(folder).second) SweepTemporaryFiles(folder.empty() ? "." : folder);
}

}  // namespace

FileWriter::FileWriter(std::filesystem::path path) : path_(std::move(path)) {
  CheckOutput(path_);
  SweepOnce(path_.parent_path());
  file_ = OpenTemporary(path_, temporary_);
  if (file_.get() < 0) ThrowFailure<OutputError>(path_, "cannot be created");
}

FileWriter::~FileWriter() {
  if (file_.get() >= 0) ::unlink(temporary_.c_str());
}

void FileWriter::Fail(const char* what) const {
  ThrowFailure<OutputError>(path_, std::string("cannot be ") + what);
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

bool FileWriter::FinishAsNew() {
  if (::fsync(file_.get()) != 0 && errno != EINVAL) Fail("flushed to disk");
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) return false;
    // An old kernel or file system has hard links instead, or neither: then the last means is to look first.
    const bool linked = ::link(temporary_.c_str(), path_.c_str()) == 0;
    if (!linked && errno == EEXIST) return false;
    if (linked) {
      ::unlink(temporary_.c_str());
    } else {
      struct stat status {};
      if (::lstat(path_.c_str(), &status) == 0) return false;
      if (::rename(temporary_.c_str(), path_.c_str()) != 0) Fail("renamed into place");
    }
  }
  file_ = Descriptor();
  return true;
}

Sha256Sum::Sha256Sum() : context_(EVP_MD_CTX_new()) {
  if (!context_ || EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_.get()), EVP_sha256(), nullptr) != 1) {
    // OpenSSL reads its providers at the first use, and does not say why it cannot.
    throw ResourceError("OpenSSL does not offer SHA-256: memory ran out while it started");
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
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += kHexadecimal[digest[i] >> 4];
    text += kHexadecimal[digest[i] & 15];
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
