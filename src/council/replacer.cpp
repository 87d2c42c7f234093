#include "council/replacer.h"

#include <piracema/smr/administrator.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "council/group_configuration.h"
#include "net/socket/address.h"
#include "smr/link/crypto.h"
#include "smr/link/keys.h"

namespace piracema::council {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds replacer_looks_every{250}, ask_own_every{1'000};
// As long as a leader may be silent: who is further away cannot follow one.
constexpr milliseconds answers_within{1'000};
// For those that were started, once the job is over.
constexpr milliseconds end_within{1'500};

// Nobody listens there yet, so to be refused is an answer. A remote shell may go another way.
bool is_reached(const std::string& where) {
  const auto address = net::Address::parse(where);
  if (!address) return false;
  const Fd socket(::socket(address->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), address->data(), address->size()) == 0) return true;
  if (errno != EINPROGRESS) return errno == ECONNREFUSED;
  pollfd done{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&done, 1, static_cast<int>(answers_within.count())) <= 0) return false;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 || error == ECONNREFUSED;
}

std::string name_of(std::size_t seat, const Standing& standing) {
  return concat("coordinator ", seat + 1, " of ", standing.members.size(), " (",
                machine_of(standing.members[seat]), ")");
}

}  // namespace

Replacer::Replacer(const Seat& seat, Job job, const GroupState& state, smr::Invoker& group,
                   const cluster::CoordinatorAtWork& at_work,
                   const std::atomic<std::uint64_t>& leads)
    : seat_(seat),
      job_(std::move(job)),
      state_(state),
      line_(group),
      at_work_(at_work),
      leads_(leads),
      stopped_(::eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] {
    while (!stopping_) {
      poller_.run_once(replacer_looks_every);
      reap();
      look();
    }
  });
}

Replacer::~Replacer() {
  stop();
  for (Started& one : started_) one.process.let_go();
}

void Replacer::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  ::eventfd_write(stopped_.get(), 1);
  line_.let_go();
  poller_.wake();
  thread_.join();
}

void Replacer::end() {
  stop();
  const Time until = now() + end_within;
  for (const Started& one : started_) {
    pollfd ended{.fd = one.process.handle(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::ceil<milliseconds>(until - now());
    ::poll(&ended, 1, std::max(0, static_cast<int>(left.count())));
  }
  started_.clear();
}

void Replacer::reap() {
  std::erase_if(started_, [](Started& one) { return one.process.reap().has_value(); });
}

void Replacer::look() {
  const Standing standing = state_.standing();
  const bool has_claimed = standing.leader.member == seat_.own().id && standing.begun;
  if (leads_ == 0 || !has_claimed || standing.over || stopping_) {
    watch_.reset();
    return;
  }
  if (!watch_) {
    watch_.emplace(seat_.own().id);
    // The one before may have been lost between its decision and what had to follow.
    followed_ = standing.next_id == standing.members.size();
  }
  // Where no majority answers it is this one that is cut off. That takes long then, and no time in
  // which nobody looks counts (SeatWatch).
  if (now() >= ask_at_) {
    ask_at_ = now() + ask_own_every;
    if (!line_.ask(Ping{seat_.own().id})) return;
  }
  if (const auto due = watch_->look(now(), standing, at_work_.left())) {
    if (const auto done = replace(*due, standing); !done && !stopping_) {
      log(Level::warning,
          concat(name_of(due->seat, standing), " is not replaced yet: ", done.error().message));
      watch_->failed(now(), due->seat);
    }
  } else if (!followed_) {
    const auto done = complete(standing.members);
    if (!done) log(Level::debug, concat("coordinators: ", done.error().message));
  }
}

// Decided first, with a lead that counts; then the group follows what was decided.
Result<Done> Replacer::replace(const SeatWatch::Due& due, const Standing& standing) {
  const std::size_t seat = due.seat;
  log(due.leaves ? Level::info : Level::warning,
      concat(name_of(seat, standing),
             due.leaves ? concat(" is on a host that the job leaves")
                        : concat(" has been silent for ", SeatWatch::silent_max.count(), " s"),
             ": another one takes its place"));
  const auto member = start(seat, standing);
  if (!member) return member.error();
  Seat theirs{.number = static_cast<std::uint32_t>(seat),
              .administrator = seat_.administrator,
              .token = seat_.token,
              .first = seat_.first,
              .members = standing.members};
  const auto key = smr::KeyPair::generate();
  theirs.seed = smr::hex_of(Bytes(key.seed()));
  theirs.members[seat] = *member;
  theirs.members[seat].id = standing.next_id;
  theirs.members[seat].public_key = smr::hex_of(Bytes(key.public_key()));
  const auto seated = line_.ask(Seated{standing.leader.lead, theirs.number, theirs.members[seat]});
  if (!seated || seated->verdict != Verdict::done) {
    started_.pop_back();
    return seated ? Error{Errc::refused, "another one leads"} : seated.error();
  }
  // Whoever has it is in its place from here on, whether it lives or not.
  followed_ = false;
  if (!give_seat(started_.back(), theirs)) return Error{Errc::lost, "its successor has ended"};
  return complete(theirs.members);
}

Result<Done> Replacer::complete(const std::vector<Member>& members) {
  const auto changed = follow(members);
  if (!changed) return changed.error();
  followed_ = true;
  if (!*changed) return Done{};
  std::string where;
  for (const Member& member : members) {
    where += concat(where.empty() ? "" : ", ", machine_of(member));
  }
  log(Level::warning, concat("all ", members.size(), " coordinators take part again: ", where));
  return Done{};
}

std::vector<cluster::HostOptions> Replacer::hosts_of(const Standing& standing) const {
  if (standing.hosts.empty()) return job_.hosts;
  std::vector<cluster::HostOptions> hosts;
  for (const cluster::HostOfJob& host : standing.hosts) {
    if (host.wanted) hosts.push_back(cluster::host_known_as(host.name, host.address));
  }
  return hosts;
}

// Its process is the last of `started_` then.
Result<Member> Replacer::start(std::size_t seat, const Standing& standing) {
  std::vector<std::string> taken;
  for (std::size_t other = 0; other < standing.members.size(); ++other) {
    if (other != seat) taken.push_back(machine_of(standing.members[other]));
  }
  const std::vector<cluster::HostOptions> hosts = hosts_of(standing);
  std::vector<Errand> errands;
  for (const auto& host : hosts_for_another(hosts, taken, machine_of(standing.members[seat]))) {
    errands.push_back({.host = host.name, .command = seat_.command.get()});
  }
  // Where hosts come none may be where they do not reach it.
  if (standing.hosts.empty() && are_all_here(hosts))
    errands.push_back({.command = seat_.command.get()});
  std::string why;
  for (const Errand& errand : errands) {
    auto started = start_coordinator(job_.words, errand);
    if (!started) return started.error();
    auto member = hear_of(*started, !errand.host.empty(), stopped_.get());
    if (member && !is_reached(member->replica)) {
      member = Error{Errc::lost, concat("nobody answers at ", machine_of(*member))};
    }
    if (member) {
      started_.push_back(*std::move(started));
      return member;
    }
    why += concat(why.empty() ? "" : "; ", errand.host.empty() ? "this host" : errand.host, ": ",
                  member.error().message);
    if (stopping_) break;
  }
  return Error{Errc::lost, why.empty() ? "no other host of the job is free for one" : why};
}

// To replace one is to remove it and to add another one. What may have been begun and not finished
// is finished or taken back by the same step. Also by one that leads no longer, as what is done
// here was decided.
Result<bool> Replacer::follow(const std::vector<Member>& members) {
  const auto configuration = group_configuration(seat_, members);
  if (!configuration) return configuration.error();
  auto administrator = smr::Administrator::open(
      *configuration, {.key_file = job_.key_file, .given_up = [this] { return stopping_.load(); }});
  if (!administrator) return administrator.error();
  const auto now = (*administrator)->members();
  if (!now) return now.error();
  smr::MembersChange change;
  for (const auto& replica : now->replicas) {
    const bool stays = std::any_of(members.begin(), members.end(),
                                   [&](const Member& member) { return member.id == replica.id; });
    if (!stays) change.remove.push_back(replica.id);
  }
  for (const Member& member : members) {
    const bool is_there = std::any_of(now->replicas.begin(), now->replicas.end(),
                                      [&](const auto& replica) { return replica.id == member.id; });
    if (!is_there) change.add.push_back({member.id, member.replica, member.public_key, true});
  }
  if (change.remove.empty() && change.add.empty()) return false;
  const auto changed = (*administrator)->change(change);
  if (!changed) return changed.error();
  return true;
}

}  // namespace piracema::council
