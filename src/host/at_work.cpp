#include "host/at_work.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/ensure.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {

constexpr std::size_t bytes = AtWork::replicas_max * sizeof(std::uint64_t);
static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t));
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// A worker that could shrink the memory could end its coordinator with SIGBUS.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<std::atomic<std::uint64_t>*> map(int fd) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return Error{Errc::io, with_errno("memory of the items at work")};
  return static_cast<std::atomic<std::uint64_t>*>(memory);
}

}  // namespace

Result<AtWork> AtWork::create() {
  Fd fd(::memfd_create("piracema-at-work", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) {
    return Error{Errc::io, with_errno("memory of the items at work")};
  }
  auto words = map(fd.get());
  if (!words) return words.error();
  for (std::size_t i = 0; i < replicas_max; ++i) {
    (*words)[i].store(none, std::memory_order_relaxed);
  }
  return AtWork(std::move(fd), *words);
}

Result<AtWork> AtWork::open(Fd fd) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return Error{Errc::config, with_errno(concat("descriptor ", fd.get(), " of items at work"))};
  }
  if (static_cast<std::size_t>(status.st_size) != bytes) {
    return Error{Errc::config, concat("descriptor ", fd.get(), " of items at work: want ", bytes,
                                      " bytes, found ", status.st_size)};
  }
  ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  auto words = map(fd.get());
  if (!words) return words.error();
  return AtWork(std::move(fd), *words);
}

AtWork::~AtWork() {
  if (words_ != nullptr) ::munmap(words_, bytes);
}

std::atomic<std::uint64_t>& AtWork::operator[](ReplicaId replica) {
  ENSURE(replica < replicas_max);  // No valid graph has more.
  return word(replica);
}

// Each replica stores for every item: those of one process, which mostly follow each other, lie on
// cache lines of their own, or they would take the line from each other each time.
std::atomic<std::uint64_t>& AtWork::word(ReplicaId replica) const {
  constexpr std::size_t words_in_line = 64 / sizeof(std::uint64_t);
  constexpr std::size_t lines = replicas_max / words_in_line;
  static_assert(lines * words_in_line == replicas_max);
  return words_[replica % lines * words_in_line + replica / lines];
}

std::vector<std::pair<ReplicaId, std::uint64_t>> AtWork::busy() const {
  std::vector<std::pair<ReplicaId, std::uint64_t>> all;
  for (std::uint32_t replica = 0; replica < replicas_max; ++replica) {
    const std::uint64_t item = word(replica).load(std::memory_order_relaxed);
    if (item != none) all.emplace_back(replica, item);
  }
  return all;
}

}  // namespace piracema::cluster
