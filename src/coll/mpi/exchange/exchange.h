#pragma once

#include <span>
#include <vector>

#include "coll/mpi/exchange/incoming.h"
#include "coll/mpi/exchange/message.h"
#include "coll/mpi/exchange/outbox.h"
#include "coll/mpi/exchange/patience.h"
#include "coll/mpi/probe/emulator.h"
#include "coll/plan/waiting.h"

namespace piracema::coll::mpi {

/// Messages on one communicator of the library's own, with delays if links are emulated. MPI keeps
/// those of two ranks with one tag in order.
class Exchange {
 public:
  Exchange(MPI_Comm comm, Emulator* emulator, std::vector<Rank> world_ranks, Waiting waiting);

  MPI_Comm comm() const { return comm_; }
  Rank me() const { return me_; }
  Rank size() const { return static_cast<Rank>(world_ranks_.size()); }
  bool emulating() const { return emulator_ != nullptr; }
  const Waiting& waiting() const { return waiting_; }
  Patience patience() const { return Patience(*this); }

  /// From here on this operation is under way, and those before it are over at this rank. After one
  /// that failed, and one that another thread may still be at, what belongs to it may lie about.
  void begin_operation(std::uint32_t operation, bool tidy);
  /// The operation is a broadcast from this rank.
  void begin_as_root() { is_root_ = true; }
  /// A message for an operation that is over here, by its whole number, was sent by somebody who
  /// calls the program's operations in another order, which MPI forbids: a line about it, and
  /// MPI_ERR_OTHER, where all would wait forever. All others hear of it in the same way, within a
  /// second. Costs some 50 us.
  void expect_no_strays() const;

  struct Arrived {
    Rank from = 0;
    std::vector<char> bytes;
    Time visible_at{};
  };
  void send_bytes(Rank to, Tag tag, std::span<const char> bytes, Outbox&);
  /// From one rank, or from any (no_rank). Waits.
  Arrived receive_bytes(Rank from, Tag tag);
  /// What is there already, visible or not; false if there is nothing.
  bool poll_bytes(Rank from, Tag tag, Arrived&);

  /// `data` stays the caller's, until the outbox has waited. It goes behind a stamp.
  void send_data(Rank to, std::uint32_t operation, Data, Outbox&, Rank of = 0);
  void receive_data(Rank from, std::uint32_t operation, Data);
  /// The stamp of data that comes from any rank; its data is received by an `Incoming`.
  bool poll_stamp(std::uint32_t operation, Rank& from, Stamp&);
  /// From one place of this rank's memory to another.
  void copy(Data from, Data to);

  std::vector<char> pack(Data) const;
  /// MPI_ERR_TRUNCATE if there is more than `data` has room for.
  void unpack(std::span<const char> packed, Data) const;

 private:
  Arrived take(MPI_Message, const MPI_Status&, std::uint32_t number) const;
  /// The number of the operation that a message is for which is there; it is received.
  std::uint32_t number_of(MPI_Message, const MPI_Status&, Kind) const;
  [[noreturn]] void refuse_number(int from, std::uint32_t wanted, std::uint32_t found) const;
  void tell_of_strays() const;

  MPI_Comm comm_;
  Emulator* emulator_;
  std::vector<Rank> world_ranks_;
  Waiting waiting_;
  Rank me_ = 0;
  /// Operations from `tidy_from_` to `operation_` have left nothing behind.
  std::uint32_t operation_ = 0, tidy_from_ = 0;
  bool is_root_ = false;
};

}  // namespace piracema::coll::mpi
