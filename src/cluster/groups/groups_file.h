#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_text.h"

namespace piracema::cluster {

/// How two groups talk to each other.
enum class Protocol { automatic, tcp, shm, mpi };

/// What a file says of one group (paper 004, Fig. 5); docs/formats/groups.md.
struct GroupSettings {
  std::string name;
  Place place;
  /// Where it runs: a host's name or address, and the port that it listens on, or 0 for any.
  std::string host;
  Place endpoint_place;
  std::uint16_t port = 0;
  std::optional<Protocol> protocol;
  /// Items in a batch that leaves the group; adapted to the load if nothing is said.
  std::optional<std::uint32_t> batch_items;
  /// Batches on their way over a channel to another group, and over one within; adapted if nothing
  /// is said.
  std::optional<std::uint32_t> on_the_way, on_the_way_inside;
  /// Cores that its threads may use; all if nothing is said.
  std::vector<std::uint32_t> cores;
  Place cores_place;
};

/// Between two groups something else holds than what they say of themselves.
struct PairSettings {
  std::string from, to;
  Place place;
  /// Either way.
  std::optional<Protocol> protocol;
  /// From the one to the other, as in GroupSettings.
  std::optional<std::uint32_t> batch_items, on_the_way;
};

struct GroupsFile {
  Protocol protocol = Protocol::automatic;
  std::vector<GroupSettings> groups;
  std::vector<PairSettings> edges;

  /// How these two talk: as their pair says, else as one of them, else as all.
  Protocol between(std::size_t a, std::size_t b) const;
  /// Batches on their way over a channel between these, or within one, if somebody has said.
  std::optional<std::uint32_t> on_the_way(std::size_t from, std::size_t to) const;
  /// Items in a batch, if their edge has said.
  std::optional<std::uint32_t> batch_items(std::size_t from, std::size_t to) const;

 private:
  const PairSettings* edge(std::size_t from, std::size_t to) const;
};

/// `text` is that of `file`. Errc::config, "FILE:LINE:COLUMN: want …, found …", for everything that
/// is not as docs/formats/groups.md has it.
Result<GroupsFile> parse_groups(const std::string& file, const std::string& text);

/// Of a group that runs on this host: that this process may use its cores. Errc::config, as above.
Result<Done> check_cores(const std::string& file, const GroupSettings& group);

}  // namespace piracema::cluster
