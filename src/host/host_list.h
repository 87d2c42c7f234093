#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/host_names.h"

namespace piracema::cluster {

/// The hosts of a job, in the order in which a user or a scheduler names them, and how many
/// processes each is to have. No name is looked up here.
struct HostList {
  struct Host {
    HostName host;
    std::uint32_t places = 1;
    /// Hosts of one site have fast links between them; empty is one as well.
    std::string site = {};
  };
  std::vector<Host> hosts;
  /// Somebody has said how many places there are. Else each host has as many as are wanted of it.
  bool counted = false;
  /// And no more may be taken. A scheduler does not mind: processes that wait need no processor.
  bool limited = false;
  /// For people: "--hosts", "Slurm job 17".
  std::string origin;
  /// How such hosts are reached where the user says nothing; empty: as others.
  std::vector<std::string> rsh = {};

  std::uint64_t places() const;
  /// "node1 (2), node2 (2)", or without numbers.
  std::string text() const;
};

/// As mpirun's -H has it: "a,b:2,c=10.0.0.3". A name with one colon and a number behind it has so
/// many places, the others one. Errc::usage.
Result<HostList> parse_host_list(const std::string& text);

/// A file as mpirun takes it, a host a line: "a", "a slots=2" (Open MPI; `max_slots` is passed
/// over) or "a:2" (MPICH), and "site=NAME" behind it, which mpirun does not know. What follows # is
/// for people; a host that is named again has the sum, and the site that is named first.
/// `file` names it in errors, with the line. Errc::config.
Result<HostList> parse_hostfile(const std::string& file, std::string_view text);
/// The same of the file itself, of at most 16 MiB.
Result<HostList> read_hostfile(const std::string& file);

/// Those that a scheduler has given to this process: of Slurm by its variables, of PBS and OAR by
/// the file that theirs names, a line for each place. Nothing where there is no allocation, or
/// where srun has started this process. `variable` is as std::getenv. Errc::config names the
/// variable or the file, and what is wrong with it.
using Variable = std::function<const char*(const char*)>;
Result<std::optional<HostList>> allocated_hosts(const Variable& variable);

/// Slurm's short form: "n[1-3,07],login" is n1, n2, n3, n07, login. Errc::config.
Result<std::vector<std::string>> expand_names(std::string_view text);

/// The site of each host of the list, equal ones with equal numbers.
std::vector<std::uint32_t> numbers_of_sites(const HostList& list);

/// Which host each of so many processes runs on, as places in the list: in turns, or where places
/// are counted host by host, in several rounds if need be. Errc::config where that is more than may
/// be.
Result<std::vector<std::size_t>> fill(const HostList& list, std::uint32_t processes);

}  // namespace piracema::cluster
