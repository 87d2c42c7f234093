#pragma once

#include <netinet/in.h>

#include <condition_variable>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "coll/measure/prober.h"
#include "coll/mpi/emulator.h"

namespace piracema::coll::mpi {

/// Runs a Prober on a UDP socket and a thread of its own, so that links are measured while the
/// program computes, whatever thread level its MPI was asked for.
class ProbeThread {
 public:
  /// Opens the socket; its port is in `address`.
  static Result<Fd> open(sockaddr_in& address);

  /// `emulator` may be null; else it outlives this.
  ProbeThread(Fd socket, Rank me, std::vector<sockaddr_in> peers, std::uint64_t token,
              Emulator* emulator);
  ~ProbeThread();

  /// Large data has come from a rank, a megabyte in so many seconds. Any thread.
  void on_transfer(Rank from, double megabyte);
  /// Links as they are known now, and the version of what is known. Any thread.
  LinkTable links(std::size_t* measured = nullptr) const;
  std::uint64_t version() const;
  std::uint64_t packets_sent() const;
  /// What is said of one link: the predictor that speaks, its forecast and its error.
  Forecaster forecaster(Rank peer) const;

 private:
  struct Held {
    Time visible_at;
    std::string bytes;
    bool operator<(const Held& other) const { return visible_at > other.visible_at; }
  };

  void run();
  void receive();
  void send(const std::vector<Packet>& packets);

  const Fd socket_;
  Fd stop_;
  const std::vector<sockaddr_in> peers_;
  Emulator* const emulator_;
  mutable std::mutex mutex_;
  Prober prober_;
  std::priority_queue<Held> held_;
  std::thread thread_;
};

}  // namespace piracema::coll::mpi
