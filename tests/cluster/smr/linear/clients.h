#pragma once

#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "cluster/smr/linear/recorder.h"
#include "cluster/smr/linear/service.h"

namespace piracema::testing {

/// How all clients reach the group, and where they write down what they see.
struct ClientPlace {
  smr::Configuration configuration;
  std::string key_file;
  Recorder* recorder;
  Service* service;
};

/// Clients in a closed loop, each a thread with a connection of its own to each replica: they read,
/// put, create, swap and remove what is under the first `keys` keys of the recorder. Some wait for
/// an answer for no longer than a fifth of a second.
class Clients {
 public:
  struct Options {
    std::size_t count = 8, keys = 32;
    std::uint64_t seed = 1;
    /// Operations a second of all of them; 0: as fast as they are answered.
    double rate = 0;
  };
  Clients(const ClientPlace& place, const Options& options);
  ~Clients() { stop(); }
  void stop();
  /// Every second one goes away in the midst of an operation, and another one comes.
  void change_some() { generation_ += 1; }

 private:
  class One;
  void run(std::size_t number);

  const ClientPlace place_;
  const Options options_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::uint64_t> generation_ = 0;
  std::vector<std::thread> threads_;
};

/// The number that a value begins with; what follows is there for its size.
std::uint64_t number_of(const std::string& value);

}  // namespace piracema::testing
