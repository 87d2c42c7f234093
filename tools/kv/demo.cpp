#include "tools/kv/demo.h"

#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "tools/failure.h"
#include "tools/kv/group.h"
#include "tools/kv/operations.h"

namespace piracema::tools {

namespace {

constexpr int poll_ms = 100;

std::atomic<bool> interrupted = false;

/// Cuts what comes on standard input into lines.
class Lines {
 public:
  /// nullopt while there is none; `over` at the end of the input.
  std::optional<std::string> next(bool& over) {
    while (true) {
      if (const std::size_t end = text_.find('\n'); end != text_.npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      if (ended_) {
        over = text_.empty();
        return over ? std::nullopt : std::optional(std::exchange(text_, {}));
      }
      pollfd input{STDIN_FILENO, POLLIN, 0};
      if (::poll(&input, 1, poll_ms) <= 0) return std::nullopt;
      char bytes[4'096];
      const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
      if (count <= 0) ended_ = true;
      if (count > 0) text_.append(bytes, static_cast<std::size_t>(count));
    }
  }

 private:
  std::string text_;
  bool ended_ = false;
};

class Demo {
 public:
  Demo(KvGroup group, std::unique_ptr<smr::Client> client, bool json)
      : group_(std::move(group)), client_(std::move(client)), json_(json) {}

  int run() {
    say("kv get, put ... from elsewhere: --config " + group_.configuration_file() + " --key " +
        group_.client_key());
    for (bool over = false; !over && !interrupted;) {
      const auto line = lines_.next(over);
      look_around();
      if (line && !take(*line)) break;
    }
    return 0;
  }

 private:
  void say(const std::string& text) {
    std::FILE* const to = json_ ? stderr : stdout;
    std::fprintf(to, "%s\n", text.c_str());
    std::fflush(to);
  }

  // Who leads, and who is gone.
  void look_around() {
    for (const std::size_t replica : group_.ended()) say(concat("replica ", replica, " has ended"));
    const auto leader = client_->leader();
    if (leader && leader_ != leader) say(concat("replica ", *leader, " leads"));
    leader_ = leader;
  }

  bool take(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty()) return true;
    if (words[0] == "quit" || words[0] == "exit") return false;
    if (words[0] == "help") {
      say(concat(std::string_view(kv_operations_help), group_help));
      return true;
    }
    if (words.size() == 2 && change_group(words[0], words[1])) return true;
    const KvOutcome outcome = kv_operate(*client_, words, json_);
    if (outcome.code == 2) {
      say(concat(outcome.text, group_help));
    } else {
      std::printf("%s\n", outcome.text.c_str());
      std::fflush(stdout);
    }
    return true;
  }

  bool change_group(const std::string& what, const std::string& whom) {
    const auto replica = parse_number<std::size_t>(whom);
    if (!replica) return false;
    Result<Done> done = Done{};
    if (what == "kill") {
      done = group_.kill(*replica);
    } else if (what == "start") {
      done = group_.start(*replica);
    } else if (what == "stop") {
      done = group_.freeze(*replica);
    } else if (what == "cont") {
      done = group_.thaw(*replica);
    } else if (what == "replace") {
      done = group_.replace(*replica);
    } else {
      return false;
    }
    say(done ? concat(what, " ", *replica, ": done") : done.error().message);
    return true;
  }

  static constexpr std::string_view group_help =
      "  kill N, start N          kills a replica's process, starts it again\n"
      "  stop N, cont N           freezes it, lets it go on\n"
      "  replace N                a new replica takes its place\n"
      "  help, quit\n";

  KvGroup group_;
  const std::unique_ptr<smr::Client> client_;
  const bool json_;
  Lines lines_;
  std::optional<std::uint32_t> leader_;
};

}  // namespace

int kv_demo(bool byzantine, bool durable, const std::string& directory, bool json) {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = true; };
    ::sigaction(signal, &action, nullptr);
  }
  std::string place = directory;
  if (place.empty()) {
    place = (std::filesystem::temp_directory_path() / "piracema-kv-XXXXXX").string();
    if (::mkdtemp(place.data()) == nullptr) return fail({Errc::io, with_errno(place)});
  }
  int code = 0;
  {
    auto group = KvGroup::make({byzantine, durable, place});
    if (!group) return fail(group.error());
    auto client =
        smr::Client::open(group->configuration(), {.id = 1, .key_file = group->client_key()});
    if (!client) return fail(client.error());
    code = Demo(*std::move(group), *std::move(client), json).run();
  }
  if (directory.empty()) std::filesystem::remove_all(place);
  return code;
}

}  // namespace piracema::tools
