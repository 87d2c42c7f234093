#pragma once

#include <piracema/smr/administrator.h>
#include <piracema/smr/configuration.h>
#include <piracema/smr/status.h>
#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/smr/linear/lan.h"

namespace piracema::testing {

/// A group of `piracema kv replica` processes, each with a network and a disk of its own as far as
/// this machine allows it. One thread. Killed with this object.
class Replicas {
 public:
  struct Options {
    bool byzantine = false;
    std::uint32_t checkpoint_every = 1'000;
    /// For keys, configuration, logs and what replicas keep; exists and is empty.
    std::string directory;
    /// The `piracema` command, and one that lies.
    std::string program, liar;
  };
  static Result<Replicas> start(const Options& options, Lan& lan);
  Replicas(Replicas&&) = default;
  ~Replicas();

  const smr::Configuration& configuration() const { return configuration_; }
  std::string client_key() const { return options_.directory + "/client.key"; }
  /// Those that are members now, by ascending number.
  std::vector<std::uint32_t> members() const;
  /// The group began with it, and but one of the others with which it did is left.
  bool is_needed_founder(std::uint32_t replica) const;
  /// Errc::timeout with one line about each member if there is none for so long.
  Result<std::uint32_t> leader(std::chrono::seconds patience) const;
  /// The last instance that anybody knows to be decided.
  std::uint64_t decided() const;
  /// Waits until each member is connected to all others and knows all that was decided when it
  /// was called. Errc::timeout with one line about those that do not.
  Result<Done> settle(std::chrono::seconds patience) const;

  /// What each member says of itself, in one line for people.
  std::string now_as_text() const;

  // ---- faults; each process is as it has to be for that
  void kill(std::uint32_t replica);
  void stop(std::uint32_t replica);
  void go_on(std::uint32_t replica);
  Result<Done> start_again(std::uint32_t replica);
  /// In its place, until it is killed, one that lies.
  Result<Done> start_liar(std::uint32_t replica);
  void lose_disk(std::uint32_t replica);
  /// A new replica, of the next number and on an empty disk, takes the place of this one, which
  /// then ends.
  Result<Done> replace(std::uint32_t replica);
  /// All of them lose everything, and begin as if for the first time.
  Result<Done> begin_anew();
  /// Those that have ended by themselves.
  std::vector<std::uint32_t> ended() const;

 private:
  struct Replica {
    pid_t pid = 0;
    bool has_run = false;
  };
  Replicas(const Options& options, Lan& lan) : options_(options), lan_(&lan) {}
  Result<Done> lay_out();
  Result<smr::Configuration::Replica> new_replica(std::uint32_t number, bool added);
  Result<Done> launch(std::uint32_t replica, const std::string& program);
  Result<Done> write_configuration() const;
  smr::GroupStatus status() const;
  std::string place_of(std::uint32_t replica) const {
    return options_.directory + "/replica-" + std::to_string(replica);
  }

  Options options_;
  Lan* lan_;
  smr::Configuration configuration_;
  std::map<std::uint32_t, Replica> replicas_;
};

}  // namespace piracema::testing
