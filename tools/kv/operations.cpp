#include "tools/kv/operations.h"

#include <piracema/smr/key_value.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

using namespace smr;
using Words = std::vector<std::string>;

const char* const kv_operations_help =
    "  put KEY VALUE [LEASE]    sets; the entry goes when the lease does\n"
    "  get KEY                  reads\n"
    "  del KEY                  removes\n"
    "  cas KEY VERSION VALUE    sets if it is of that version still; 0: if there is none\n"
    "  list [PREFIX]            reads all that begin so\n"
    "  lease SECONDS            makes a lease; its number is what put takes\n"
    "  keep LEASE, revoke LEASE makes it last, ends it\n"
    "  watch KEY [FROM]         what has happened to the key since that version\n";

namespace {

/// An operation, whether it only reads, and the words that it takes.
struct Asked {
  Buffer operation;
  bool reads = false;
};

struct Form {
  std::string_view operation, words;
};
constexpr std::array forms = {Form{"put", "KEY VALUE [LEASE]"},
                              Form{"get", "KEY"},
                              Form{"del", "KEY"},
                              Form{"cas", "KEY VERSION VALUE"},
                              Form{"list", "[PREFIX]"},
                              Form{"lease", "SECONDS"},
                              Form{"keep", "LEASE"},
                              Form{"revoke", "LEASE"},
                              Form{"watch", "KEY [FROM]"}};

std::string usage_of(const Words& words) {
  for (const Form& form : forms) {
    if (form.operation != words.front()) continue;
    std::string found;
    for (std::size_t i = 1; i < words.size(); ++i)
      found += concat(found.empty() ? "" : " ", words[i]);
    return concat("want ", form.operation, " ", form.words, ", found ",
                  found.empty() ? "nothing behind it" : concat("'", found, "'"));
  }
  return concat("want one of\n", kv_operations_help);
}

// nullopt: wrong words.
std::optional<Asked> parse(const Words& words) {
  const std::string& what = words.front();
  const std::size_t count = words.size() - 1;
  const auto number_at = [&](std::size_t i) {
    return i < words.size() ? parse_number<std::uint64_t>(words[i])
                            : std::optional<std::uint64_t>(0);
  };
  if (what == "put" && (count == 2 || count == 3) && number_at(3)) {
    return Asked{kv::encode(kv::Put{.key = words[1], .value = words[2], .lease = *number_at(3)})};
  }
  if (what == "get" && count == 1) return Asked{kv::encode(kv::Get{words[1]}), true};
  if (what == "del" && count == 1) return Asked{kv::encode(kv::Remove{.key = words[1]})};
  if (what == "cas" && count == 3 && number_at(2)) {
    return Asked{
        kv::encode(kv::Put{.key = words[1], .value = words[3], .expected = *number_at(2)})};
  }
  if (what == "list" && count <= 1) {
    return Asked{kv::encode(kv::List{count == 1 ? words[1] : "", ""}), true};
  }
  if (what == "lease" && count == 1 && number_at(1) && *number_at(1) <= 31'536'000) {
    return Asked{kv::encode(kv::Grant{*number_at(1) * 1'000'000'000})};
  }
  if (what == "keep" && count == 1 && number_at(1)) {
    return Asked{kv::encode(kv::KeepAlive{*number_at(1)})};
  }
  if (what == "revoke" && count == 1 && number_at(1)) {
    return Asked{kv::encode(kv::Revoke{*number_at(1)})};
  }
  if (what == "watch" && (count == 1 || count == 2) && number_at(2)) {
    return Asked{kv::encode(kv::Watch{words[1], false, *number_at(2)}), true};
  }
  return std::nullopt;
}

Result<kv::Reply> ask(Client& client, const Asked& asked) {
  const auto answer = asked.reads ? client.invoke_unordered(asked.operation)
                                  : client.invoke_ordered(asked.operation);
  if (!answer) return answer.error();
  return kv::decode_reply(*answer);
}

const char* name_of(kv::Change change) {
  switch (change) {
    case kv::Change::put:
      return "put";
    case kv::Change::removed:
      return "removed";
    case kv::Change::expired:
      return "expired";
  }
  return "?";
}

std::string line(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string as_json(const kv::Reply& reply) {
  nlohmann::ordered_json object{{"status", name_of(reply.status)}, {"index", reply.index}};
  for (const kv::Entry& entry : reply.entries) {
    object["entries"].push_back({{"key", entry.key},
                                 {"value", entry.value},
                                 {"created", entry.created},
                                 {"version", entry.changed},
                                 {"lease", entry.lease}});
  }
  for (const kv::Event& event : reply.events) {
    object["events"].push_back({{"index", event.index},
                                {"change", name_of(event.change)},
                                {"key", event.key},
                                {"value", event.value}});
  }
  if (reply.lease != 0) object["lease"] = reply.lease;
  if (reply.more) object["more"] = true;
  return line(object);
}

std::string as_text(const std::string& what, const kv::Reply& reply) {
  if (reply.status != kv::Status::ok) {
    std::string text = name_of(reply.status);
    if (reply.status == kv::Status::bad_request) {
      text = concat("want keys of 1 to ", kv::key_bytes_max, " bytes, values of at most ",
                    kv::value_bytes_max, " bytes, and leases of a second to a year, found others");
    }
    if (!reply.entries.empty()) text += concat(" (version ", reply.entries[0].changed, ")");
    return text;
  }
  std::string text;
  const auto add = [&](const std::string& words) {
    text += concat(text.empty() ? "" : "\n", words);
  };
  if (what == "get" && reply.entries.size() == 1) return reply.entries[0].value;
  if (what == "list") {
    for (const kv::Entry& entry : reply.entries) {
      add(concat(entry.key, " = ", entry.value, "  (version ", entry.changed, ")"));
    }
    return text.empty() ? "nothing" : text;
  }
  if (what == "watch") {
    for (const kv::Event& event : reply.events) {
      add(kv_event_text(event, false));
    }
    add(concat("watch from ", reply.index));
    return text;
  }
  if (reply.lease != 0) return concat("lease ", reply.lease);
  return concat("ok (version ", reply.index, ")");
}

}  // namespace

std::string kv_event_text(const kv::Event& event, bool json) {
  if (json) {
    return line({{"index", event.index},
                 {"change", name_of(event.change)},
                 {"key", event.key},
                 {"value", event.value}});
  }
  return concat(event.index, ": ", name_of(event.change), " ", event.key,
                event.change == kv::Change::put ? " = " : "", event.value);
}

KvOutcome kv_operate(Client& client, const Words& words, bool json) {
  const auto asked = parse(words);
  if (!asked) return {usage_of(words), 2};
  const auto failed = [&](const std::string& message) {
    return KvOutcome{json ? line({{"status", "error"}, {"message", message}}) : message, 1};
  };
  auto reply = ask(client, *asked);
  // A reply has a bounded part. Who goes on from `index` by a watch misses nothing of what has
  // happened between two of them.
  while (reply && reply->more && words.front() == "list") {
    const kv::List behind{words.size() > 1 ? words[1] : "", reply->entries.back().key};
    auto part = ask(client, {kv::encode(behind), true});
    if (!part) return failed(part.error().message);
    std::ranges::move(part->entries, std::back_inserter(reply->entries));
    reply->more = part->more;
  }
  if (!reply) return failed(reply.error().message);
  return {json ? as_json(*reply) : as_text(words.front(), *reply),
          reply->status == kv::Status::ok ? 0 : 1};
}

}  // namespace piracema::tools
