// Values of the program's own types, behind their stamps.
#include <algorithm>
#include <cstring>

#include "coll/mpi/exchange/exchange.h"

namespace piracema::coll::mpi {

std::uint64_t bytes_of(const Data& data) {
  MPI_Count size = 0;
  must(PMPI_Type_size_x(data.type, &size));
  return static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(data.count);
}

Incoming::Incoming(Exchange& exchange, Rank from, std::uint32_t operation, Data into,
                   const Stamp& stamp)
    : stamp_(stamp) {
  must(PMPI_Irecv(into.buffer, into.count, into.type, static_cast<int>(from),
                  tag(operation, Kind::data).value, exchange.comm(), &requests_[1]));
}

Incoming::Incoming(Exchange& exchange, Rank from, std::uint32_t operation, Data into)
    : Incoming(exchange, from, operation, into, Stamp{}) {
  must(PMPI_Irecv(&stamp_, sizeof stamp_, MPI_BYTE, static_cast<int>(from),
                  tag(operation, Kind::stamp).value, exchange.comm(), &requests_[0]));
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
  outbox.requests_.push_back(request);
  outbox.kept_.push_back(std::move(message));
  must(PMPI_Isend(data.buffer, data.count, data.type, static_cast<int>(to),
                  tag(operation, Kind::data).value, comm_, &request));
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

}  // namespace piracema::coll::mpi
