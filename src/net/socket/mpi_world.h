#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "net/rings/byte_channel.h"

struct PiracemaMpi;

namespace piracema::net {

class MpiPath;

/// One end of a channel by MPI, for a Connection: `join` it to the other side's, then use it.
class MpiChannel : public ByteChannel {
 public:
  /// What the other side has to send to.
  virtual std::uint32_t tag() const = 0;
  /// What the other side receives by. Before anything else.
  virtual void join(std::uint32_t rank, std::uint32_t tag) = 0;
};

/// The processes that one mpirun started. MPI is loaded at run time: nothing is linked with it.
///
/// A thread of its own does all that MPI is asked for: it waits for messages by asking again and
/// again, at once while there are some, and every millisecond after a while without any.
class MpiWorld {
 public:
  /// Whether some mpirun has started this process, as its environment says.
  static bool is_here();
  /// Which rank it is, before MPI has begun; 0 if that is not said.
  static std::uint32_t rank_in_environment();

  /// Loads the plug-in for the MPI that mpirun is of, and begins. On the thread that will call
  /// `end`; other ranks do the same. Errc::config when there is no plug-in, or it does not load.
  static Result<std::unique_ptr<MpiWorld>> begin();
  /// Without `end`, leaves MPI as it is: the process is to end with an error, and the world with
  /// it.
  ~MpiWorld();

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }
  bool is_one_host() const { return one_host_; }
  /// Not 0; another one in another world.
  std::uint64_t id() const { return id_; }

  /// Rank 0's text, at all ranks. Collective, before the first channel.
  std::string broadcast(std::string text);

  /// Any thread.
  std::unique_ptr<MpiChannel> open_channel();

  /// Waits until all is sent that channels were given, and taken what was sent to them, a few
  /// seconds at most, and leaves the world. Collective.
  void end();

  /// Ends all ranks, on all hosts. What is under way is lost.
  [[noreturn]] void abort(int code);

 private:
  MpiWorld(void* library, const PiracemaMpi* mpi);

  void loop();
  bool turn();
  bool receive();
  /// Waits that long for what is still to be sent.
  void stop(Time patience);

  void* library_;
  const PiracemaMpi* mpi_;
  std::uint32_t rank_ = 0, size_ = 1;
  bool one_host_ = true;
  std::uint64_t id_ = 0;

  Fd wake_;
  std::atomic<bool> stopping_ = false;
  std::atomic<Time> stop_by_ = Time::max();
  std::thread thread_;

  std::mutex mutex_;
  /// By tag. Of channels that were closed, as long as they have something to send.
  std::map<std::uint32_t, std::shared_ptr<MpiPath>> paths_;
  std::uint32_t last_tag_ = 0;
  /// The thread's own copy.
  std::vector<std::shared_ptr<MpiPath>> busy_;
  bool worked_ = false;
};

}  // namespace piracema::net
