#include "ckpt/hosts/hosts.h"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "base/text.h"
#include "ckpt/hosts/host_agent.h"
#include "ckpt/hosts/job_program.h"
#include "host/mpi_hosts.h"
#include "os/process.h"
#include "store/disk/files.h"

namespace piracema::ckpt {

namespace {

// An agent ends all that is there, and then itself.
constexpr std::chrono::seconds goodbye{3};

std::vector<std::string> environment_here() {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
  return all;
}

}  // namespace

std::string name_in_job(HostNumber host) { return concat("host-", host + 1); }

Result<std::unique_ptr<Hosts>> Hosts::open(net::Poller& poller, JobDirectory& directory,
                                           std::uint64_t job, HostsSettings settings,
                                           OnReport on_report, OnDied on_died) {
  std::unique_ptr<Hosts> hosts(new Hosts(poller, directory, job, std::move(settings),
                                         std::move(on_report), std::move(on_died)));
  OverlayToken token{};
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    return Error{Errc::io, with_errno("random numbers")};
  }
  if (auto called = hosts->call_all(token); !called) return called.error();
  return hosts;
}

Hosts::Hosts(net::Poller& poller, JobDirectory& directory, std::uint64_t job,
             HostsSettings settings, OnReport on_report, OnDied on_died)
    : poller_(poller),
      directory_(directory),
      job_(job),
      settings_(std::move(settings)),
      on_report_(std::move(on_report)),
      on_died_(std::move(on_died)),
      group_(settings_.hosts.size()) {}

// All at once, and then each is waited for.
Hosts::~Hosts() {
  for (const auto& line : lines_) line->hang_up();
  const Time by = now() + goodbye;
  for (const auto& line : lines_) line->end(by);
}

std::string Hosts::name_of(HostNumber host) const {
  const std::string& text = settings_.hosts[host];
  return text.substr(0, text.find('='));
}

std::string Hosts::address_among_hosts(HostNumber host) const {
  const std::string& text = settings_.hosts[host];
  return text.substr(text.find('=') + 1);
}

void Hosts::soon(std::function<void()> work) {
  poller_.post([here = std::weak_ptr<bool>(here_), work = std::move(work)] {
    if (!here.expired()) work();
  });
}

Result<Done> Hosts::call_all(const OverlayToken& token) {
  HostOpen open{.token = token, .directory = directory_.path(), .criu = settings_.criu};
  for (HostNumber host = 0; host < settings_.hosts.size(); ++host) {
    open.names.push_back(name_in_job(host));
  }
  // Nothing is done by an action of this: a line is opened as it is called.
  (void)group_.open();
  for (HostNumber host = 0; host < settings_.hosts.size(); ++host) {
    open.number = host;
    auto line = HostLine::call(
        poller_, way_to(settings_.rsh, name_of(host)), job_program(directory_), open,
        {.report =
             [this, host](const Report& report) {
               soon([this, host, report] { heard(host, report); });
             },
         .lost = [this,
                  host](const std::string& why) { soon([this, host, why] { lost(host, why); }); }});
    if (!line) return line.error();
    lines_.push_back(*std::move(line));
  }
  return Done{};
}

JobMemory Hosts::memory() const {
  JobMemory sum;
  for (const auto& line : lines_) {
    sum.resident += line->alive().resident;
    sum.swapped += line->alive().swapped;
    sum.processes += line->alive().processes;
  }
  return sum;
}

void Hosts::lost(HostNumber host, const std::string& why) {
  tell(HostLost{host, concat(name_of(host), ": ", why)});
}

void Hosts::heard(HostNumber host, const Report& report) {
  const std::string why = concat(name_of(host), ": ", report.message);
  switch (report.kind) {
    case ReportKind::ready:
      return report.ok ? tell(HostReady{host}) : tell(HostLost{host, why});
    case ReportKind::started:
      return tell(HostStarted{host, report.ok, why});
    case ReportKind::held:
      return tell(HostHeld{host});
    case ReportKind::frozen:
      return tell(HostFrozen{host});
    case ReportKind::recorded:
      return tell(HostRecorded{host});
    case ReportKind::dumped:
      went_on_ = now();
      return tell(HostDumped{host, report.ok, why, report.passing});
    case ReportKind::sealed:
      return tell(HostSealed{host, report.ok, why});
    case ReportKind::ended:
      return tell(HostEnded{host, static_cast<int>(report.status)});
    case ReportKind::good_moment:
    case ReportKind::command_ended:
      return on_report_(report);
  }
}

Result<Done> Hosts::send(Order order) {
  if (order.kind == OrderKind::pause || order.kind == OrderKind::want) {
    for (const auto& line : lines_) line->order(order);
    return Done{};
  }
  if (order.kind == OrderKind::command) {
    order.environment = environment_here();
    lines_.front()->order(std::move(order));
    return Done{};
  }
  order_ = std::move(order);
  if (order_.kind == OrderKind::dump) {
    if (auto made = make_places(order_); !made) return made;
    began_ = now();
    handle(group_.dump(order_.stop));
    return Done{};
  }
  asked_ = Asked::started;
  const bool restore = order_.kind == OrderKind::restore;
  if (!restore) {
    if (auto written = write_host_files(); !written) return written;
  }
  handle(group_.launch(restore));
  return Done{};
}

Result<Done> Hosts::make_places(const Order& order) const {
  for (HostNumber host = 0; host < lines_.size(); ++host) {
    const std::string path = concat(order.parts, "/", host + 1);
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return Error{Errc::io, with_errno(path)};
  }
  return store::sync_directory(order.parts);
}

// They start what they need there by our own remote shell (door.h).
Result<Done> Hosts::write_host_files() const {
  cluster::MpiHosts mpi{.rsh = concat("'", job_program(directory_), "' ckpt rsh")};
  for (HostNumber host = 0; host < lines_.size(); ++host) {
    mpi.hosts.push_back({name_in_job(host), lines_[host]->cores()});
  }
  return mpi.write(directory_.path() + "/bin");
}

Order Hosts::order_for(HostNumber host) const {
  Order order = order_;
  const std::string number = std::to_string(host + 1);
  order.several = true;
  order.log = concat(order_.log, "-", number);
  order.parts = concat(order_.parts, "/", number);
  if (order_.kind != OrderKind::start) return order;
  if (host != 0) {
    order.command = {job_program(directory_), "ckpt", "door"};
    order.working_directory = "/";
    order.output = order.error = concat(directory_.log_path(), "/host-", number, ".out");
    return order;
  }
  order.environment = environment_here();
  for (const std::string& one : cluster::MpiHosts::environment(directory_.path() + "/bin")) {
    cluster::set_variable(order.environment, one);
  }
  // With the loopback beside it MPICH 4.0 over UCX waits in MPI_Finalize for ever now and then.
  order.environment.emplace_back("UCX_NET_DEVICES=c0");
  // System V segments are in no image.
  if (::getenv("UCX_TLS") == nullptr) order.environment.emplace_back("UCX_TLS=self,posix,tcp");
  return order;
}

void Hosts::handle(std::vector<GroupAction> actions) {
  // What is said to our user comes last, and may end this.
  for (const GroupAction& action : actions) {
    std::visit([this](const auto& a) { act(a); }, action);
  }
}

void Hosts::act(const OpenHost&) {}

void Hosts::act(const LinkHosts&) {
  for (HostNumber host = 0; host < lines_.size(); ++host) {
    HostLink link;
    for (HostNumber other = 0; other < lines_.size(); ++other) {
      if (other != host)
        link.peers.push_back({other, address_among_hosts(other), lines_[other]->port()});
    }
    lines_[host]->link(link);
  }
}

void Hosts::act(const StartHost& action) { lines_[action.host]->order(order_for(action.host)); }

void Hosts::act(const HoldHost& action) { lines_[action.host]->order({.kind = OrderKind::hold}); }

void Hosts::act(const PassHost& action) { lines_[action.host]->order({.kind = OrderKind::pass}); }

void Hosts::act(const DumpHost& action) { lines_[action.host]->order(order_for(action.host)); }

void Hosts::act(const ProceedHost& action) {
  lines_[action.host]->order({.kind = OrderKind::proceed, .ok = action.ok});
}

void Hosts::act(const Publish&) {
  ImageStore store(directory_);
  const auto done = store.commit_hosts(
      order_.image, job_, static_cast<std::uint64_t>(std::time(nullptr)), lines_.size());
  soon([this, ok = done.ok(), why = done ? std::string() : done.error().message] {
    tell(Published{ok, why});
  });
}

void Hosts::act(const GroupReady&) {
  asked_ = Asked::nothing;
  on_report_({.kind = ReportKind::ready, .ok = true});
}

void Hosts::act(const GroupStarted& action) {
  asked_ = Asked::nothing;
  on_report_({.kind = ReportKind::started, .ok = action.ok, .message = action.why});
}

void Hosts::act(const GroupDumped& action) {
  const auto microseconds = [this](Time until) {
    return static_cast<std::uint64_t>((until - began_) / std::chrono::microseconds(1));
  };
  on_report_({.kind = ReportKind::dumped,
              .ok = action.ok,
              .message = action.why,
              .passing = action.passing,
              .frozen_us = microseconds(went_on_),
              .dump_us = microseconds(now())});
}

void Hosts::act(const GroupEnded& action) {
  on_report_({.kind = ReportKind::ended, .status = static_cast<std::uint32_t>(action.status)});
}

void Hosts::act(const GroupDied& action) {
  const Asked asked = std::exchange(asked_, Asked::nothing);
  if (asked == Asked::ready) return on_report_({.kind = ReportKind::ready, .message = action.why});
  if (asked == Asked::started)
    return on_report_({.kind = ReportKind::started, .message = action.why});
  on_died_(action.why);
}

}  // namespace piracema::ckpt
