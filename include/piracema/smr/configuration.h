#pragma once

#include <piracema/error.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace piracema::smr {

/// What all replicas and clients of one group have to agree on; usually a file, the same for all.
///
///     [group]
///     name = "locks"
///     faults = "crash"          # or "byzantine"
///     f = 1
///
///     [replica.0]
///     address = "10.0.0.1:7000"
///     public_key = "5b1c…"
///
///     [replica.3]
///     address = "10.0.0.4:7000"
///     public_key = "77f2…"
///     added = true              # later, by an administrator
///
///     [client.1]
///     public_key = "90aa…"
///
///     [settings]
///     request_timeout = "1s"
struct Configuration {
  struct Replica {
    /// For ever: another machine in its place is another replica.
    std::uint32_t id = 0;
    /// "10.0.0.1:7000", "[::1]:7000" or "db-1.example.org:7000": where replicas and clients reach
    /// it.
    std::string address;
    /// 64 hexadecimal digits, as `piracema kv keygen` prints them.
    std::string public_key;
    /// Not one of those that the group began with: an administrator adds it, or has added it,
    /// while the group runs. Clients and replicas look for the group here too.
    bool added = false;
  };
  struct Client {
    std::uint64_t id = 0;
    std::string public_key;
  };

  /// Replicas and clients of a group of another name are strangers.
  std::string name;
  /// Faulty replicas may do anything (n >= 3f + 1), or only stop (n >= 2f + 1).
  bool byzantine = false;
  std::uint32_t f = 1;
  /// By ascending id. The group has begun with those that are not `added`; what became of them
  /// its replicas know, and each proves it to whom it meets. So an entry is never taken out as
  /// long as anybody uses the file, and a file that is out of date serves as long as one of its
  /// replicas is still a member.
  std::vector<Replica> replicas;
  /// Clients that were there from the beginning. An administrator admits others, and dismisses
  /// these, while the group runs.
  std::vector<Client> clients;
  /// The public key of who may change replicas and clients; nobody if empty.
  std::string administrator;

  /// A request that is not ordered after this time is forwarded to the leader, after twice this
  /// time another leader is demanded; 50 ms to 1 h. It doubles while that does not help.
  std::chrono::milliseconds request_timeout{1'000};
  /// A leader that was silent for so long is replaced; 20 ms to 1 h. One whose process dies is not
  /// waited for: its connections end.
  std::chrono::milliseconds leader_timeout{600};
  /// Whether a replica's word outlives the crash of its machine: what it votes for is on its disk
  /// before. Without it, it outlives no more than f replicas' crashes at a time.
  bool durable = true;
  /// Threads that execute operations that do not conflict; 0: the thread that orders does it, the
  /// fastest for short operations.
  std::uint32_t execution_threads = 0;
  /// Instances of consensus between two checkpoints.
  std::uint32_t checkpoint_every = 10'000;
  /// Of one operation, or of one reply: at most 16 MiB.
  std::size_t operation_bytes_max = std::size_t{1} << 20;
};

/// Errc::config with one line "FILE:LINE: NAME: what was wanted, what was found"; Errc::not_found,
/// Errc::io. At most 1 MiB.
Result<Configuration> read_configuration(const std::string& file);
/// As `read_configuration` reads; `source` stands for the name of the file.
Result<Configuration> parse_configuration(const std::string& text, const std::string& source);
/// As `parse_configuration` reads it.
std::string to_text(const Configuration& configuration);

/// Errc::config with one line for n too small for f, an identity, address or key that two have, a
/// bad address, a time out of range.
Result<Done> validate(const Configuration& configuration);

}  // namespace piracema::smr
