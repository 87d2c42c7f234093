#include "ckpt/capsule/good_moments.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <piracema/ckpt.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

// Whole pages: a part of a file in memory is what images of ordinary users do not hold.
std::size_t board_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

piracema_ckpt_board& board_at(void* memory) { return *static_cast<piracema_ckpt_board*>(memory); }

std::atomic_ref<std::uint32_t> wanted_of(void* board) {
  return std::atomic_ref(board_at(board).wanted);
}

}  // namespace

Result<GoodMoments> GoodMoments::open() {
  GoodMoments moments(Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  constexpr std::string_view name = PIRACEMA_CKPT_BOARD_SOCKET;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (!moments.socket_ ||
      ::bind(moments.socket_.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    return Error{Errc::io, with_errno("capsule: a socket for good moments")};
  }
  if (auto mapped = moments.map(); !mapped) return mapped.error();
  return moments;
}

GoodMoments::GoodMoments(GoodMoments&& other) noexcept
    : socket_(std::move(other.socket_)), board_(std::exchange(other.board_, nullptr)) {}

GoodMoments& GoodMoments::operator=(GoodMoments&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(board_, other.board_);
  return *this;
}

GoodMoments::~GoodMoments() { unmap(); }

void GoodMoments::unmap() {
  if (board_ != nullptr) ::munmap(board_, board_bytes());
  board_ = nullptr;
}

Result<Done> GoodMoments::map() {
  unmap();
  const Fd file(::open(good_moments_file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  // Programs of the job that run as somebody else may say it too, whatever our umask is.
  if (!file || ::fchmod(file.get(), 0666) != 0 ||
      ::ftruncate(file.get(), static_cast<off_t>(board_bytes())) != 0) {
    return Error{Errc::io, with_errno(good_moments_file)};
  }
  void* const memory =
      ::mmap(nullptr, board_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return Error{Errc::io, with_errno(good_moments_file)};
  board_ = memory;
  board_at(board_).version = PIRACEMA_CKPT_BOARD_VERSION;
  return Done{};
}

bool GoodMoments::hear() {
  forget_what_was_said();
  return wanted_of(board_).load() != 0;
}

void GoodMoments::forget_what_was_said() {
  char word = 0;
  while (::recv(socket_.get(), &word, 1, 0) >= 0) {
  }
}

// What was said before was said of another image.
void GoodMoments::want() {
  if (wanted_of(board_).load() != 0) return;
  forget_what_was_said();
  wanted_of(board_).store(1);
}

void GoodMoments::answer(int result) {
  if (wanted_of(board_).load() != 0) say(result);
}

// Whoever has seen that one is wanted has read the count of answers before.
void GoodMoments::say(int result) {
  piracema_ckpt_board& board = board_at(board_);
  std::atomic_ref(board.answer).store(result);
  std::atomic_ref(board.wanted).store(0);
  std::atomic_ref(board.answered).fetch_add(1);
  (void)::syscall(SYS_futex, &board.answered, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Result<Done> GoodMoments::restored() {
  if (auto mapped = map(); !mapped) return mapped;
  say(PIRACEMA_CKPT_RESTORED);
  return Done{};
}

}  // namespace piracema::ckpt
