/* Preloaded into a program under test: the call number RETRACE_FAIL_AT among those that change files below the folder
 * RETRACE_FAIL_IN fails as on a full disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int below(const char* path) {
  const char* folder = getenv("RETRACE_FAIL_IN");
  return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int fails(const char* path) {
  static int calls = 0;
  const char* at = getenv("RETRACE_FAIL_AT");
  if (at == NULL || !below(path)) return 0;
  if (++calls != atoi(at)) return 0;
  errno = ENOSPC;
  return 1;
}

static int fails_on(int file) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return fails(path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int file, const void* bytes, size_t count) {
  return fails_on(file) ? -1 : NEXT(write)(file, bytes, count);
}
ssize_t pwrite(int file, const void* bytes, size_t count, off_t at) {
  return fails_on(file) ? -1 : NEXT(pwrite)(file, bytes, count, at);
}
ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t at) {
  return fails_on(file) ? -1 : NEXT(pwrite64)(file, bytes, count, at);
}
int fsync(int file) {
  return fails_on(file) ? -1 : NEXT(fsync)(file);
}
int rename(const char* from, const char* to) {
  return fails(to) ? -1 : NEXT(rename)(from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return fails(to) ? -1 : NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}
int mkstemp(char* path) {
  return fails(path) ? -1 : NEXT(mkstemp)(path);
}
int mkstemp64(char* path) {
  return fails(path) ? -1 : NEXT(mkstemp64)(path);
}

static int opens(const char* path, int flags, mode_t mode, const char* name) {
  typedef int (*Open)(const char*, int, ...);
  if ((flags & O_CREAT) != 0 && fails(path)) return -1;
  return ((Open)dlsym(RTLD_NEXT, name))(path, flags, mode);
}
int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opens(path, flags, mode, "open");
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opens(path, flags, mode, "open64");
}
