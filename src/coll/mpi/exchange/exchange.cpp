#include "coll/mpi/exchange/exchange.h"

#include <cstdio>
#include <cstring>
#include <utility>

namespace piracema::coll::mpi {

namespace {
/// In front of each message.
struct Prefix {
  std::int64_t visible_at = 0;
  std::uint32_t number = 0, unused = 0;
};
static_assert(sizeof(Prefix) == 16);
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
  outbox.requests_.push_back(request);
  outbox.kept_.push_back(std::move(message));
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
  std::fprintf(stderr,
               "piracema: error: rank %u of a communicator waits for message %u of rank %d and "
               "found %u: a mistake of piracema; PIRACEMA_COLL_ENGINE=native does without it\n",
               me_, wanted, from, found);
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

}  // namespace piracema::coll::mpi
