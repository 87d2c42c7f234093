#include <piracema/smr/configuration.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "base/text.h"
#include "smr/configuration/configuration_check.h"
#include "smr/configuration/settings_file.h"
#include "smr/configuration/settings_values.h"
#include "store/disk/files.h"

namespace piracema::smr {

namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t configuration_bytes_max = 1 << 20;

Error wrong(std::string message) { return {Errc::config, std::move(message)}; }

/// Takes a file in, setting by setting.
class Reading {
 public:
  Result<Done> take(const Setting& setting);
  Result<Configuration> finish();

  /// Where something was said, for what only shows at the end.
  std::map<std::string, std::size_t> lines;

 private:
  Result<Done> group(const Setting&);
  Result<Done> replica(const Setting&, std::uint32_t id);
  Result<Done> client(const Setting&, std::uint64_t id);
  Result<Done> settings(const Setting&);

  Configuration configuration_;
  std::map<std::uint32_t, Configuration::Replica> replicas_;
  std::map<std::uint64_t, Configuration::Client> clients_;
};

Result<Done> unknown(std::string_view wanted) { return wrong(concat("unknown; want ", wanted)); }

Result<Done> Reading::take(const Setting& setting) {
  lines.emplace(setting.section, setting.line);
  lines.emplace(concat(setting.section, ".", setting.name), setting.line);
  const std::size_t dot = setting.section.find('.');
  const std::string kind = setting.section.substr(0, dot);
  const std::string number = dot == std::string::npos ? "" : setting.section.substr(dot + 1);
  if (setting.section == "group") return group(setting);
  if (setting.section == "settings") return settings(setting);
  if (kind == "replica") {
    std::uint32_t id = 0;
    if (auto read = read_number(number, 0u, 1'000'000u, id); !read) return read;
    return replica(setting, id);
  }
  if (kind == "client") {
    std::uint64_t id = 0;
    const auto most = std::numeric_limits<std::uint64_t>::max();
    if (auto read = read_number(number, std::uint64_t{1}, most, id); !read) return read;
    return client(setting, id);
  }
  return unknown("a section [group], [replica.N], [client.N] or [settings]");
}

Result<Done> Reading::group(const Setting& setting) {
  if (setting.name == "name") {
    configuration_.name = setting.value;
  } else if (setting.name == "administrator") {
    configuration_.administrator = setting.value;
  } else if (setting.name == "f") {
    return read_number(setting.value, 0u, 40u, configuration_.f);
  } else if (setting.name == "faults") {
    configuration_.byzantine = setting.value == "byzantine";
    if (setting.value != "byzantine" && setting.value != "crash") {
      return wrong(concat("want \"crash\" or \"byzantine\", found '", setting.value, "'"));
    }
  } else {
    return unknown("name, faults, f or administrator");
  }
  return Done{};
}

Result<Done> Reading::replica(const Setting& setting, std::uint32_t id) {
  auto& replica = replicas_[id];
  replica.id = id;
  if (setting.name == "address") {
    replica.address = setting.value;
  } else if (setting.name == "public_key") {
    replica.public_key = setting.value;
  } else if (setting.name == "added") {
    return read_flag(setting.value, replica.added);
  } else {
    return unknown("address, public_key or added");
  }
  return Done{};
}

Result<Done> Reading::client(const Setting& setting, std::uint64_t id) {
  if (setting.name != "public_key") return unknown("public_key");
  clients_[id] = {id, setting.value};
  return Done{};
}

Result<Done> Reading::settings(const Setting& setting) {
  auto& c = configuration_;
  const std::string& value = setting.value;
  if (setting.name == "request_timeout") {
    return read_time(value, milliseconds(50), c.request_timeout);
  }
  if (setting.name == "leader_timeout") return read_time(value, milliseconds(20), c.leader_timeout);
  if (setting.name == "durable") return read_flag(value, c.durable);
  if (setting.name == "execution_threads") return read_number(value, 0u, 256u, c.execution_threads);
  if (setting.name == "checkpoint_every") {
    return read_number(value, checkpoint_every_min, checkpoint_every_max, c.checkpoint_every);
  }
  if (setting.name == "operation_bytes_max") {
    return read_number(value, std::size_t{1}, std::size_t{16} << 20, c.operation_bytes_max);
  }
  return unknown(
      "request_timeout, leader_timeout, durable, execution_threads, checkpoint_every or "
      "operation_bytes_max");
}

Result<Configuration> Reading::finish() {
  for (auto& [id, replica] : replicas_) configuration_.replicas.push_back(std::move(replica));
  for (auto& [id, client] : clients_) configuration_.clients.push_back(std::move(client));
  return std::move(configuration_);
}

std::string time_text(milliseconds time) { return concat("\"", time.count(), "ms\""); }

}  // namespace

Result<Configuration> parse_configuration(const std::string& text, const std::string& source) {
  const auto settings = parse_settings(text, source);
  if (!settings) return settings.error();
  Reading reading;
  for (const Setting& setting : *settings) {
    if (auto taken = reading.take(setting); !taken) {
      return wrong(concat(source, ":", setting.line, ": ", setting.section,
                          setting.section.empty() ? "" : ".", setting.name, ": ",
                          taken.error().message));
    }
  }
  auto configuration = reading.finish();
  if (const auto found = check(*configuration)) {
    // The line of what is wrong, or of the section that lacks it.
    auto at = reading.lines.find(found->name);
    if (at == reading.lines.end()) {
      at = reading.lines.find(found->name.substr(0, found->name.rfind('.')));
    }
    const std::string line = at == reading.lines.end() ? "" : concat(":", at->second);
    return wrong(concat(source, line, ": ", found->name, ": ", found->what));
  }
  return configuration;
}

Result<Configuration> read_configuration(const std::string& file) {
  const auto bytes = store::read_file(file, configuration_bytes_max);
  if (!bytes) {
    const Errc code = bytes.error().code == Errc::corrupt ? Errc::config : bytes.error().code;
    return Error{code, bytes.error().message};
  }
  return parse_configuration(std::string(as_text(*bytes)), file);
}

std::string to_text(const Configuration& c) {
  std::string text = concat("[group]\nname = \"", c.name, "\"\nfaults = \"",
                            c.byzantine ? "byzantine" : "crash", "\"\nf = ", c.f, "\n");
  if (!c.administrator.empty()) text += concat("administrator = \"", c.administrator, "\"\n");
  for (const auto& replica : c.replicas) {
    text +=
        concat("\n[replica.", replica.id, "]\naddress = \"", replica.address, "\"\npublic_key = \"",
               replica.public_key, "\"\n", replica.added ? "added = true\n" : "");
  }
  for (const auto& client : c.clients) {
    text += concat("\n[client.", client.id, "]\npublic_key = \"", client.public_key, "\"\n");
  }
  text += concat("\n[settings]\nrequest_timeout = ", time_text(c.request_timeout),
                 "\nleader_timeout = ", time_text(c.leader_timeout),
                 "\ndurable = ", c.durable ? "true" : "false",
                 "\nexecution_threads = ", c.execution_threads,
                 "\ncheckpoint_every = ", c.checkpoint_every,
                 "\noperation_bytes_max = ", c.operation_bytes_max, "\n");
  return text;
}

}  // namespace piracema::smr
