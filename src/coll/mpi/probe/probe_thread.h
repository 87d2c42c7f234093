#pragma once

#include <netinet/in.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "coll/mpi/probe/emulator.h"
#include "coll/mpi/probe/paced_detours.h"
#include "coll/mpi/probe/packet_socket.h"
#include "topology/measure/detours.h"
#include "topology/measure/post.h"
#include "topology/measure/prober.h"

namespace piracema::coll::mpi {

/// Runs a Prober on a UDP socket and a thread of its own, so that links are measured while the
/// program computes, whatever thread level its MPI was asked for. Others may send packets by it,
/// too: its guests.
class ProbeThread {
 public:
  /// Has packets of its own, to and from ranks of the world; called by the thread alone. Packets
  /// may be lost, come twice, and overtake each other.
  class Guest {
   public:
    virtual ~Guest() = default;
    virtual void on_packet(Rank from, std::span<const char> bytes) = 0;
    /// What goes out now.
    virtual std::vector<Packet> due(Time now, const LinkMap&, const Detours&) = 0;
    /// When `due` is to be called again.
    virtual Time next() const = 0;
  };

  /// `socket`, `peers` and `emulator` are PacketSocket's.
  ProbeThread(Fd socket, Rank me, const std::vector<sockaddr_in>& peers, std::uint64_t token,
              Emulator* emulator);
  ~ProbeThread();

  /// A guest stays until it is detached. Its number is the same at all ranks. Any thread.
  void attach(std::uint64_t number, Guest&);
  void detach(std::uint64_t number);
  /// Has the thread ask its guests what is due. Any thread.
  void wake();

  /// Large data has come from a rank, a megabyte in so many seconds. Any thread.
  void on_transfer(Rank from, double megabyte);
  /// Links as they are known now, and the version of what is known. Any thread.
  LinkTable links(std::size_t* measured = nullptr) const;
  std::uint64_t version() const;
  std::uint64_t packets_sent() const;
  /// What is said of one link: the predictor that speaks, its forecast and its error.
  Forecaster forecaster(Rank peer) const;
  /// What this rank knows of its own link to another one; seconds, below 0 where it is not known.
  struct OwnLink {
    double latency = -1, error = -1, megabyte_to = -1, megabyte_from = -1;
    /// When an answer came last; 0: none has.
    Time answered{};
  };
  OwnLink own_link(Rank peer) const;
  /// Below 0 where it would have to be guessed. Any thread.
  double known_latency(Rank a, Rank b) const;
  /// The same of one rank to all those below it. Any thread; `links` holds others up for longer.
  std::vector<double> known_latencies(Rank a) const;

 private:
  void run();
  /// Does what is due, and says when there will be more.
  Time step();
  void on_datagram(std::span<const char> bytes);

  const Fd wake_;
  const Rank me_;
  /// The thread's alone.
  PacketSocket socket_;
  mutable std::mutex mutex_;
  Prober prober_;
  const Post post_;
  bool stopping_ = false;
  std::map<std::uint64_t, Guest*> guests_;
  PacedDetours detours_;
  std::thread thread_;
};

/// The place of a rank of the world among those of a communicator, for guests; nullopt if it has
/// none.
inline std::optional<Rank> rank_among(const std::vector<Rank>& world_ranks, Rank of_world) {
  const auto found = std::find(world_ranks.begin(), world_ranks.end(), of_world);
  if (found == world_ranks.end()) return std::nullopt;
  return static_cast<Rank>(found - world_ranks.begin());
}

}  // namespace piracema::coll::mpi
