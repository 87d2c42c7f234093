#pragma once

#include <piracema/error.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/ids.h"

namespace piracema::cluster {

/// The item that each replica of one process is at work on, in memory that outlives the process:
/// its coordinator reads there what brought it down.
///
/// One word a replica of the plan, `none` while it works on nothing.
class AtWork {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  /// As many replicas as a graph may have.
  static constexpr std::size_t replicas_max = 10'000;

  /// Memory of its own, all `none`, whose size nobody can change any more. Errc::io.
  static Result<AtWork> create();

  /// The memory behind a descriptor that the coordinator handed over; takes it. Errc::config if
  /// it is not of that kind.
  static Result<AtWork> open(Fd fd);

  AtWork(AtWork&& other) noexcept
      : fd_(std::move(other.fd_)), words_(std::exchange(other.words_, nullptr)) {}
  AtWork& operator=(AtWork&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(words_, other.words_);
    return *this;
  }
  ~AtWork();

  /// To be inherited by the process; owned by this object.
  int fd() const { return fd_.get(); }

  /// Where a replica's thread stores. Lives as long as this object.
  std::atomic<std::uint64_t>& operator[](ReplicaId replica);

  /// All replicas that are at work, with their items.
  std::vector<std::pair<ReplicaId, std::uint64_t>> busy() const;

 private:
  AtWork(Fd fd, std::atomic<std::uint64_t>* words) : fd_(std::move(fd)), words_(words) {}
  std::atomic<std::uint64_t>& word(ReplicaId replica) const;

  Fd fd_;
  std::atomic<std::uint64_t>* words_ = nullptr;
};

}  // namespace piracema::cluster
