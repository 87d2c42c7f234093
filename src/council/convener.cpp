#include "council/convener.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <random>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "cluster/driver/job_record.h"
#include "council/host_choice.h"
#include "council/signal_line.h"
#include "host/coordinator_file.h"
#include "host/way_to_job.h"
#include "os/exit_code.h"
#include "store/open_store.h"

namespace piracema::council {

namespace {

using std::chrono::milliseconds;

// Of the others, once it is known how the job has ended.
constexpr milliseconds ends_within{2'000};
// Of those that have a line, once whoever leads has told how the job ends.
constexpr milliseconds says_rest_within{5'000};
// Where those who are told may be cut off.
constexpr std::uint32_t signals_without_answer = 4;
// What is no line by then is no word of ours.
constexpr std::size_t heard_max = 4'096;
// As where workers are lost once too often: `--resume` goes on.
constexpr int all_lost = 4;
// Whoever joins the job hears how it ends.
constexpr int goes_on_elsewhere = 75;

// Beyond those of commands that began a job, and of coordinators.
std::uint64_t draw_first_signal() {
  std::random_device device;
  return std::uint64_t{1} << 63 | std::uint64_t{device() >> 1} << 32;
}

// Of one that has closed its line, and so is about to end; nothing if it has not said why.
std::optional<int> refusal_of(cluster::Process& process) {
  if (process.handle() >= 0) {
    pollfd ended{.fd = process.handle(), .events = POLLIN, .revents = 0};
    ::poll(&ended, 1, static_cast<int>(ends_within.count()));
  }
  const auto exit = process.reap();
  return exit && exit->status.value_or(0) != 0 ? exit->status : std::nullopt;
}

}  // namespace

Convener::Convener(milliseconds keep, PageRelay& pages)
    : keep_(keep), pages_(pages), signals_(poller_, [this](int number) { signalled(number); }) {}

Convener::~Convener() {
  hosts_.reset();
  pages_.end();
  log_.reset();
  for (const Member& member : members_) {
    if (member.speaks) poller_.forget(member.started.line.get());
    if (member.lives) poller_.forget(member.started.process.handle());
  }
}

Result<std::unique_ptr<Convener>> Convener::convene(std::uint32_t count,
                                                    const std::vector<std::string>& words,
                                                    const cluster::JobOptions& job,
                                                    PageRelay& pages) {
  const auto hosts = choose_hosts(job.hosts, count);
  if (!hosts) return hosts.error();
  std::unique_ptr<Convener> convener(new Convener(job.keep_workers, pages));
  std::vector<Started> started;
  auto shared_out = share_out_seats(count, words, *hosts, started);
  if (!shared_out) {
    if (shared_out.error().code == Errc::lost) {
      convener->code_ = refusal_of(started.front().process);
    }
    if (!convener->code_) return Error{Errc::config, shared_out.error().message};
    return convener;
  }
  for (Started& one : started) {
    const bool is_here = convener->members_.empty() || hosts->elsewhere.empty();
    convener->members_.push_back({.started = std::move(one), .is_here = is_here, .heard = {}});
  }
  convener->watch();
  convener->look_for_leader(*std::move(shared_out));
  return convener;
}

Result<std::unique_ptr<Convener>> Convener::join(const cluster::JobOptions& job, PageRelay& pages) {
  std::unique_ptr<Convener> convener(new Convener(job.keep_workers, pages));
  const auto go_on = [&](std::string token, std::vector<std::string> doors) {
    convener->signals_from_ = draw_first_signal();
    convener->look_for_leader({.token = std::move(token), .doors = std::move(doors)});
    convener->log_ = std::make_unique<FollowedLog>(pages);
    return std::move(convener);
  };
  const auto nobody = [&](std::string_view why) {
    log(Level::error, concat(job.snapshots, ": want a job with several coordinators, ", why));
    convener->code_ = all_lost;
    return std::move(convener);
  };
  if (cluster::joins_job_of_node()) {
    if (auto way = cluster::read_way_to_job(cluster::way_to_job_file())) {
      return go_on(std::move(way->token), std::move(way->coordinators));
    }
  }
  if (store::is_address(job.snapshots)) {
    return nobody(
        "which say where they are in a directory, and to nodes of a cluster, found neither");
  }
  const auto left = cluster::JobRecord::find(job.snapshots);
  if (!left) return Error{Errc::config, left.error().message};
  if (!*left || (*left)->is_over(std::chrono::system_clock::now())) {
    return nobody("found none that goes on");
  }
  if ((*left)->metadata) return nobody("found one with one: see --standby and --resume");
  auto doors =
      cluster::find_coordinators(cluster::coordinator_file(job.snapshots), (*left)->token, {});
  if (doors.empty()) return nobody("found one that is over");
  return go_on((*left)->token, std::move(doors));
}

void Convener::look_for_leader(SharedOut shared_out) {
  const auto over = [this](int code) {
    if (!will_end_) will_end_since_ = now();
    will_end_ = code;
  };
  leader_ = std::make_unique<LeaderLine>(
      poller_, std::move(shared_out.token), std::move(shared_out.doors),
      LeaderLine::Events{
          .over = over,
          .came = [this] { leader_came(); },
          .left = [this] { pages_.left(); },
          .answered = [this](cluster::PageAnswered answer) { pages_.answered(std::move(answer)); },
          .past = [this](cluster::PastOfJob past) { pages_.told(std::move(past)); }});
  pages_.begin(poller_, *leader_);
}

void Convener::leader_came() {
  pages_.came();
  for (const Signalled& signalled : std::exchange(unheard_, {})) leader_->say(signalled);
}

void Convener::watch() {
  for (Member& member : members_) {
    poller_.watch(member.started.line.get(), EPOLLIN,
                  [this, &member](std::uint32_t) { heard(member); });
    if (const int handle = member.started.process.handle(); handle >= 0) {
      poller_.watch(handle, EPOLLIN, [this](std::uint32_t) { reap(); });
    }
  }
}

int Convener::run() {
  while (!code_ && goes_on() && !has_left()) poller_.run_once(milliseconds(1'000));
  if (!code_ && has_left()) {
    log(Level::info, "the job has left this host and goes on without it: --join has its end");
    return goes_on_elsewhere;
  }
  // None is left behind, stopped or not.
  const auto is_there = [](const Member& member) { return member.lives || member.speaks; };
  for (const Time until = now() + ends_within; is_left(is_there) && now() < until;) {
    poller_.run_once(std::chrono::ceil<milliseconds>(until - now()));
  }
  for (const auto& code : {code_, will_end_, one_ended_}) {
    if (code) return *code;
  }
  const std::string lost =
      all_are_here() ? concat("none of the ", members_.size(), " coordinators is left")
                     : concat("no coordinator has answered for ",
                              human_seconds(std::chrono::duration<double>(keep_).count()));
  log(Level::error, lost + "; go on with --resume once the workers have ended");
  return all_lost;
}

void Convener::leave_with_host(const std::string& hostfile) {
  hosts_ = std::make_unique<cluster::HostfileWatch>(
      hostfile, std::vector<cluster::HostOptions>{},
      cluster::HostfileWatch::Events{
          .changed =
              [this](const std::vector<cluster::ListedHost>& hosts) {
                const bool names_this_host = std::ranges::any_of(
                    hosts, [](const cluster::ListedHost& one) { return one.host.here; });
                poller_.post([this, names_this_host] { listed(names_this_host); });
              },
          // Whoever leads says so.
          .unusable = [](const std::string&) {}});
}

void Convener::listed(bool names_this_host) {
  host_leaves_ = is_listed_ && !names_this_host;
  is_listed_ = is_listed_ || names_this_host;
}

// A signal is for all of the job.
bool Convener::has_left() const {
  return host_leaves_ && signals_taken_ == 0 &&
         !is_left([](const Member& member) { return member.is_here && member.lives; });
}

bool Convener::all_are_here() const {
  return !members_.empty() && std::all_of(members_.begin(), members_.end(),
                                          [](const Member& member) { return member.is_here; });
}

bool Convener::is_left(bool (*is_one)(const Member&)) const {
  return std::any_of(members_.begin(), members_.end(), is_one);
}

bool Convener::goes_on() const {
  const auto speaks = [](const Member& member) { return member.speaks; };
  const auto speaks_here = [](const Member& member) { return member.speaks && member.is_here; };
  if (will_end_) return is_left(speaks) && now() - will_end_since_ < says_rest_within;
  if (leader_ && leader_->is_there()) return true;
  // Where the one on this host has given up, the others may be cut off with all that they say.
  if (one_ended_) return is_left(speaks_here);
  // On other hosts there may be some that have come since.
  return is_left(speaks) || (!all_are_here() && leader_ && now() - leader_->seen_at() < keep_);
}

void Convener::heard(Member& member) {
  std::array<char, 512> some;
  const ssize_t count = ::recv(member.started.line.get(), some.data(), some.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {
    member.speaks = false;
    return poller_.forget(member.started.line.get());
  }
  member.heard.append(some.data(), static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = member.heard.find('\n')) != std::string::npos;) {
    if (const auto code = code_of(std::string_view(member.heard).substr(0, end))) code_ = code;
    member.heard.erase(0, end + 1);
  }
  if (member.heard.size() > heard_max) member.heard.clear();
}

void Convener::reap() {
  for (Member& member : members_) {
    if (!member.lives) continue;
    const int handle = member.started.process.handle();
    const auto exit = member.started.process.reap();
    if (!exit) continue;
    poller_.forget(handle);
    // Its last word may not have been read.
    if (member.speaks) heard(member);
    member.lives = false;
    // That all is well is said by a word.
    if (member.is_here && exit->status.value_or(0) != 0) one_ended_ = exit->status;
  }
}

// Whoever hears of it has it ordered, once for all, and who leads acts on it.
void Convener::signalled(int number) {
  if (number == SIGCHLD) return reap();
  const Signalled signalled{static_cast<std::uint32_t>(number), signals_from_ + ++signals_taken_};
  const std::string line = signal_line(signalled);
  bool is_told = leader_ && leader_->say(signalled);
  if (!is_told) unheard_.push_back(signalled);
  for (const Member& member : members_) {
    if (!member.speaks) continue;
    ::send(member.started.line.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    is_told = is_told || member.is_here;
  }
  if (is_told) return;
  log(Level::warning, concat("no coordinator that leads answers; those on other hosts are told; a ",
                             signals_without_answer, "th signal ends this command without them"));
  if (signals_taken_ >= signals_without_answer) code_ = exit_code_of_signal(number);
}

}  // namespace piracema::council
