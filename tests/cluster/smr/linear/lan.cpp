#include "cluster/smr/linear/lan.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "base/text.h"

namespace piracema::testing {

namespace {

bool run(const std::string& command) {
  return std::system((command + " 2> /dev/null").c_str()) == 0;
}

// As `unshare --map-root-user --net` does.
bool have_a_network_of_our_own() {
  if (::unshare(CLONE_NEWNET) == 0) return true;
  const std::string user = std::to_string(::geteuid()), group = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  return true;
}

std::string host_of(std::size_t replica) {
  return concat("10.77.", replica / 200, ".", replica % 200 + 1);
}
std::string cable_of(std::size_t replica) { return concat("cable", replica); }

/// A new network namespace, held by its file alone.
Fd new_network() {
  int ready[2], done[2];
  if (::pipe2(ready, O_CLOEXEC) != 0 || ::pipe2(done, O_CLOEXEC) != 0) return {};
  Fd hear_ready(ready[0]), say_ready(ready[1]), hear_done(done[0]), say_done(done[1]);
  const pid_t child = ::fork();
  if (child < 0) return {};
  char byte = 0;
  if (child == 0) {
    say_done.close();
    if (::unshare(CLONE_NEWNET) == 0 && ::write(say_ready.get(), &byte, 1) == 1) {
      [[maybe_unused]] const ssize_t ended = ::read(hear_done.get(), &byte, 1);
    }
    ::_exit(0);
  }
  say_ready.close();
  Fd network;
  if (::read(hear_ready.get(), &byte, 1) == 1) {
    network = Fd(::open(concat("/proc/", child, "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
  }
  say_done.close();
  ::waitpid(child, nullptr, 0);
  return network;
}

}  // namespace

Lan::Lan() {
  has_cables_ = have_a_network_of_our_own() && run("ip link set lo up") &&
                run("ip link add name bridge type bridge") &&
                run("ip addr add 10.77.255.1/16 dev bridge") && run("ip link set bridge up");
  if (!has_cables_) run("ip link set lo up");
}

std::string Lan::address_of(std::size_t replica) {
  if (!has_cables_ || (!networks_.contains(replica) && !lay_cable(replica))) return "";
  return host_of(replica) + ":7000";
}

bool Lan::lay_cable(std::size_t replica) {
  Fd network = new_network();
  if (!network) return false;
  const std::string file = concat("/proc/", ::getpid(), "/fd/", network.get());
  const std::string inside = concat("nsenter --net=", file, " ip ");
  const std::string cable = cable_of(replica), end = "eth" + std::to_string(replica);
  // `ip` takes the namespace of a process, not of a file: one that is in it for so long.
  const std::string move = concat("nsenter --net=", file, " sleep 60 & p=$!; ",
                                  "until [ \"$(readlink /proc/$p/ns/net)\" = \"$(readlink ", file,
                                  ")\" ]; do kill -0 $p || exit 1; done; ip link set ", end,
                                  " netns $p; r=$?; kill $p; exit $r");
  const bool done = run(concat("ip link add name ", cable, " type veth peer name ", end)) &&
                    run(move) && run(concat("ip link set ", cable, " master bridge up")) &&
                    run(inside + "link set lo up") &&
                    run(concat(inside, "addr add ", host_of(replica), "/16 dev ", end)) &&
                    run(concat(inside, "link set ", end, " up"));
  if (done) networks_[replica] = std::move(network);
  return done;
}

int Lan::network_of(std::size_t replica) const {
  const auto found = networks_.find(replica);
  return found == networks_.end() ? -1 : found->second.get();
}

void Lan::forget(std::size_t replica) {
  if (networks_.erase(replica) != 0) run(concat("ip link del ", cable_of(replica)));
}

bool Lan::cut(std::size_t replica) {
  return run(concat("ip link set ", cable_of(replica), " down"));
}
bool Lan::mend(std::size_t replica) {
  return run(concat("ip link set ", cable_of(replica), " up"));
}

}  // namespace piracema::testing
