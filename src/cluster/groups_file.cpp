#include "cluster/groups_file.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "flow/groups.h"
#include "flow/placement.h"
#include "flow/plan.h"
#include "net/address.h"

namespace piracema::cluster {

namespace {

constexpr std::size_t groups_max = 4096;
constexpr double batch_items_max = 1 << 20;

/// Reads what a parsed text says. The first thing that is wrong is kept.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  Result<GroupsFile> run(const JsonValue& root) {
    GroupsFile all;
    bool has_groups = false;
    for (const auto& member : object(root)) {
      if (member.name == "protocol") {
        all.protocol = protocol(member.value);
      } else if (member.name == "groups") {
        has_groups = true;
        for (const JsonValue& value : array(member.value)) all.groups.push_back(group(value));
      } else if (member.name == "edges") {
        for (const JsonValue& value : array(member.value)) all.edges.push_back(pair(value));
      } else {
        unknown(member, "protocol, groups or edges");
      }
    }
    if (!has_groups || all.groups.empty() || all.groups.size() > groups_max) {
      fail(root.place, concat("\"groups\", 1 to ", groups_max, " of them"),
           has_groups ? concat(all.groups.size()) : "none");
    }
    check_names(all);
    check_mpi(all);
    if (!error_.empty()) return Error{Errc::config, error_};
    return all;
  }

 private:
  void fail(Place place, const std::string& wanted, const std::string& found) {
    if (error_.empty()) {
      error_ = concat(file_, ":", to_text(place), ": want ", wanted, ", found ", found);
    }
  }
  void unknown(const JsonValue::Member& member, const char* wanted) {
    fail(member.place, wanted, concat("'", member.name, "'"));
  }

  const JsonValue::Object& object(const JsonValue& value) {
    static const JsonValue::Object none;
    if (const auto* members = std::get_if<JsonValue::Object>(&value.value)) return *members;
    fail(value.place, "an object", value.kind());
    return none;
  }
  const JsonValue::Array& array(const JsonValue& value) {
    static const JsonValue::Array none;
    if (const auto* values = std::get_if<JsonValue::Array>(&value.value)) return *values;
    fail(value.place, "an array", value.kind());
    return none;
  }
  std::string text(const JsonValue& value) {
    if (const auto* found = std::get_if<std::string>(&value.value)) {
      if (found->empty()) fail(value.place, "a text", "an empty one");
      return *found;
    }
    fail(value.place, "a string", value.kind());
    return {};
  }
  std::uint32_t count(const JsonValue& value, double max) {
    const auto* number = std::get_if<double>(&value.value);
    const std::string wanted = concat("a whole number from 1 to ", static_cast<std::int64_t>(max));
    if (number == nullptr) {
      fail(value.place, wanted, value.kind());
    } else if (!(*number >= 1 && *number <= max) || std::floor(*number) != *number) {
      fail(value.place, wanted, number_text(*number));
    } else {
      return static_cast<std::uint32_t>(*number);
    }
    return 1;
  }
  static std::string number_text(double number) {
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    return {digits, end};
  }

  Protocol protocol(const JsonValue& value) {
    const std::string given = text(value);
    std::string name = given;
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (name == "auto") return Protocol::automatic;
    if (name == "tcp") return Protocol::tcp;
    if (name == "shm") return Protocol::shm;
    if (name == "mpi") return Protocol::mpi;
    fail(value.place, "auto, tcp, shm or mpi", concat("'", given, "'"));
    return Protocol::automatic;
  }

  GroupSettings group(const JsonValue& value) {
    GroupSettings group;
    group.place = value.place;
    bool has_endpoint = false;
    for (const auto& member : object(value)) {
      if (member.name == "name") {
        group.name = text(member.value);
        group.place = member.value.place;
      } else if (member.name == "endpoint") {
        has_endpoint = true;
        endpoint(member.value, group);
      } else if (member.name == "batchSize") {
        group.batch_items = count(member.value, batch_items_max);
      } else if (member.name == "messageOTF") {
        group.on_the_way = count(member.value, batch_items_max);
      } else if (member.name == "internalMessageOTF") {
        group.on_the_way_inside = count(member.value, batch_items_max);
      } else if (member.name == "threadMapping") {
        group.cores = cores(member.value);
        group.cores_place = member.value.place;
      } else if (member.name == "protocol") {
        group.protocol = protocol(member.value);
      } else {
        unknown(member,
                "name, endpoint, batchSize, messageOTF, internalMessageOTF, threadMapping "
                "or protocol");
      }
    }
    if (group.name.empty()) fail(value.place, "a \"name\" in a group", "none");
    if (!has_endpoint) fail(value.place, "an \"endpoint\" in a group", "none");
    return group;
  }

  // "localhost", "127.0.0.1:4711", "[::1]:4711", "node1:4711".
  void endpoint(const JsonValue& value, GroupSettings& group) {
    const std::string where = text(value);
    const std::size_t colon = where.rfind(':');
    const bool has_port = colon != std::string::npos && where.find(':') == colon;
    const bool is_v6 = where.starts_with('[');
    group.host = has_port || is_v6 ? where.substr(0, colon) : where;
    if (is_v6 && where.ends_with(']')) group.host = where;
    if (group.host.size() < where.size()) {
      const std::string digits = where.substr(group.host.size() + 1);
      const auto [end, wrong] =
          std::from_chars(digits.data(), digits.data() + digits.size(), group.port);
      if (wrong != std::errc{} || end != digits.data() + digits.size() || group.port == 0) {
        fail(value.place, "HOST or HOST:PORT with a port from 1 to 65535", concat("'", where, "'"));
      }
    }
    const bool plain = std::all_of(group.host.begin(), group.host.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '[' ||
             c == ']';
    });
    // A remote shell would take one that begins with '-' for an option.
    if (group.host.empty() || !plain || group.host.starts_with('-')) {
      fail(value.place, "HOST or HOST:PORT", concat("'", where, "'"));
    }
    group.endpoint_place = value.place;
  }

  // "0,2,4": as the paper has it, a string.
  std::vector<std::uint32_t> cores(const JsonValue& value) {
    const std::string list = text(value);
    std::vector<std::uint32_t> all;
    for (const char* at = list.data(); at <= list.data() + list.size();) {
      std::uint32_t core = 0;
      const auto [end, wrong] = std::from_chars(at, list.data() + list.size(), core);
      const bool last = end == list.data() + list.size();
      if (wrong != std::errc{} || (!last && *end != ',')) {
        fail(value.place, "numbers of cores with commas", concat("'", list, "'"));
        return all;
      }
      if (core >= CPU_SETSIZE) fail(value.place, "numbers of cores", concat(core));
      all.push_back(core);
      at = last ? list.data() + list.size() + 1 : end + 1;
    }
    return all;
  }

  PairSettings pair(const JsonValue& value) {
    PairSettings pair;
    pair.place = value.place;
    for (const auto& member : object(value)) {
      if (member.name == "from") {
        pair.from = text(member.value);
      } else if (member.name == "to") {
        pair.to = text(member.value);
      } else if (member.name == "protocol") {
        pair.protocol = protocol(member.value);
      } else if (member.name == "batchSize") {
        pair.batch_items = count(member.value, batch_items_max);
      } else if (member.name == "messageOTF") {
        pair.on_the_way = count(member.value, batch_items_max);
      } else {
        unknown(member, "from, to, protocol, batchSize or messageOTF");
      }
    }
    if (pair.from.empty() || pair.to.empty()) {
      fail(value.place, "\"from\" and \"to\" in an edge", "less");
    }
    if (!pair.protocol && !pair.batch_items && !pair.on_the_way) {
      fail(value.place, "\"protocol\", \"batchSize\" or \"messageOTF\" in an edge", "none");
    }
    return pair;
  }

  void check_names(const GroupsFile& all) {
    for (std::size_t i = 0; i < all.groups.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        if (all.groups[k].name != all.groups[i].name) continue;
        fail(all.groups[i].place, "each group once", concat("'", all.groups[i].name, "' again"));
      }
    }
    for (const PairSettings& pair : all.edges) {
      for (const std::string& name : {pair.from, pair.to}) {
        const bool known =
            std::any_of(all.groups.begin(), all.groups.end(),
                        [&](const GroupSettings& group) { return group.name == name; });
        if (!known && !name.empty()) {
          fail(pair.place, "groups of this file in an edge", concat("'", name, "'"));
        }
      }
      if (pair.from == pair.to) fail(pair.place, "two groups in an edge", "one");
      check_only_one(all, pair);
    }
  }

  // Of two edges that say the same of the same groups one would be for nothing.
  void check_only_one(const GroupsFile& all, const PairSettings& pair) {
    for (const PairSettings* other = all.edges.data(); other != &pair; ++other) {
      const bool forth = other->from == pair.from && other->to == pair.to;
      const bool back = other->from == pair.to && other->to == pair.from;
      if (forth || (back && other->protocol && pair.protocol)) {
        fail(pair.place, "one edge for two groups",
             concat("'", pair.from, "' to '", pair.to, "' again"));
      }
    }
  }

  // mpirun starts all groups or none.
  void check_mpi(const GroupsFile& all) {
    if (all.protocol == Protocol::mpi) return;
    for (const GroupSettings& group : all.groups) {
      if (group.protocol == Protocol::mpi) {
        fail(group.place, "\"protocol\": \"MPI\" for the whole file", "a group that has it alone");
      }
    }
    for (const PairSettings& pair : all.edges) {
      if (pair.protocol == Protocol::mpi) {
        fail(pair.place, "\"protocol\": \"MPI\" for the whole file", "an edge that has it alone");
      }
    }
  }

  const std::string& file_;
  std::string error_;
};

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
  return Reader(file).run(*parsed);
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

Result<std::vector<Slot>> place_groups(const std::string& file, const GroupsFile& groups,
                                       const GraphShape& shape, const std::vector<GroupShape>& made,
                                       const std::map<std::string, double>& busy) {
  const flow::Plan plan = flow::make_plan(shape);
  const auto slots = static_cast<std::uint32_t>(groups.groups.size());
  if (made.empty() && busy.empty()) return flow::place(shape, plan, slots);
  if (made.empty()) {
    const auto work = flow::measured_work(shape, busy);
    if (!work) return work.error();
    return flow::place(shape, plan, slots, *work);
  }
  auto checked = flow::check_groups(shape, plan, made);
  if (!checked) return checked.error();

  std::vector<Slot> slot_of;
  for (const GroupShape& group : made) {
    const auto found = std::find_if(groups.groups.begin(), groups.groups.end(),
                                    [&](const GroupSettings& s) { return s.name == group.name; });
    if (found == groups.groups.end()) {
      return Error{Errc::config, concat(file, ":1:1: want group '", group.name,
                                        "', which the program has, found none of that name")};
    }
    slot_of.push_back(static_cast<Slot>(found - groups.groups.begin()));
  }
  for (const GroupSettings& settings : groups.groups) {
    const bool known = std::any_of(made.begin(), made.end(),
                                   [&](const GroupShape& g) { return g.name == settings.name; });
    if (known) continue;
    std::string names;
    for (const GroupShape& group : made) names += concat(names.empty() ? "" : ", ", group.name);
    return Error{Errc::config,
                 concat(file, ":", to_text(settings.place), ": want a group of the program (",
                        names, "), found '", settings.name, "'")};
  }
  std::vector<Slot> placement;
  for (const std::uint32_t group : *checked) placement.push_back(slot_of[group]);
  return placement;
}

}  // namespace piracema::cluster
