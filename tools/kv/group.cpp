#include "tools/kv/group.h"

#include <netinet/in.h>
#include <piracema/smr/administrator.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "net/socket/host_port.h"
#include "smr/link/keys.h"
#include "store/disk/files.h"

namespace piracema::tools {

using namespace smr;

namespace {

Error config(std::string message) { return {Errc::config, std::move(message)}; }

}  // namespace

Result<std::uint16_t> draw_port(std::vector<Fd>& held) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return Error{Errc::io, with_errno("drawing a port")};
  }
  held.push_back(std::move(socket));
  return ntohs(address.sin_port);
}

Result<std::string> new_key(const std::string& path) {
  const KeyPair key = KeyPair::generate();
  if (auto written = write_key(path, key); !written) return written.error();
  return hex_of(key.public_key());
}

Result<KvGroup> KvGroup::make(const Options& options) {
  KvGroup group(options);
  bool is_new = false;
  if (auto made = group.make_place(options, is_new); !made) return made.error();
  if (is_new) {
    if (auto done = group.lay_out(options); !done) return done.error();
  }
  auto read = read_configuration(group.configuration_file());
  if (!read) return read.error();
  group.configuration_ = *std::move(read);
  if (auto right = group.check_wanted(options); !right) return right.error();
  group.members_.resize(group.configuration_.replicas.size());
  for (Member& member : group.members_) member.is_new = is_new;
  for (std::size_t i = 0; i < group.members_.size(); ++i) {
    if (auto started = group.start(i); !started) return started.error();
  }
  return group;
}

Result<Configuration> KvGroup::lay_out_only(const Options& options) {
  KvGroup group(options);
  bool is_new = false;
  if (auto made = group.make_place(options, is_new); !made) return made.error();
  if (!is_new) {
    return config(concat(group.configuration_file(), ": there is a group already"));
  }
  if (auto done = group.lay_out(options); !done) return done.error();
  return read_configuration(group.configuration_file());
}

Result<Done> KvGroup::make_place(const Options& options, bool& is_new) const {
  if (::mkdir(options.directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(options.directory)};
  }
  struct stat status {};
  is_new = ::stat(configuration_file().c_str(), &status) != 0;
  if (is_new && errno != ENOENT) return Error{Errc::io, with_errno(configuration_file())};
  return Done{};
}

// What is wanted and is there already goes on; what is not cannot be made of it.
Result<Done> KvGroup::check_wanted(const Options& options) const {
  const std::size_t found = configuration_.replicas.size();
  if (options.replicas != 0 && options.replicas != found) {
    return config(concat(configuration_file(), ": want a group of ", options.replicas,
                         " replicas, found one of ", found));
  }
  if (options.replicas != 0 && options.byzantine && !configuration_.byzantine) {
    return config(concat(configuration_file(),
                         ": want a group whose replicas may lie, found one where they only stop"));
  }
  return Done{};
}

Result<Done> KvGroup::lay_out(const Options& options) {
  Configuration made;
  made.name = options.name;
  made.byzantine = options.byzantine;
  made.durable = options.durable;
  std::vector<Fd> held;
  std::size_t count = options.byzantine ? 4 : 3;
  if (options.replicas != 0) count = options.replicas;
  if (!options.addresses.empty()) count = options.addresses.size();
  const std::size_t for_each = options.byzantine ? 3 : 2, least = for_each + 1;
  if (count < least) {
    return config(concat("want at least ", least, " replicas, of which one may ",
                         options.byzantine ? "lie" : "stop", ", found ", count));
  }
  made.f = static_cast<std::uint32_t>((count - 1) / for_each);
  // Before anything is made that the next try finds.
  std::set<std::string> different;
  for (const std::string& address : options.addresses) {
    if (const auto right = net::HostPort::parse(address); !right) return right.error();
    if (!different.insert(address).second) {
      return config(concat("want an address for each replica, found '", address, "' twice"));
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto port = draw_port(held);
    if (!port) return port.error();
    const auto key = new_key(concat(directory_, "/replica-", i, ".key"));
    if (!key) return key.error();
    std::string address =
        i < options.hosts.size() ? options.hosts[i] + ":7000" : concat("127.0.0.1:", *port);
    if (i < options.addresses.size()) address = options.addresses[i];
    made.replicas.push_back({i, address, *key});
  }
  const auto key = new_key(client_key());
  if (!key) return key.error();
  made.clients.push_back({1, *key});
  const auto administrator = new_key(administrator_key());
  if (!administrator) return administrator.error();
  made.administrator = *administrator;
  return write_configuration(made);
}

Result<Done> KvGroup::write_configuration(const Configuration& configuration) const {
  const std::string text = to_text(configuration);
  const std::array<Bytes, 1> pieces{as_bytes(text)};
  return store::replace_file(configuration_file(), pieces);
}

Result<std::size_t> KvGroup::add() {
  const std::size_t number = members_.size();
  std::vector<Fd> held;
  const auto port = draw_port(held);
  if (!port) return port.error();
  const auto key = new_key(concat(directory_, "/replica-", number, ".key"));
  if (!key) return key.error();
  configuration_.replicas.push_back(
      {static_cast<std::uint32_t>(number), concat("127.0.0.1:", *port), *key, true});
  if (auto written = write_configuration(configuration_); !written) return written.error();
  members_.emplace_back().is_new = true;
  held.clear();
  if (auto started = start(number); !started) return started.error();
  return number;
}

Result<Done> KvGroup::replace(std::size_t replica) {
  if (auto right = check(replica, true, ""); !right) return right;
  const auto added = add();
  if (!added) return added.error();
  auto administrator = Administrator::open(
      configuration_, {.key_file = administrator_key(), .timeout = std::chrono::seconds(60)});
  if (!administrator) return administrator.error();
  const auto members = (*administrator)
                           ->change({.remove = {static_cast<std::uint32_t>(replica)},
                                     .add = {configuration_.replicas.back()}});
  if (!members) return members.error();
  return members_[replica].state == State::down ? Done{} : kill(replica);
}

KvGroup::~KvGroup() {
  for (Member& member : members_) {
    if (member.pid == 0) continue;
    ::kill(member.pid, SIGKILL);
    ::waitpid(member.pid, nullptr, 0);
  }
}

Result<Done> KvGroup::check(std::size_t replica, bool fits, const char* want) const {
  if (replica >= members_.size()) {
    return config(concat("want a replica from 0 to ", members_.size() - 1, ", found ", replica));
  }
  if (!fits) return config(concat("replica ", replica, " is not ", std::string_view(want)));
  return Done{};
}

Result<Done> KvGroup::start(std::size_t replica) {
  const bool fits = replica < members_.size() && members_[replica].state == State::down;
  if (auto right = check(replica, fits, "down"); !right) return right;
  const std::string place = concat(directory_, "/replica-", replica);
  // Never again: whose directory is gone by then has lost what it had promised.
  const bool first = std::exchange(members_[replica].is_new, false);
  const std::string number = std::to_string(replica), config_file = configuration_file(),
                    key = place + ".key";
  std::vector<const char*> words = {"piracema",          "kv",          "replica",      "--config",
                                    config_file.c_str(), "--id",        number.c_str(), "--key",
                                    key.c_str(),         "--directory", place.c_str()};
  if (first) words.push_back("--first-start");
  words.push_back(nullptr);
  const auto other = programs_.find(replica);
  const std::string program = other == programs_.end() ? program_ : other->second;
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return Error{Errc::io, with_errno("starting a process")};
  if (pid == 0) {
    // It ends with this process, and Ctrl-C is for this one alone.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);
    if (::getppid() == parent) {
      ::execv(program.c_str(), const_cast<char* const*>(words.data()));
    }
    ::_exit(127);
  }
  members_[replica].pid = pid;
  members_[replica].state = State::up;
  return Done{};
}

Result<Done> KvGroup::kill(std::size_t replica) {
  const bool fits = replica < members_.size() && members_[replica].state != State::down;
  if (auto right = check(replica, fits, "up"); !right) return right;
  Member& member = members_[replica];
  ::kill(member.pid, SIGKILL);
  ::waitpid(member.pid, nullptr, 0);
  member = {};
  return Done{};
}

Result<Done> KvGroup::freeze(std::size_t replica) {
  const bool fits = replica < members_.size() && members_[replica].state == State::up;
  if (auto right = check(replica, fits, "running"); !right) return right;
  ::kill(members_[replica].pid, SIGSTOP);
  members_[replica].state = State::frozen;
  return Done{};
}

Result<Done> KvGroup::thaw(std::size_t replica) {
  const bool fits = replica < members_.size() && members_[replica].state == State::frozen;
  if (auto right = check(replica, fits, "stopped"); !right) return right;
  ::kill(members_[replica].pid, SIGCONT);
  members_[replica].state = State::up;
  return Done{};
}

void KvGroup::end(std::chrono::seconds patience) {
  for (const Member& member : members_) {
    if (member.pid == 0) continue;
    ::kill(member.pid, SIGTERM);
    ::kill(member.pid, SIGCONT);
  }
  const Time deadline = now() + Time(patience);
  for (Member& member : members_) {
    if (member.pid == 0) continue;
    const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, member.pid, 0)));
    pollfd ends{process.get(), POLLIN, 0};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now());
    const int waits = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
    if (!process || ::poll(&ends, 1, waits) <= 0) ::kill(member.pid, SIGKILL);
    ::waitpid(member.pid, nullptr, 0);
    member = {};
  }
}

std::vector<std::size_t> KvGroup::ended() {
  std::vector<std::size_t> gone;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].pid == 0 || ::waitpid(members_[i].pid, nullptr, WNOHANG) <= 0) continue;
    members_[i] = {};
    gone.push_back(i);
  }
  return gone;
}

}  // namespace piracema::tools
