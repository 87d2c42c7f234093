#include "cluster/worker_environment.h"

#include <cstdlib>
#include <sstream>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {

std::string text_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <class N>
Result<N> number_of(const char* name, N otherwise) {
  const std::string text = text_of(name);
  if (text.empty()) return otherwise;
  const auto value = parse_number<N>(text);
  if (!value) return Error{Errc::config, concat(name, ": want a number, found '", text, "'")};
  return *value;
}

Result<std::vector<std::uint32_t>> numbers_of(const char* name) {
  const std::string text = text_of(name);
  std::vector<std::uint32_t> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) {
    const auto number = parse_number<std::uint32_t>(one);
    if (!number) {
      return Error{Errc::config, concat(name, ": want numbers with commas, found '", text, "'")};
    }
    all.push_back(*number);
  }
  return all;
}

Result<net::SharedMemory> shared_memory_of(const std::string& transport) {
  if (transport.empty() || transport == "auto") return net::SharedMemory::allowed;
  if (transport == "shm") return net::SharedMemory::required;
  if (transport == "tcp") return net::SharedMemory::never;
  return Error{Errc::config,
               concat("PIRACEMA_TRANSPORT: want auto, shm, tcp or mpi, found '", transport, "'")};
}

Result<std::map<Slot, std::uint32_t>> limits_of(const char* name) {
  std::map<Slot, std::uint32_t> all;
  std::istringstream in(text_of(name));
  for (std::string one; std::getline(in, one, ',');) {
    const std::string_view text = one;
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto slot = parse_number<Slot>(text.substr(0, colon));
    const auto limit = parse_number<std::uint32_t>(text.substr(std::min(colon + 1, text.size())));
    if (!slot || limit.value_or(0) == 0) {
      return Error{Errc::config, concat(name, ": want SLOT:COUNT, found '", one, "'")};
    }
    all[*slot] = *limit;
  }
  return all;
}

Result<std::map<Slot, net::SharedMemory>> peers_of(const std::string& text) {
  std::map<Slot, net::SharedMemory> all;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) {
    const std::size_t colon = one.find(':');
    const auto slot = parse_number<Slot>(std::string_view(one).substr(0, colon));
    if (!slot || colon == one.npos) {
      return Error{Errc::config, concat("PIRACEMA_PEERS: want SLOT:TRANSPORT, found '", one, "'")};
    }
    auto how = shared_memory_of(one.substr(colon + 1));
    if (!how) return how.error();
    all[*slot] = *how;
  }
  return all;
}

}  // namespace

Result<std::optional<WorkerEnvironment>> worker_environment() {
  WorkerEnvironment environment;
  std::istringstream coordinators(text_of("PIRACEMA_COORDINATOR"));
  for (std::string one; std::getline(coordinators, one, ',');) {
    environment.coordinators.push_back(one);
  }
  if (environment.coordinators.empty()) return std::optional<WorkerEnvironment>{};
  environment.coordinator_file = text_of("PIRACEMA_COORDINATOR_FILE");
  environment.token = text_of("PIRACEMA_TOKEN");
  environment.snapshots = text_of("PIRACEMA_SNAPSHOTS");
  environment.mark = text_of("PIRACEMA_MARK");
  environment.dead_letters = text_of("PIRACEMA_DEAD_LETTERS");
  const auto slot = number_of<Slot>("PIRACEMA_SLOT", 0);
  if (!slot) return slot.error();
  const auto incarnation = number_of<std::uint32_t>("PIRACEMA_INCARNATION", 0);
  if (!incarnation) return incarnation.error();
  const auto heartbeat = number_of<std::uint32_t>("PIRACEMA_HEARTBEAT_MS", 250);
  if (!heartbeat) return heartbeat.error();
  const auto wait = number_of<std::uint32_t>("PIRACEMA_COORDINATOR_WAIT_MS", 0);
  if (!wait) return wait.error();
  environment.coordinator_wait = std::chrono::milliseconds(*wait);
  const auto at_work_fd = number_of<int>("PIRACEMA_AT_WORK_FD", -1);
  if (!at_work_fd) return at_work_fd.error();
  const std::string transport = text_of("PIRACEMA_TRANSPORT");
  environment.plain = text_of("PIRACEMA_PLAIN") == "true";
  environment.by_mpi = transport == "mpi";
  if (environment.by_mpi) {
    auto incarnations = numbers_of("PIRACEMA_INCARNATIONS");
    if (!incarnations) return incarnations.error();
    environment.incarnations = *std::move(incarnations);
  }
  // One mpirun has one environment for all ranks.
  const auto own = [&environment](const char* name) {
    return environment.by_mpi ? concat(name, "_", net::MpiWorld::rank_in_environment())
                              : std::string(name);
  };
  auto cores = numbers_of(own("PIRACEMA_CORES").c_str());
  if (!cores) return cores.error();
  environment.cores = *std::move(cores);
  if (const std::string text = text_of("PIRACEMA_PLACE"); !text.empty()) {
    std::istringstream in(text);
    char slash = 0;
    if (!(in >> environment.place >> slash >> environment.places) || slash != '/' ||
        environment.place >= environment.places) {
      return Error{Errc::config, concat("PIRACEMA_PLACE: want INDEX/COUNT, found '", text, "'")};
    }
  }
  environment.topology = text_of("PIRACEMA_TOPOLOGY");
  const auto batch_items = number_of<std::uint32_t>(own("PIRACEMA_BATCH").c_str(), 0);
  if (!batch_items) return batch_items.error();
  environment.batch_items = *batch_items;
  auto on_the_way = limits_of(own("PIRACEMA_ON_THE_WAY").c_str());
  if (!on_the_way) return on_the_way.error();
  environment.on_the_way = *std::move(on_the_way);
  auto batches = limits_of(own("PIRACEMA_BATCHES").c_str());
  if (!batches) return batches.error();
  environment.batches = *std::move(batches);
  environment.listen = text_of(own("PIRACEMA_LISTEN").c_str());
  auto peers = peers_of(text_of(own("PIRACEMA_PEERS").c_str()));
  if (!peers) return peers.error();
  environment.peers = *std::move(peers);
  const auto shared_memory = shared_memory_of(environment.by_mpi ? "tcp" : transport);
  if (!shared_memory) return shared_memory.error();
  if (*heartbeat == 0) {
    return Error{Errc::config, "PIRACEMA_HEARTBEAT_MS: want at least 1, found 0"};
  }
  environment.slot = *slot;
  environment.incarnation = *incarnation;
  environment.heartbeat = std::chrono::milliseconds(*heartbeat);
  environment.at_work_fd = *at_work_fd;
  environment.shared_memory = *shared_memory;
  return std::optional(environment);
}

}  // namespace piracema::cluster
