#include "coll/mpi/exchange/exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hint.h"
#include "base/log.h"
#include "base/text.h"

namespace piracema::coll::mpi {

namespace {
/// In front of each message.
struct Prefix {
  std::int64_t visible_at = 0;
  std::uint32_t number = 0, unused = 0;
};
static_assert(sizeof(Prefix) == 16);
/// So many operations back strays are looked for; whoever is out of order mostly is by one.
constexpr std::uint32_t strays_back_max = 32;
}  // namespace

Exchange::Exchange(MPI_Comm comm, Emulator* emulator, std::vector<Rank> world_ranks,
                   Waiting waiting)
    : comm_(comm), emulator_(emulator), world_ranks_(std::move(world_ranks)), waiting_(waiting) {
  int me = 0;
  must(PMPI_Comm_rank(comm, &me));
  me_ = static_cast<Rank>(me);
}

void Exchange::send_bytes(Rank to, Tag tag, std::span<const char> bytes, Outbox& outbox) {
  std::vector<char> message(sizeof(Prefix) + bytes.size());
  const Prefix prefix{emulator_ ? emulator_->visible_at(world_ranks_[to], bytes.size()).count() : 0,
                      tag.number};
  std::memcpy(message.data(), &prefix, sizeof prefix);
  if (!bytes.empty()) std::memcpy(message.data() + sizeof prefix, bytes.data(), bytes.size());
  MPI_Request request;
  must(PMPI_Isend(message.data(), as_int(message.size()), MPI_BYTE, static_cast<int>(to), tag.value,
                  comm_, &request));
  outbox.add(request, std::move(message));
}

Exchange::Arrived Exchange::take(MPI_Message message, const MPI_Status& status,
                                 std::uint32_t number) const {
  int length = 0;
  must(PMPI_Get_count(&status, MPI_BYTE, &length));
  std::vector<char> bytes(static_cast<std::size_t>(length));
  must(PMPI_Mrecv(bytes.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  Prefix prefix;
  if (bytes.size() < sizeof prefix) throw MpiError{MPI_ERR_OTHER};
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  if (prefix.number != number) refuse_number(status.MPI_SOURCE, number, prefix.number);
  bytes.erase(bytes.begin(), bytes.begin() + sizeof prefix);
  return {static_cast<Rank>(status.MPI_SOURCE), std::move(bytes), Time(prefix.visible_at)};
}

std::uint32_t Exchange::number_of(MPI_Message message, const MPI_Status& status, Kind kind) const {
  int length = 0;
  must(PMPI_Get_count(&status, MPI_BYTE, &length));
  std::vector<char> bytes(static_cast<std::size_t>(length));
  must(PMPI_Mrecv(bytes.data(), length, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  if (kind == Kind::stamp) {
    Stamp stamp;
    if (bytes.size() != sizeof stamp) throw MpiError{MPI_ERR_OTHER};
    std::memcpy(&stamp, bytes.data(), sizeof stamp);
    return stamp.operation;
  }
  Prefix prefix;
  if (bytes.size() < sizeof prefix) throw MpiError{MPI_ERR_OTHER};
  std::memcpy(&prefix, bytes.data(), sizeof prefix);
  return prefix.number;
}

void Exchange::refuse_number(int from, std::uint32_t wanted, std::uint32_t found) const {
  // Ranks are held together so that this cannot be: it is no mistake of the program.
  log(Level::error,
      with_hint(concat("rank ", me_, " of a communicator waits for message ", wanted, " of rank ",
                       from, " and found ", found, ": a mistake of piracema"),
                "PIRACEMA_COLL_ENGINE=native does without it"));
  throw MpiError{MPI_ERR_OTHER};
}

bool Exchange::poll_bytes(Rank from, Tag tag, Arrived& arrived) {
  MPI_Message message;
  MPI_Status status;
  int there = 0;
  must(PMPI_Improbe(from == no_rank ? MPI_ANY_SOURCE : static_cast<int>(from), tag.value, comm_,
                    &there, &message, &status));
  if (there == 0) return false;
  arrived = take(message, status, tag.number);
  return true;
}

Exchange::Arrived Exchange::receive_bytes(Rank from, Tag tag) {
  Arrived arrived;
  Patience patience = this->patience();
  while (!poll_bytes(from, tag, arrived)) patience.wait();
  if (emulator_) Emulator::sleep_until(arrived.visible_at);
  return arrived;
}

// ---- values of the program's own types, behind their stamps -------------------------------------

void Exchange::send_data(Rank to, std::uint32_t operation, Data data, Outbox& outbox, Rank of) {
  Stamp stamp{.sent_at = now().count(), .of = of, .operation = operation};
  if (emulator_) {
    stamp.visible_at = emulator_->visible_at(world_ranks_[to], bytes_of(data)).count();
  }
  std::vector<char> message(sizeof stamp);
  std::memcpy(message.data(), &stamp, sizeof stamp);
  MPI_Request request;
  must(PMPI_Isend(message.data(), as_int(sizeof stamp), MPI_BYTE, static_cast<int>(to),
                  tag(operation, Kind::stamp).value, comm_, &request));
  outbox.add(request, std::move(message));
  must(PMPI_Isend(data.buffer, data.count, data.type, static_cast<int>(to),
                  tag(operation, Kind::data).value, comm_, &request));
  outbox.add(request);
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
  must(PMPI_Improbe(MPI_ANY_SOURCE, tag(operation, Kind::stamp).value, comm_, &there, &message,
                    &status));
  if (there == 0) return false;
  from = static_cast<Rank>(status.MPI_SOURCE);
  must(PMPI_Mrecv(&stamp, sizeof stamp, MPI_BYTE, &message, MPI_STATUS_IGNORE));
  if (stamp.operation != operation) {
    refuse_number(status.MPI_SOURCE, operation, stamp.operation);
  }
  return true;
}

void Exchange::copy(Data from, Data to) {
  if (from.count == 0 || from.buffer == to.buffer) return;
  const int me = static_cast<int>(me_);
  const int tag_of_copies = tag(4'095, Kind::data).value;
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

// ---- what shows that all wait in vain
// ------------------------------------------------------------

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
    log(Level::error, concat("ranks ", me_, " and ", status.MPI_SOURCE,
                             " of a communicator do not call the same collectives in the same "
                             "order"));
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
