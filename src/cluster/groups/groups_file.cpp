#include "cluster/groups/groups_file.h"

#include <sched.h>

#include <algorithm>
#include <cctype>

#include "base/json_reader.h"
#include "base/parse.h"
#include "base/text.h"
#include "cluster/groups/groups_check.h"

namespace piracema::cluster {

namespace {

constexpr std::size_t groups_max = 4096;
constexpr double batch_items_max = 1 << 20;

Protocol protocol(JsonReader& reader, const JsonValue& value) {
  const std::string given = reader.text(value);
  std::string name = given;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "auto") return Protocol::automatic;
  if (name == "tcp") return Protocol::tcp;
  if (name == "shm") return Protocol::shm;
  if (name == "mpi") return Protocol::mpi;
  reader.fail(value.place, "auto, tcp, shm or mpi", concat("'", given, "'"));
  return Protocol::automatic;
}

// "localhost", "127.0.0.1:4711", "[::1]:4711", "node1:4711".
void endpoint(JsonReader& reader, const JsonValue& value, GroupSettings& group) {
  const std::string where = reader.text(value);
  const std::size_t colon = where.rfind(':');
  const bool has_port = colon != std::string::npos && where.find(':') == colon;
  const bool is_v6 = where.starts_with('[');
  group.host = has_port || is_v6 ? where.substr(0, colon) : where;
  if (is_v6 && where.ends_with(']')) group.host = where;
  if (group.host.size() < where.size()) {
    group.port =
        parse_number<decltype(group.port)>(std::string_view(where).substr(group.host.size() + 1))
            .value_or(0);
    if (group.port == 0) {
      reader.fail(value.place, "HOST or HOST:PORT with a port from 1 to 65535",
                  concat("'", where, "'"));
    }
  }
  const bool plain = std::all_of(group.host.begin(), group.host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '[' ||
           c == ']';
  });
  // A remote shell would take one that begins with '-' for an option.
  if (group.host.empty() || !plain || group.host.starts_with('-')) {
    reader.fail(value.place, "HOST or HOST:PORT", concat("'", where, "'"));
  }
  group.endpoint_place = value.place;
}

// "0,2,4": as the paper has it, a string.
std::vector<std::uint32_t> cores(JsonReader& reader, const JsonValue& value) {
  const std::string list = reader.text(value);
  std::vector<std::uint32_t> all;
  std::istringstream in(list + ",");
  for (std::string one; std::getline(in, one, ',');) {
    const auto core = parse_number<std::uint32_t>(one);
    if (!core) {
      reader.fail(value.place, "numbers of cores with commas", concat("'", list, "'"));
      return all;
    }
    if (*core >= CPU_SETSIZE) reader.fail(value.place, "numbers of cores", concat(*core));
    all.push_back(*core);
  }
  return all;
}

GroupSettings group(JsonReader& reader, const JsonValue& value) {
  GroupSettings group;
  group.place = value.place;
  bool has_endpoint = false;
  for (const auto& member : reader.object(value)) {
    if (member.name == "name") {
      group.name = reader.text(member.value);
      group.place = member.value.place;
    } else if (member.name == "endpoint") {
      has_endpoint = true;
      endpoint(reader, member.value, group);
    } else if (member.name == "batchSize") {
      group.batch_items = reader.count(member.value, batch_items_max);
    } else if (member.name == "messageOTF") {
      group.on_the_way = reader.count(member.value, batch_items_max);
    } else if (member.name == "internalMessageOTF") {
      group.on_the_way_inside = reader.count(member.value, batch_items_max);
    } else if (member.name == "threadMapping") {
      group.cores = cores(reader, member.value);
      group.cores_place = member.value.place;
    } else if (member.name == "protocol") {
      group.protocol = protocol(reader, member.value);
    } else {
      reader.unknown(member,
                     "name, endpoint, batchSize, messageOTF, internalMessageOTF, threadMapping "
                     "or protocol");
    }
  }
  if (group.name.empty()) reader.fail(value.place, "a \"name\" in a group", "none");
  if (!has_endpoint) reader.fail(value.place, "an \"endpoint\" in a group", "none");
  return group;
}

PairSettings pair(JsonReader& reader, const JsonValue& value) {
  PairSettings pair;
  pair.place = value.place;
  for (const auto& member : reader.object(value)) {
    if (member.name == "from") {
      pair.from = reader.text(member.value);
    } else if (member.name == "to") {
      pair.to = reader.text(member.value);
    } else if (member.name == "protocol") {
      pair.protocol = protocol(reader, member.value);
    } else if (member.name == "batchSize") {
      pair.batch_items = reader.count(member.value, batch_items_max);
    } else if (member.name == "messageOTF") {
      pair.on_the_way = reader.count(member.value, batch_items_max);
    } else {
      reader.unknown(member, "from, to, protocol, batchSize or messageOTF");
    }
  }
  if (pair.from.empty() || pair.to.empty()) {
    reader.fail(value.place, "\"from\" and \"to\" in an edge", "less");
  }
  if (!pair.protocol && !pair.batch_items && !pair.on_the_way) {
    reader.fail(value.place, "\"protocol\", \"batchSize\" or \"messageOTF\" in an edge", "none");
  }
  return pair;
}

}  // namespace

Protocol GroupsFile::between(std::size_t a, std::size_t b) const {
  for (const PairSettings& pair : edges) {
    const bool forth = pair.from == groups[a].name && pair.to == groups[b].name;
    const bool back = pair.from == groups[b].name && pair.to == groups[a].name;
    if ((forth || back) && pair.protocol) return *pair.protocol;
  }
  if (groups[a].protocol) return *groups[a].protocol;
  return groups[b].protocol.value_or(protocol);
}

const PairSettings* GroupsFile::edge(std::size_t from, std::size_t to) const {
  const auto found = std::find_if(edges.begin(), edges.end(), [&](const PairSettings& pair) {
    return pair.from == groups[from].name && pair.to == groups[to].name;
  });
  return found == edges.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> GroupsFile::on_the_way(std::size_t from, std::size_t to) const {
  if (from == to) return groups[from].on_the_way_inside;
  const PairSettings* const own = edge(from, to);
  return own != nullptr && own->on_the_way ? own->on_the_way : groups[from].on_the_way;
}

std::optional<std::uint32_t> GroupsFile::batch_items(std::size_t from, std::size_t to) const {
  const PairSettings* const own = edge(from, to);
  return own != nullptr ? own->batch_items : std::nullopt;
}

Result<GroupsFile> parse_groups(const std::string& file, const std::string& text) {
  const auto parsed = parse_json(text);
  if (!parsed) return Error{Errc::config, concat(file, ":", parsed.error().message)};
  const JsonValue& root = *parsed;
  JsonReader reader(file);
  GroupsFile all;
  bool has_groups = false;
  for (const auto& member : reader.object(root)) {
    if (member.name == "protocol") {
      all.protocol = protocol(reader, member.value);
    } else if (member.name == "groups") {
      has_groups = true;
      for (const JsonValue& value : reader.array(member.value))
        all.groups.push_back(group(reader, value));
    } else if (member.name == "edges") {
      for (const JsonValue& value : reader.array(member.value))
        all.edges.push_back(pair(reader, value));
    } else {
      reader.unknown(member, "protocol, groups or edges");
    }
  }
  if (!has_groups || all.groups.empty() || all.groups.size() > groups_max) {
    reader.fail(root.place, concat("\"groups\", 1 to ", groups_max, " of them"),
                has_groups ? concat(all.groups.size()) : "none");
  }
  check_groups_file(reader, all);
  if (!reader.error().empty()) return Error{Errc::config, reader.error()};
  return all;
}

Result<Done> check_cores(const std::string& file, const GroupSettings& group) {
  cpu_set_t ours;
  CPU_ZERO(&ours);
  ::sched_getaffinity(0, sizeof ours, &ours);
  for (const std::uint32_t core : group.cores) {
    if (core < CPU_SETSIZE && CPU_ISSET(core, &ours)) continue;
    return Error{Errc::config, concat(file, ":", to_text(group.cores_place),
                                      ": want cores that this process may use, found ", core)};
  }
  return Done{};
}

}  // namespace piracema::cluster
