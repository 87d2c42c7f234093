#include "coll/mpi/exchange.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace piracema::coll::mpi {

namespace {
constexpr std::size_t stamp_bytes = sizeof(std::int64_t);
/// Ranks that wait for an emulated link must leave the cores to the others.
constexpr unsigned poll_every_us = 100;
constexpr int polls_before_yield = 200;
constexpr int polls_before_clock = 64;
constexpr std::chrono::seconds look_every{1};
/// So many operations back strays are looked for; whoever is out of order mostly is by one.
constexpr std::uint32_t strays_back_max = 32;
}  // namespace

Outbox::~Outbox() {
  if (!requests_.empty()) new std::vector<std::vector<char>>(std::move(kept_));
}

void Outbox::wait() {
  must(PMPI_Waitall(as_int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  requests_.clear();
  kept_.clear();
}

bool Outbox::test() {
  if (requests_.empty()) return true;
  int all = 0;
  must(PMPI_Testall(as_int(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE));
  if (all == 0) return false;
  requests_.clear();
  kept_.clear();
  return true;
}

std::uint64_t bytes_of(const Data& data) {
  MPI_Count size = 0;
  must(PMPI_Type_size_x(data.type, &size));
  return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(data.count);
}

Incoming::Incoming(Exchange& exchange, Rank from, std::uint32_t operation, Data into,
                   const Stamp& stamp)
    : stamp_(stamp) {
  must(PMPI_Irecv(into.buffer, into.count, into.type, static_cast<int>(from),
                  tag(operation, Kind::data), exchange.comm(), &requests_[1]));
}

Incoming::Incoming(Exchange& exchange, Rank from, std::uint32_t operation, Data into)
    : Incoming(exchange, from, operation, into, Stamp{}) {
  must(PMPI_Irecv(&stamp_, sizeof stamp_, MPI_BYTE, static_cast<int>(from),
                  tag(operation, Kind::stamp), exchange.comm(), &requests_[0]));
}

Incoming::~Incoming() {
  // After an error alone.
  for (MPI_Request& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    PMPI_Cancel(&request);
    PMPI_Request_free(&request);
  }
}

bool Incoming::ready() {
  if (came_at_ == Time{}) {
    for (MPI_Request& request : requests_) {
      int there = 0;
      must(PMPI_Test(&request, &there, MPI_STATUS_IGNORE));
      if (there == 0) return false;
    }
    came_at_ = std::max(now(), Time(stamp_.visible_at));
  }
  return stamp_.visible_at == 0 || now() >= came_at_;
}

void Patience::wait() {
  polls_ += 1;
  if (polls_ % polls_before_clock == 0) {
    const Time time = now();
    if (look_at_ != Time{} && time >= look_at_) exchange_.expect_no_strays();
    if (time >= look_at_) look_at_ = time + look_every;
  }
  if (exchange_.emulating()) {
    ::usleep(polls_ < 20 ? poll_every_us : 5 * poll_every_us);
  } else if (polls_ > polls_before_yield) {
    // With more ranks than cores, who is waited for may wait for this core.
    ::sched_yield();
  }
}

Exchange::Exchange(MPI_Comm comm, Emulator* emulator, std::vector<Rank> world_ranks)
    : comm_(comm), emulator_(emulator), world_ranks_(std::move(world_ranks)) {
  int me = 0;
  must(PMPI_Comm_rank(comm, &me));
  me_ = static_cast<Rank>(me);
}

void Exchange::begin_operation(std::uint32_t operation, bool tidy) {
  if (!tidy) tidy_from_ = operation;
  operation_ = operation;
  is_root_ = false;
}

void Exchange::tell_of_strays() const {
  static const char nothing = 0;
  for (int to = 0; to < static_cast<int>(size()); ++to) {
    if (to == static_cast<int>(me_)) continue;
    MPI_Request request;
    must(PMPI_Isend(&nothing, 1, MPI_BYTE, to, tag(0, Kind::strayed), comm_, &request));
    must(PMPI_Request_free(&request));
  }
}

void Exchange::expect_no_strays() const {
  MPI_Status status;
  int there = 0;
  must(PMPI_Iprobe(MPI_ANY_SOURCE, tag(0, Kind::strayed), comm_, &there, &status));
  if (there != 0) throw MpiError{MPI_ERR_OTHER};
  const auto expect_none = [&](std::uint32_t operation, Kind kind) {
    must(PMPI_Iprobe(MPI_ANY_SOURCE, tag(operation, kind), comm_, &there, &status));
    if (there == 0) return;
    tell_of_strays();
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

void Exchange::send_bytes(Rank to, int tag, std::span<const char> bytes, Outbox& outbox) {
  std::vector<char> message(stamp_bytes + bytes.size());
  const std::int64_t stamp =
      emulator_ ? emulator_->visible_at(world_ranks_[to], bytes.size()).count() : 0;
  std::memcpy(message.data(), &stamp, stamp_bytes);
  if (!bytes.empty()) std::memcpy(message.data() + stamp_bytes, bytes.data(), bytes.size());
  MPI_Request request;
  must(PMPI_Isend(message.data(), as_int(message.size()), MPI_BYTE, static_cast<int>(to), tag,
                  comm_, &request));
  outbox.requests_.push_back(request);
  outbox.kept_.push_back(std::move(message));
}

Exchange::Arrived Exchange::take(MPI_Message message, const MPI_Status& status) {
  int length = 0;
  must(PMPI_Get_count(&status, MPI_BYTE, &length));
  std::vector<char> bytes(static_cast<std::size_t>(length));
  must(PMPI_Mrecv(bytes.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  if (bytes.size() < stamp_bytes) throw MpiError{MPI_ERR_OTHER};
  std::int64_t stamp = 0;
  std::memcpy(&stamp, bytes.data(), stamp_bytes);
  bytes.erase(bytes.begin(), bytes.begin() + stamp_bytes);
  return {static_cast<Rank>(status.MPI_SOURCE), std::move(bytes), Time(stamp)};
}

bool Exchange::poll_bytes(Rank from, int tag, Arrived& arrived) {
  MPI_Message message;
  MPI_Status status;
  int there = 0;
  must(PMPI_Improbe(from == no_rank ? MPI_ANY_SOURCE : static_cast<int>(from), tag, comm_, &there,
                    &message, &status));
  if (there == 0) return false;
  arrived = take(message, status);
  return true;
}

Exchange::Arrived Exchange::receive_bytes(Rank from, int tag) {
  Arrived arrived;
  Patience patience = this->patience();
  while (!poll_bytes(from, tag, arrived)) patience.wait();
  if (emulator_) Emulator::sleep_until(arrived.visible_at);
  return arrived;
}

void Exchange::send_data(Rank to, std::uint32_t operation, Data data, Outbox& outbox, Rank of) {
  Stamp stamp{.sent_at = now().count(), .of = of};
  if (emulator_) {
    stamp.visible_at = emulator_->visible_at(world_ranks_[to], bytes_of(data)).count();
  }
  std::vector<char> message(sizeof stamp);
  std::memcpy(message.data(), &stamp, sizeof stamp);
  MPI_Request request;
  must(PMPI_Isend(message.data(), as_int(sizeof stamp), MPI_BYTE, static_cast<int>(to),
                  tag(operation, Kind::stamp), comm_, &request));
  outbox.requests_.push_back(request);
  outbox.kept_.push_back(std::move(message));
  must(PMPI_Isend(data.buffer, data.count, data.type, static_cast<int>(to),
                  tag(operation, Kind::data), comm_, &request));
  outbox.requests_.push_back(request);
}

void Exchange::receive_data(Rank from, std::uint32_t operation, Data data) {
  Incoming incoming(*this, from, operation, data);
  Patience patience = this->patience();
  while (!incoming.ready()) patience.wait();
}

bool Exchange::poll_stamp(std::uint32_t operation, Rank& from, Stamp& stamp) {
  MPI_Message message;
  MPI_Status status;
  int there = 0;
  must(PMPI_Improbe(MPI_ANY_SOURCE, tag(operation, Kind::stamp), comm_, &there, &message, &status));
  if (there == 0) return false;
  from = static_cast<Rank>(status.MPI_SOURCE);
  must(PMPI_Mrecv(&stamp, sizeof stamp, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  return true;
}

void Exchange::copy(Data from, Data to) {
  if (from.count == 0 || from.buffer == to.buffer) return;
  const int me = static_cast<int>(me_);
  const int tag_of_copies = tag(4'095, Kind::data);
  must(PMPI_Sendrecv(from.buffer, from.count, from.type, me, tag_of_copies, to.buffer, to.count,
                     to.type, me, tag_of_copies, comm_, MPI_STATUS_IGNORE));
}

std::vector<char> Exchange::pack(Data data) const {
  if (bytes_of(data) == 0) return {};
  int bound = 0, used = 0;
  must(PMPI_Pack_size(data.count, data.type, comm_, &bound));
  std::vector<char> packed(static_cast<std::size_t>(bound));
  must(PMPI_Pack(data.buffer, data.count, data.type, packed.data(), bound, &used, comm_));
  packed.resize(static_cast<std::size_t>(used));
  return packed;
}

void Exchange::unpack(std::span<const char> packed, Data data) const {
  if (packed.empty()) return;
  if (packed.size() > bytes_of(data)) throw MpiError{MPI_ERR_TRUNCATE};
  // Fewer elements than there is room for, where an operation allows that.
  MPI_Count size = 0;
  must(PMPI_Type_size_x(data.type, &size));
  const auto count = static_cast<int>(packed.size() / static_cast<std::uint64_t>(size));
  int used = 0;
  must(PMPI_Unpack(packed.data(), as_int(packed.size()), &used, data.buffer, count, data.type,
                   comm_));
}

}  // namespace piracema::coll::mpi
