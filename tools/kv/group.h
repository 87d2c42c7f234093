#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>
#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/fd.h"

namespace piracema::tools {

/// A TCP port of the loopback interface that nobody has. Its socket is in `held`: as long as it is
/// there, no other draw gets the port. Errc::io.
Result<std::uint16_t> draw_port(std::vector<Fd>& held);
/// Makes a key pair and writes it to `path`; the public key as hex. Errors: those of write_key.
Result<std::string> new_key(const std::string& path);

/// A group of replicas on this machine, each a process of this program: `piracema kv demo`.
class KvGroup {
 public:
  struct Options {
    bool byzantine = false;
    bool durable = true;
    /// Keys, configuration and what replicas keep; made if need be. A group that is there goes on.
    std::string directory;
    /// The `piracema` command.
    std::string program = "/proc/self/exe";
    /// Where replicas live, each at port 7000; loopback, at ports that are free, if empty.
    std::vector<std::string> hosts = {};
    /// In place of it, for some replicas.
    std::map<std::size_t, std::string> programs = {};
    std::string name = "demo";
    /// 0: three, or four if they may lie. As many faults are borne as they can bear.
    std::size_t replicas = 0;
    /// Where replicas are to be reached, and so how many there are; they are not started here.
    std::vector<std::string> addresses = {};
  };
  /// Errc::config, also if another group is there than is wanted; Errc::io.
  static Result<KvGroup> make(const Options& options);
  /// Keys and configuration of a new group, none of whose replicas is started. Also Errc::config if
  /// there is one.
  static Result<smr::Configuration> lay_out_only(const Options& options);
  KvGroup(KvGroup&&) = default;
  /// SIGKILL to all that live.
  ~KvGroup();

  std::string configuration_file() const { return directory_ + "/group.toml"; }
  std::string client_key() const { return directory_ + "/client.key"; }
  std::string administrator_key() const { return directory_ + "/administrator.key"; }
  const smr::Configuration& configuration() const { return configuration_; }

  /// Errc::config with one line if there is no such replica, or it is not as it has to be for that.
  Result<Done> start(std::size_t replica);
  Result<Done> kill(std::size_t replica);
  Result<Done> freeze(std::size_t replica);
  Result<Done> thaw(std::size_t replica);
  /// A new replica, of the next number and on an empty disk; not a member yet.
  Result<std::size_t> add();
  /// A new replica takes the place of this one, which ends if it lives. Also: timeout.
  Result<Done> replace(std::size_t replica);
  /// Of its process; 0 if it is down.
  pid_t pid(std::size_t replica) const { return members_[replica].pid; }
  /// SIGTERM to all that live; who has not ended after so long is killed.
  void end(std::chrono::seconds patience);
  /// Those that have ended by themselves since the last call.
  std::vector<std::size_t> ended();

 private:
  enum class State { down, up, frozen };
  struct Member {
    pid_t pid = 0;
    State state = State::down;
    /// It has never run.
    bool is_new = false;
  };
  explicit KvGroup(const Options& options)
      : directory_(options.directory), program_(options.program), programs_(options.programs) {}
  Result<Done> make_place(const Options& options, bool& is_new) const;
  Result<Done> lay_out(const Options& options);
  Result<Done> check_wanted(const Options& options) const;
  Result<Done> write_configuration(const smr::Configuration& configuration) const;
  Result<Done> check(std::size_t replica, bool fits, const char* want) const;

  std::string directory_, program_;
  std::map<std::size_t, std::string> programs_;
  smr::Configuration configuration_;
  std::vector<Member> members_;
};

}  // namespace piracema::tools
