#include "jobs/protocol/operations.h"

#include <algorithm>

#include "base/text.h"
#include "wire/messages.h"

namespace piracema::jobs {

namespace {

// Of answers. 1 had no byte that said so, and began with a verdict.
constexpr std::uint8_t answer_version = 9, version_mark = 0x80;

constexpr std::uint32_t slots_max = 65'536, retries_max = 1'000'000, nodes_max = 1'000;

// What nodes said before they told of jobs that stand still, of the room in their homes, and of
// what their machines are like: in logs of before.
constexpr std::uint8_t kind_of_join = 0, kind_of_report = 1;
struct JoinWithoutRoom : Join {
  auto fields() {
    return std::tie(node, incarnation, slots, directory, address, number, lent, kind, site);
  }
};
struct JoinWithoutKind : Join {
  auto fields() { return std::tie(node, incarnation, slots, directory, address, number, lent); }
};
struct ReportWithoutKept : Report {
  auto fields() {
    return std::tie(node, incarnation, number, leaving, lent, has, ended, said, wants, asks, full);
  }
};
struct ReportWithoutRoom : Report {
  auto fields() {
    return std::tie(node, incarnation, number, leaving, lent, has, ended, said, wants, asks);
  }
};

/// The first of them that the bytes are.
template <class... Then>
std::optional<Operation> decode_before(Bytes bytes) {
  std::optional<Operation> found;
  const auto is = [&]<class One>(const Result<One>& one) {
    if (one) found = Operation(*one);
    return one.ok();
  };
  (is(wire::decode<Then>(bytes)) || ...);
  return found;
}

bool is_name_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' || letter == '_';
}

Error usage(std::string message) { return {Errc::usage, std::move(message)}; }

Result<Done> check_part(const std::vector<std::string>& command, const std::string& input) {
  if (command.empty() || command.front().empty()) {
    return usage("want a program to run as a part, found none");
  }
  std::size_t bytes = input.size();
  for (const std::string& word : command) {
    bytes += word.size() + 1;
    if (word.find('\0') != std::string::npos) return usage("a word has a zero byte in it");
  }
  if (bytes <= part_bytes_max) return Done{};
  return usage(concat("want at most ", part_bytes_max, " bytes of a part's words, found ", bytes));
}

}  // namespace

bool is_question(const Operation& operation) {
  return std::holds_alternative<ListJobs>(operation) ||
         std::holds_alternative<ListNodes>(operation) ||
         std::holds_alternative<ListUsers>(operation) ||
         std::holds_alternative<ListEvents>(operation) ||
         std::holds_alternative<AwaitEvents>(operation) ||
         std::holds_alternative<ShowJob>(operation) ||
         std::holds_alternative<AwaitOrders>(operation) ||
         std::holds_alternative<AwaitJob>(operation) || is_beside_order(operation);
}

bool is_beside_order(const Operation& operation) {
  return std::holds_alternative<TellStreams>(operation) ||
         std::holds_alternative<ListStreams>(operation);
}

Buffer encode(const Operation& operation) {
  const wire::Frame frame = wire::message_to_frame(operation);
  Buffer out;
  out.append(&frame.kind, 1);
  out.append(frame.head.data(), frame.head.size());
  return out;
}

Result<Operation> decode_operation(Bytes bytes) {
  if (bytes.empty()) return Error{Errc::corrupt, "an operation without a kind"};
  wire::Frame frame;
  frame.kind = static_cast<std::uint8_t>(bytes.front());
  frame.head = Buffer(bytes.subspan(1));
  auto operation = wire::message_from_frame<Operation>(frame, "operation of a cluster");
  if (operation) return operation;
  std::optional<Operation> before;
  if (frame.kind == kind_of_join) {
    before = decode_before<JoinWithoutRoom, JoinWithoutKind>(frame.head);
  }
  if (frame.kind == kind_of_report)
    before = decode_before<ReportWithoutKept, ReportWithoutRoom>(frame.head);
  return before ? Result<Operation>(*std::move(before)) : operation;
}

Buffer encode(const Answer& answer) {
  const std::uint8_t version = version_mark | answer_version;
  const Buffer body = wire::encode(answer);
  Buffer out;
  out.append(&version, 1);
  out.append(body.data(), body.size());
  return out;
}

Result<Answer> decode_answer(Bytes bytes) {
  if (bytes.empty()) return Error{Errc::corrupt, "an empty answer of a cluster"};
  const auto first = static_cast<std::uint8_t>(bytes.front());
  const int version = (first & version_mark) == 0 ? 1 : first & ~version_mark;
  if (version != answer_version) {
    return Error{Errc::config,
                 concat("want an answer of the control plane of version ", int{answer_version},
                        ", found ", version, ": all machines want the same piracema")};
  }
  return wire::decode<Answer>(bytes.subspan(1));
}

Result<Done> check_name(const std::string& name) {
  const bool right = !name.empty() && name.size() <= name_bytes_max &&
                     std::all_of(name.begin(), name.end(), is_name_letter) && name[0] != '.' &&
                     name[0] != '-';
  if (right) return Done{};
  return usage(concat("want a name of 1 to ", name_bytes_max,
                      " letters, digits, '.', '-' and '_', found '", name.substr(0, name_bytes_max),
                      "'"));
}

bool is_address(const std::string& address) {
  return address.size() <= address_bytes_max && (address.empty() || address[0] != '-') &&
         std::all_of(address.begin(), address.end(),
                     [](char letter) { return is_name_letter(letter) || letter == ':'; });
}

bool is_label(const std::string& kind) {
  return kind.size() <= label_bytes_max && std::all_of(kind.begin(), kind.end(), [](char letter) {
           return letter >= ' ' && letter <= '~';
         });
}

bool is_site(const std::string& site) { return site.empty() || check_name(site).ok(); }

Result<Done> check(const JobSpec& spec) {
  if (auto right = check_name(spec.name); !right) return right;
  if (spec.command.empty() || spec.command.front().empty()) {
    return usage("want a program to run, found none");
  }
  std::size_t bytes = spec.directory.size();
  for (const auto* list : {&spec.command, &spec.environment}) {
    for (const std::string& word : *list) {
      bytes += word.size() + 1;
      if (word.find('\0') != std::string::npos) return usage("a word has a zero byte in it");
    }
  }
  if (bytes > words_bytes_max) {
    return usage(concat("want at most ", words_bytes_max,
                        " bytes of command and environment, found ", bytes));
  }
  for (const std::string& variable : spec.environment) {
    if (variable.find('=') == std::string::npos || variable[0] == '=') {
      return usage(concat("want NAME=value, found '", variable, "'"));
    }
  }
  if (!spec.directory.empty() && spec.directory[0] != '/') {
    return usage(concat("want an absolute path for its directory, found '", spec.directory, "'"));
  }
  if (spec.slots == 0 || spec.slots > slots_max) {
    return usage(concat("want 1 to ", slots_max, " slots, found ", spec.slots));
  }
  if (spec.nodes == 0 || spec.nodes > nodes_max) {
    return usage(concat("want 1 to ", nodes_max, " nodes, found ", spec.nodes));
  }
  if (spec.nodes > 1 && !spec.node.empty()) {
    return usage(
        concat("want one node of a name, found ", spec.nodes, " nodes and '", spec.node, "'"));
  }
  if (spec.retries > retries_max) {
    return usage(concat("want at most ", retries_max, " retries, found ", spec.retries));
  }
  if (!spec.node.empty()) return check_name(spec.node);
  return Done{};
}

Result<Done> check(const AskedPart& part) {
  if (part.part.part == 0 || is_beside(part.part)) {
    return usage(concat("want a part with a number from 1 to ", first_beside - 1, ", found ",
                        part.part.part));
  }
  return check_part(part.command, part.input);
}

Result<Done> check(const RunBeside& beside) { return check_part(beside.command, ""); }

}  // namespace piracema::jobs
