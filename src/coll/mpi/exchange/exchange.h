#pragma once

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "coll/mpi/exchange/mpi_types.h"
#include "coll/mpi/probe/emulator.h"
#include "coll/plan/waiting.h"

namespace piracema::coll::mpi {

/// What a message is, in the low bits of its tag; above them the number of the operation.
enum class Kind { header, data, stamp, plan, up, told, ended, strayed };
/// The whole number travels in the message, so that one of 4096 operations before or after is told
/// apart.
struct Tag {
  int value;
  std::uint32_t number;
};
inline Tag tag(std::uint32_t operation, Kind kind) {
  // MPI promises tags up to 32767. Nobody runs ahead of others by 4096 operations: Group.
  return {static_cast<int>((operation % 4'096) << 3) | static_cast<int>(kind), operation};
}

/// Sends that are under way, with the memory that they send from. Errors of MPI are thrown.
class Outbox {
 public:
  Outbox() = default;
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;
  /// What is still under way after an error keeps its memory for good.
  ~Outbox();
  void wait();
  /// True if nothing is under way any more.
  bool test();

 private:
  friend class Exchange;
  std::vector<MPI_Request> requests_;
  std::vector<std::vector<char>> kept_;
};

/// Values of the program's own types.
struct Data {
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
/// Of `data`, all elements.
std::uint64_t bytes_of(const Data&);

/// What goes ahead of data.
struct Stamp {
  /// When an emulated link shows it, and when it was sent by the sender's clock; nanoseconds.
  std::int64_t visible_at = 0, sent_at = 0;
  /// Of whom it is, where that is not clear, and of which operation.
  std::uint32_t of = 0, operation = 0;
};

class Exchange;

/// Data that is awaited from one rank, into memory that outlives this. Errors of MPI are thrown.
class Incoming {
 public:
  Incoming(Exchange&, Rank from, std::uint32_t operation, Data into);
  /// One whose stamp has come already.
  Incoming(Exchange&, Rank from, std::uint32_t operation, Data into, const Stamp&);
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;
  ~Incoming();
  /// All of it is there, and visible.
  bool ready();
  const Stamp& stamp() const { return stamp_; }
  /// When it was; by this machine's clock.
  Time came_at() const { return came_at_; }

 private:
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Stamp stamp_;
  Time came_at_{};
};

/// What a rank does that has nothing to do but to wait: after a while it leaves the core to others,
/// and every second it looks whether it waits in vain (`Exchange::expect_no_strays`).
class Patience {
 public:
  explicit Patience(const Exchange& exchange) : exchange_(exchange) {}
  void wait();

 private:
  const Exchange& exchange_;
  int polls_ = 0;
  Time look_at_{};
};

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
