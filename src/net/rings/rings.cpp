#include "net/rings/rings.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace piracema::net {

namespace {

/// The first page: what this is, then the heads of the two rings; their bytes follow the page.
struct FirstPage {
  std::uint32_t mark = 0x47524350;  // "PCRG"
  std::uint32_t version = 1;
  std::uint64_t capacity = Rings::bytes_max;
  /// From the creator to the other side, and back.
  alignas(256) RingHead forth;
  RingHead back;
};
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t memory_bytes = page_bytes + 2 * Rings::bytes_max;
static_assert(sizeof(FirstPage) <= page_bytes);

// Whoever could shrink the memory could end the other process with SIGBUS.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Result<std::byte*> map(int fd) {
  void* mapped = ::mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return Error{Errc::io, with_errno("shared memory")};
  return static_cast<std::byte*>(mapped);
}

Error refused(std::string_view what) { return {Errc::refused, concat("shared memory: ", what)}; }

Result<Done> check_memory(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return refused("the descriptor is none");
  if (static_cast<std::uint64_t>(status.st_size) != memory_bytes) {
    return refused(concat("want ", memory_bytes, " bytes, found ", status.st_size));
  }
  if ((::fcntl(fd, F_GET_SEALS) & seals) != seals) return refused("its size is not sealed");
  return Done{};
}

// A regular file cannot be watched, and a pipe would keep us waiting.
Result<Done> check_bell(int fd) {
  char target[64] = "";
  const auto count = ::readlink(concat("/proc/self/fd/", fd).c_str(), target, sizeof target - 1);
  if (count < 0 || std::string_view(target) != "anon_inode:[eventfd]") {
    return refused("a bell is no eventfd");
  }
  if ((::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0) return refused("a bell would keep us waiting");
  return Done{};
}

}  // namespace

Result<std::unique_ptr<Rings>> Rings::create() {
  Fd memory(::memfd_create("piracema-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Fd mine(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      theirs(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!memory || !mine || !theirs ||
      ::ftruncate(memory.get(), static_cast<off_t>(memory_bytes)) != 0 ||
      ::fcntl(memory.get(), F_ADD_SEALS, seals) != 0) {
    return Error{Errc::io, with_errno("shared memory")};
  }
  auto mapped = map(memory.get());
  if (!mapped) return mapped.error();
  new (*mapped) FirstPage;
  return std::unique_ptr<Rings>(
      new Rings(std::move(memory), std::move(mine), std::move(theirs), *mapped, true));
}

Result<std::unique_ptr<Rings>> Rings::open(std::vector<Fd> descriptors) {
  if (descriptors.size() != 3) {
    return refused(concat("want 3 descriptors, found ", descriptors.size()));
  }
  if (auto right = check_memory(descriptors[0].get()); !right) return right.error();
  for (std::size_t i = 1; i < 3; ++i) {
    if (auto right = check_bell(descriptors[i].get()); !right) return right.error();
  }
  auto mapped = map(descriptors[0].get());
  if (!mapped) return mapped.error();
  // The creator's first bell is his own. From here on the memory is given back by the object.
  std::unique_ptr<Rings> rings(new Rings(std::move(descriptors[0]), std::move(descriptors[2]),
                                         std::move(descriptors[1]), *mapped, false));
  FirstPage wanted;
  const std::size_t checked = offsetof(FirstPage, capacity) + sizeof wanted.capacity;
  if (std::memcmp(*mapped, &wanted, checked) != 0) return refused("another version of its layout");
  return rings;
}

Rings::Rings(Fd memory, Fd mine, Fd theirs, std::byte* mapped, bool creator)
    : memory_(std::move(memory)),
      mine_(std::move(mine)),
      theirs_(std::move(theirs)),
      mapped_(mapped) {
  auto* page = reinterpret_cast<FirstPage*>(mapped);
  const std::span forth(mapped + page_bytes, bytes_max);
  const std::span back(mapped + page_bytes + bytes_max, bytes_max);
  const Bell bell(theirs_.get());
  out_ = std::make_unique<RingWriter>(creator ? page->forth : page->back, creator ? forth : back,
                                      bell);
  in_ = std::make_unique<RingReader>(creator ? page->back : page->forth, creator ? back : forth,
                                     bell);
}

Rings::~Rings() { ::munmap(mapped_, memory_bytes); }

std::array<int, 3> Rings::descriptors() const {
  return {memory_.get(), mine_.get(), theirs_.get()};
}

}  // namespace piracema::net
