#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/hosts/host_group.h"
#include "ckpt/hosts/host_line.h"
#include "ckpt/image/image_store.h"
#include "ckpt/image/job_directory.h"
#include "loop/poller.h"
#include "os/process_tree.h"

namespace piracema::ckpt {

struct HostsSettings {
  /// As the user names them; the first one runs the job's command. "NAME=ADDRESS" where others
  /// reach it by another name.
  std::vector<std::string> hosts;
  /// The remote shell's words, before the host's name; empty: ssh.
  std::string rsh;
  /// As for find_criu, on each host.
  std::string criu;
};

/// The capsules of a job of several hosts; used as one Capsule is: orders go in, reports come out.
/// Does what a HostGroup says. All dies with it, on every host that can be reached; the others end
/// by themselves (host_agent.h). Belongs to the poller's thread.
class Hosts {
 public:
  using OnReport = std::function<void(const Report&)>;
  /// Nothing follows.
  using OnDied = std::function<void(const std::string& why)>;

  /// `directory` is one that all hosts see by the same name; `job` is its number. Errc::config if a
  /// remote shell cannot be run. Reports `ready` when all are.
  static Result<std::unique_ptr<Hosts>> open(net::Poller& poller, JobDirectory& directory,
                                             std::uint64_t job, HostsSettings settings,
                                             OnReport on_report, OnDied on_died);
  ~Hosts();

  /// start, restore or dump, of which this is made for all: `parts` and `log` are those of the
  /// whole. A command of the user's runs on the first host. Errc::io.
  Result<Done> send(Order order);

  /// Of all processes of the job, as agents have said last.
  JobMemory memory() const;

 private:
  Hosts(net::Poller& poller, JobDirectory& directory, std::uint64_t job, HostsSettings settings,
        OnReport on_report, OnDied on_died);
  Result<Done> call_all(const OverlayToken& token);
  Result<Done> write_host_files() const;
  Result<Done> make_places(const Order& order) const;
  Order order_for(HostNumber host) const;
  std::string name_of(HostNumber host) const;
  std::string address_among_hosts(HostNumber host) const;

  /// Later, if this is there still: whoever is told may end it.
  void soon(std::function<void()> work);
  void heard(HostNumber host, const Report& report);
  void lost(HostNumber host, const std::string& why);
  void tell(const GroupEvent& event) { handle(group_.step(event)); }
  void handle(std::vector<GroupAction> actions);
  void act(const OpenHost& action);
  void act(const LinkHosts&);
  void act(const StartHost& action);
  void act(const HoldHost& action);
  void act(const PassHost& action);
  void act(const DumpHost& action);
  void act(const ProceedHost& action);
  void act(const Publish&);
  void act(const GroupReady&);
  void act(const GroupStarted& action);
  void act(const GroupDumped& action);
  void act(const GroupEnded& action);
  void act(const GroupDied& action);

  net::Poller& poller_;
  JobDirectory& directory_;
  const std::uint64_t job_;
  const HostsSettings settings_;
  const OnReport on_report_;
  const OnDied on_died_;
  HostGroup group_;
  std::vector<std::unique_ptr<HostLine>> lines_;
  /// What `send` was given last.
  Order order_;
  enum class Asked { ready, started, nothing } asked_ = Asked::ready;
  /// Of the save under way: when links were held, and when the last host went on.
  Time began_{}, went_on_{};
  /// Lives as long as this.
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

/// What a host of the job is called by the job.
std::string name_in_job(HostNumber host);

}  // namespace piracema::ckpt
