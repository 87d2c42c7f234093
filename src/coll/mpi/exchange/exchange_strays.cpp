// Waiting, and what shows that it is in vain.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "coll/mpi/exchange/exchange.h"

namespace piracema::coll::mpi {

namespace {
/// Ranks that wait for an emulated link must leave the cores to the others.
constexpr unsigned poll_every_us = 100;
constexpr int polls_before_clock = 64;
constexpr std::chrono::seconds strays_every{1};
/// So many operations back strays are looked for; whoever is out of order mostly is by one.
constexpr std::uint32_t strays_back_max = 32;
}  // namespace

void Exchange::begin_operation(std::uint32_t operation, bool tidy) {
  if (!tidy) tidy_from_ = operation;
  operation_ = operation;
  is_root_ = false;
}

void Patience::wait() {
  polls_ += 1;
  if (polls_ % polls_before_clock == 0) {
    const Time time = now();
    if (look_at_ != Time{} && time >= look_at_) exchange_.expect_no_strays();
    if (time >= look_at_) look_at_ = time + strays_every;
  }
  if (exchange_.emulating()) {
    ::usleep(polls_ < 20 ? poll_every_us : 5 * poll_every_us);
  } else if (polls_ > exchange_.waiting().polls_before_yield()) {
    ::sched_yield();
  }
}

void Exchange::tell_of_strays() const {
  static const char nothing = 0;
  for (int to = 0; to < static_cast<int>(size()); ++to) {
    if (to == static_cast<int>(me_)) continue;
    MPI_Request request;
    must(PMPI_Isend(&nothing, 1, MPI_BYTE, to, tag(0, Kind::strayed).value, comm_, &request));
    must(PMPI_Request_free(&request));
  }
}

void Exchange::expect_no_strays() const {
  MPI_Status status;
  int there = 0;
  must(PMPI_Iprobe(MPI_ANY_SOURCE, tag(0, Kind::strayed).value, comm_, &there, &status));
  if (there != 0) throw MpiError{MPI_ERR_OTHER};
  const auto expect_none = [&](std::uint32_t operation, Kind kind) {
    MPI_Message message;
    must(
        PMPI_Improbe(MPI_ANY_SOURCE, tag(operation, kind).value, comm_, &there, &message, &status));
    if (there == 0) return;
    tell_of_strays();
    if (const auto found = number_of(message, status, kind); found != operation) {
      refuse_number(status.MPI_SOURCE, operation, found);
    }
    std::fprintf(stderr,
                 "piracema: error: ranks %u and %d of a communicator do not call the same "
                 "collectives in the same order\n",
                 me_, status.MPI_SOURCE);
    throw MpiError{MPI_ERR_OTHER};
  };
  // Nobody sends the header of a broadcast to its root.
  if (is_root_) expect_none(operation_, Kind::header);
  const std::uint32_t count = std::min(operation_ - tidy_from_, strays_back_max);
  for (std::uint32_t back = 1; back <= count; ++back) {
    for (const Kind kind : {Kind::header, Kind::stamp, Kind::up}) {
      expect_none(operation_ - back, kind);
    }
  }
}

}  // namespace piracema::coll::mpi
