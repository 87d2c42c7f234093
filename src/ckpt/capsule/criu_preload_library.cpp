// What is preloaded into criu while it saves an ordinary user's job (criu_preload.h). It is a
// library of its own, for whatever C library criu runs with: no more of C++ than of C.
//
// Of memory that is mapped from a deleted file criu asks the kernel for that file, which gives it
// to nobody who has no rights over the host; then criu looks for it by its name. Here a descriptor
// that a process of the job has of it is opened in place of that name. If nobody has one, and the
// memory is shared, nobody but who maps it gets to it, as with shared memory that never was in a
// file: criu is told that it is that.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace {

constexpr const char* ending = " (deleted)";
constexpr const char* shared_memory = "/dev/zero (deleted)";
constexpr const char* own_files = "/dev/shm";
constexpr unsigned inode_bits = 40;

struct Line {
  unsigned long begin = 0, end = 0, offset = 0, inode = 0;
  char permissions[5] = {}, device[32] = {};
  int name = 0;
};

/// A name that is gone, and where what had it is still to be had.
struct Descriptor {
  char* name;
  char path[4096];
  Descriptor* next;
};
Descriptor* descriptors = nullptr;

/// As /proc/PID/maps words it, of shared memory without a file; empty until it is known.
char device_of_memory[32];

// All that is left in a file, with a zero behind; null if there is no room.
char* read_all(int file) {
  size_t bytes = 0, room = 1 << 16;
  char* text = static_cast<char*>(malloc(room));
  while (text != nullptr) {
    const ssize_t count = read(file, text + bytes, room - bytes - 1);
    if (count <= 0) break;
    bytes += static_cast<size_t>(count);
    if (room - bytes > 4096) continue;
    char* const larger = static_cast<char*>(realloc(text, room *= 2));
    if (larger == nullptr) free(text);
    text = larger;
  }
  if (text != nullptr) text[bytes] = '\0';
  return text;
}

// A line of maps, or the first line of a mapping in smaps.
bool parse(const char* text, Line& line) {
  return sscanf(text, "%lx-%lx %4s %lx %31s %lu %n", &line.begin, &line.end, line.permissions,
                &line.offset, line.device, &line.inode, &line.name) >= 6 &&
         line.name > 0;
}

void learn_device_of_memory() {
  const int maps = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY, 0));
  if (maps < 0) return;
  const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char* const text = memory != MAP_FAILED ? read_all(maps) : nullptr;
  char begin[32];
  snprintf(begin, sizeof begin, "%lx-", reinterpret_cast<unsigned long>(memory));
  const char* const at = text != nullptr ? strstr(text, begin) : nullptr;
  Line line;
  if (at != nullptr && parse(at, line)) strcpy(device_of_memory, line.device);
  free(text);
  if (memory != MAP_FAILED) munmap(memory, bytes);
  close(maps);
}

// Remembers where that file is still to be had.
bool remember(const char* name, const char* place, const char* entry) {
  auto* const one = static_cast<Descriptor*>(malloc(sizeof(Descriptor)));
  if (one == nullptr) return false;
  *one = {strdup(name), {}, descriptors};
  const int bytes = snprintf(one->path, sizeof one->path, "%s/%s", place, entry);
  descriptors = one;
  return bytes > 0 && static_cast<size_t>(bytes) < sizeof one->path;
}

// Of all that is in a directory. With `below` also of what is in directories there.
bool find_in(const char* place, bool below, unsigned long device, unsigned long inode,
             const char* name) {
  DIR* const files = opendir(place);
  bool found = false;
  for (const dirent* file; !found && files != nullptr && (file = readdir(files));) {
    struct stat status;
    if (strcmp(file->d_name, ".") == 0 || strcmp(file->d_name, "..") == 0) continue;
    if (fstatat(dirfd(files), file->d_name, &status, below ? AT_SYMLINK_NOFOLLOW : 0) != 0)
      continue;
    if (status.st_ino == inode && status.st_dev == device) {
      found = remember(name, place, file->d_name);
    } else if (below && S_ISDIR(status.st_mode)) {
      char* const path = static_cast<char*>(malloc(strlen(place) + strlen(file->d_name) + 2));
      if (path == nullptr) continue;
      sprintf(path, "%s/%s", place, file->d_name);
      found = find_in(path, below, device, inode, name);
      free(path);
    }
  }
  if (files != nullptr) closedir(files);
  return found;
}

bool find_descriptor(unsigned long device, unsigned long inode, const char* name) {
  DIR* const processes = opendir("/proc");
  bool found = false;
  for (const dirent* process; !found && processes != nullptr && (process = readdir(processes));) {
    if (process->d_name[0] < '0' || process->d_name[0] > '9') continue;
    char place[48];
    snprintf(place, sizeof place, "/proc/%.16s/fd", process->d_name);
    found = find_in(place, false, device, inode, name);
  }
  if (processes != nullptr) closedir(processes);
  return found;
}

// Whether criu is to take it for shared memory without a file. A file may have another name, as a
// semaphore has that had one for a while before: only in the capsule's own /dev/shm that can be
// known.
bool is_only_memory(const char* text, size_t bytes, const Line& line) {
  const char* const name = text + line.name;
  if (bytes < strlen(ending) || strcmp(text + bytes - strlen(ending), ending) != 0) return false;
  if (*name != '/' || strcmp(line.device, device_of_memory) == 0) return false;
  unsigned first = 0, second = 0;
  if (sscanf(line.device, "%x:%x", &first, &second) != 2) return false;
  const unsigned long device = makedev(first, second);
  if (find_descriptor(device, line.inode, name)) return false;
  struct stat own;
  if (stat(own_files, &own) != 0 || own.st_dev != device) return false;
  if (find_in(own_files, true, device, line.inode, name)) return false;
  return line.permissions[3] == 's' && line.inode >> inode_bits == 0;
}

void write_line(FILE* out, const char* text) {
  Line line;
  if (!parse(text, line) || !is_only_memory(text, strlen(text), line)) {
    fprintf(out, "%s\n", text);
    return;
  }
  unsigned first = 0, second = 0;
  sscanf(line.device, "%x:%x", &first, &second);
  // Its own inode would be that of other shared memory.
  const unsigned long inode =
      line.inode + ((static_cast<unsigned long>(first) * 256 + second + 1) << inode_bits);
  fprintf(out, "%lx-%lx %s %08lx %s %lu %s\n", line.begin, line.end, line.permissions, line.offset,
          device_of_memory, inode, shared_memory);
}

// Another file that says the same, but for the memory above; the same file where that cannot be
// made.
int retold(int file) {
  if (device_of_memory[0] == '\0') learn_device_of_memory();
  const int made = static_cast<int>(syscall(SYS_memfd_create, "smaps", MFD_CLOEXEC));
  FILE* const out = made >= 0 ? fdopen(dup(made), "w") : nullptr;
  char* const text = out != nullptr && device_of_memory[0] != '\0' ? read_all(file) : nullptr;
  for (char* at = text; at != nullptr && *at != '\0';) {
    char* const end = strchr(at, '\n');
    if (end != nullptr) *end = '\0';
    write_line(out, at);
    at = end != nullptr ? end + 1 : nullptr;
  }
  const bool right = text != nullptr && fflush(out) == 0;
  if (out != nullptr) fclose(out);
  free(text);
  lseek(right ? made : file, 0, SEEK_SET);
  if (right || made >= 0) close(right ? file : made);
  return right ? made : file;
}

int open_any(int directory, const char* path, int flags, int mode) {
  const int file = static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
  if (file >= 0 && strcmp(path, "smaps") == 0) return retold(file);
  if (file >= 0 || errno != ENOENT) return file;
  for (const Descriptor* one = descriptors; one != nullptr; one = one->next) {
    if (one->name == nullptr || strcmp(one->name, path) != 0) continue;
    return static_cast<int>(syscall(SYS_openat, AT_FDCWD, one->path, flags, 0));
  }
  errno = ENOENT;
  return file;
}

}  // namespace

// All by which a program that is compiled one way or another may open a file.
#define MODE_BEHIND_FLAGS(mode)       \
  va_list rest;                       \
  va_start(rest, flags);              \
  const int mode = va_arg(rest, int); \
  va_end(rest)

extern "C" {

int open(const char* path, int flags, ...) {
  MODE_BEHIND_FLAGS(mode);
  return open_any(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  MODE_BEHIND_FLAGS(mode);
  return open_any(AT_FDCWD, path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  MODE_BEHIND_FLAGS(mode);
  return open_any(directory, path, flags, mode);
}
int openat64(int directory, const char* path, int flags, ...) {
  MODE_BEHIND_FLAGS(mode);
  return open_any(directory, path, flags, mode);
}
int __open_2(const char* path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
int __openat_2(int directory, const char* path, int flags) {
  return open_any(directory, path, flags, 0);
}
int __openat64_2(int directory, const char* path, int flags) {
  return open_any(directory, path, flags, 0);
}
}
