#include "tools/cluster/layout.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "base/text.h"
#include "jobs/protocol/operations.h"
#include "net/socket/host_port.h"
#include "store/disk/files.h"
#include "tools/cluster/cluster_file.h"
#include "tools/kv/group.h"

namespace piracema::tools {

namespace {

constexpr std::uint64_t file_bytes_max = std::uint64_t{1} << 20;
// Reports and answers hold what many jobs have said.
constexpr std::size_t operation_bytes = std::size_t{8} << 20;

Error usage(std::string message) { return {Errc::usage, std::move(message)}; }

bool has_replica(const ClusterLayout::Wanted& node) {
  return node.address.find(':') != std::string::npos;
}

nlohmann::ordered_json json_of(const ClusterLayout::Wanted& node, std::uint64_t client) {
  nlohmann::ordered_json home{{"name", node.name}, {"client", client}};
  if (!has_replica(node) && !node.address.empty()) home["address"] = node.address;
  return home;
}

Result<Done> write_home(const std::string& home, const nlohmann::ordered_json& json) {
  return write_file(home + "/node.json", json.dump(2) + "\n");
}

Result<Done> check(const std::vector<ClusterLayout::Wanted>& nodes) {
  std::set<std::string> names, addresses;
  std::size_t members = 0;
  for (const auto& node : nodes) {
    if (auto right = jobs::check_name(node.name); !right) return right;
    if (!names.insert(node.name).second) {
      return usage(concat("want a name for each node, found '", node.name, "' twice"));
    }
    if (!has_replica(node)) {
      if (jobs::is_address(node.address)) continue;
      return usage(concat("want NAME, NAME=HOST or NAME=HOST:PORT, found '", node.address, "'"));
    }
    members += 1;
    if (const auto address = net::HostPort::parse(node.address); !address) return address.error();
    if (!addresses.insert(node.address).second) {
      return usage(concat("want an address for each replica, found '", node.address, "' twice"));
    }
  }
  if (members % 2 == 1 && members <= 7) return Done{};
  return usage(
      concat("want 1, 3, 5 or 7 nodes with an address (NAME=HOST:PORT), which hold the "
             "control plane, found ",
             members));
}

}  // namespace

ClusterLayout::Wanted ClusterLayout::Wanted::parse(const std::string& text) {
  const auto at = text.find('=');
  return {text.substr(0, at), at == std::string::npos ? "" : text.substr(at + 1)};
}

Result<NewClient> ClusterLayout::prepare(const std::string& directory, const Wanted& node) {
  if (auto right = jobs::check_name(node.name); !right) return right.error();
  if (has_replica(node) || !jobs::is_address(node.address)) {
    return usage(concat("want NAME or NAME=HOST: a node that comes later holds no replica of the ",
                        "control plane; found '", node.address, "'"));
  }
  const std::string home = concat(directory, "/", node.name);
  if (std::filesystem::exists(home + "/node.json")) {
    return Error{Errc::config, concat(home, ": there is a node of that name already")};
  }
  const auto file = ClusterFile::read(directory);
  if (!file) return file.error();
  if (auto folder = make_folder(home); !folder) return folder.error();
  return file->draw(home + "/node.key");
}

Result<Done> ClusterLayout::add(const std::string& directory, const Wanted& node,
                                const NewClient& added) {
  auto file = ClusterFile::read(directory);
  if (!file) return file.error();
  const std::string home = concat(directory, "/", node.name);
  if (auto done = file->add(added); !done) return done;
  if (auto done = file->copy_to(home); !done) return done;
  return write_home(home, json_of(node, added.client));
}

Result<Done> ClusterLayout::remove(const std::string& directory, const std::string& name,
                                   std::uint64_t client) {
  auto file = ClusterFile::read(directory);
  if (!file) return file.error();
  if (auto done = file->remove(client); !done) return done;
  for (const char* one : {"node.key", "node.json"}) {
    const std::string path = concat(directory, "/", name, "/", one);
    std::error_code failed;
    std::filesystem::remove(path, failed);
    if (failed) return Error{Errc::io, concat(path, ": ", failed.message())};
  }
  return Done{};
}

Result<Done> ClusterLayout::make(const std::string& directory, const std::vector<Wanted>& nodes) {
  if (auto right = check(nodes); !right) return right;
  const std::string file = directory + "/cluster.toml";
  if (std::filesystem::exists(file)) {
    return Error{Errc::config, concat(file, ": there is a cluster already")};
  }
  // Accounts that jobs run as go through it to what is theirs, and see no list of it.
  if (::mkdir(directory.c_str(), 0711) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(directory)};
  }
  smr::Configuration made;
  made.name = "cluster";
  made.operation_bytes_max = operation_bytes;
  std::uint64_t client = jobs::first_client;
  const auto user = new_key(directory + "/user.key");
  if (!user) return user.error();
  made.clients.push_back({client, *user});
  const auto administrator = new_key(directory + "/administrator.key");
  if (!administrator) return administrator.error();
  made.administrator = *administrator;
  std::vector<nlohmann::ordered_json> homes;
  for (const Wanted& node : nodes) {
    const std::string home = concat(directory, "/", node.name);
    if (auto folder = make_folder(home); !folder) return folder;
    const auto key = new_key(home + "/node.key");
    if (!key) return key.error();
    made.clients.push_back({++client, *key});
    homes.push_back(json_of(node, client));
    if (!has_replica(node)) continue;
    const auto id = static_cast<std::uint32_t>(made.replicas.size());
    const auto replica = new_key(home + "/replica.key");
    if (!replica) return replica.error();
    made.replicas.push_back({id, node.address, *replica});
    homes.back()["replica"] = id;
  }
  made.f = static_cast<std::uint32_t>((made.replicas.size() - 1) / 2);
  if (auto right = smr::validate(made); !right) return right;
  const std::string text = smr::to_text(made);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string home = concat(directory, "/", nodes[i].name);
    if (auto done = write_file(home + "/cluster.toml", text); !done) return done;
    if (auto done = write_home(home, homes[i]); !done) return done;
  }
  // Last: with it the cluster is there.
  return write_file(file, text);
}

Result<NodeHome> NodeHome::read(const std::string& home) {
  NodeHome node;
  auto configuration = smr::read_configuration(home + "/cluster.toml");
  if (!configuration) return configuration.error();
  node.configuration = *std::move(configuration);
  const std::string file = home + "/node.json";
  const auto bytes = store::read_file(file, file_bytes_max);
  if (!bytes) return bytes.error();
  try {
    const auto json = nlohmann::json::parse(as_text(*bytes));
    node.name = json.at("name").get<std::string>();
    node.client = json.at("client").get<std::uint64_t>();
    if (json.contains("replica")) node.replica = json.at("replica").get<std::uint32_t>();
    if (json.contains("address")) node.address = json.at("address").get<std::string>();
  } catch (const nlohmann::json::exception& wrong) {
    return Error{Errc::config, concat(file, ": ", wrong.what())};
  }
  for (const auto& replica : node.configuration.replicas) {
    const auto place = net::HostPort::parse(replica.address);
    if (node.replica == replica.id && place) node.address = place->host;
  }
  if (auto right = jobs::check_name(node.name); !right) {
    return Error{Errc::config, concat(file, ": ", right.error().message)};
  }
  return node;
}

}  // namespace piracema::tools
