#include "coll/mpi/exchange/exchange.h"

#include <cstring>
#include <utility>

namespace piracema::coll::mpi {

namespace {
constexpr std::size_t stamp_bytes = sizeof(std::int64_t);
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

Exchange::Exchange(MPI_Comm comm, Emulator* emulator, std::vector<Rank> world_ranks)
    : comm_(comm), emulator_(emulator), world_ranks_(std::move(world_ranks)) {
  int me = 0;
  must(PMPI_Comm_rank(comm, &me));
  me_ = static_cast<Rank>(me);
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

}  // namespace piracema::coll::mpi
