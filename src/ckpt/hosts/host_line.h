#pragma once

#include <piracema/error.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/hosts/host_messages.h"
#include "host/frame_pipe.h"
#include "host/remote_shell.h"
#include "loop/poller.h"
#include "wire/fields.h"

namespace piracema::ckpt {

/// A keeper's line to its agent on one host. Belongs to the poller's thread.
class HostLine {
 public:
  struct Events {
    std::function<void(const Report&)> report;
    /// Once, and nothing after it.
    std::function<void(const std::string& why)> lost;
  };

  /// `program` is that of the job (hosts.h). Errc::config if the remote shell cannot be run.
  static Result<std::unique_ptr<HostLine>> call(net::Poller& poller, std::vector<std::string> way,
                                                const std::string& program, const HostOpen& open,
                                                Events events);
  ~HostLine();

  void link(const HostLink& link) { say(ToAgent::link, wire::encode(link)); }
  void order(Order order) { say(ToAgent::order, wire::encode(std::move(order))); }

  /// What it has said of itself: 0 before.
  std::uint16_t port() const { return opened_.port; }
  std::uint32_t cores() const { return opened_.cores; }
  const HostAlive& alive() const { return alive_; }

  /// The agent is to end all that is there.
  void hang_up() { shell_.hang_up(); }
  /// Waits for that until then.
  void end(Time by) { shell_.end(by); }

 private:
  HostLine(net::Poller& poller, RemoteShell shell, Events events);
  void say(ToAgent kind, const Buffer& head);
  void hear();
  void take(const wire::Frame& frame);
  void sign();
  void fail(const std::string& why);

  net::Poller& poller_;
  RemoteShell shell_;
  FramePipe pipe_;
  const Events events_;
  HostOpened opened_;
  HostAlive alive_;
  Time heard_{};
  bool spoken_ = false, lost_ = false;
  net::Poller::Timer timer_{};
};

}  // namespace piracema::ckpt
