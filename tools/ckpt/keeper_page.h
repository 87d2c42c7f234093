#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>

#include "base/fd.h"
#include "ckpt/keeper/keeper_figures.h"
#include "observe/http/server.h"

namespace piracema::tools {

/// The process that shows a keeper by HTTP. It is one of its own, as a server has threads and a
/// keeper must not: it makes capsules by forking. So whoever looks does not slow the keeper down,
/// and a store that hangs holds neither.
///
/// Made by a process of one thread; it ends when this object does, or when that process does.
class KeeperPage {
 public:
  /// As HttpServer::start; messages begin with "--http: ".
  static Result<std::unique_ptr<KeeperPage>> start(const observe::HttpOptions& options);
  /// Returns when its address is free, or after two seconds.
  ~KeeperPage();

  /// For a browser, with the token: for the eyes of whoever started the job.
  const std::string& entrance() const { return entrance_; }

  /// Shows these, and the last lines of the log. Never waits: what cannot be taken at once is lost,
  /// and a second later there is more.
  void show(const ckpt::KeeperFigures& figures);

 private:
  KeeperPage(Fd socket, std::string entrance)
      : socket_(std::move(socket)), entrance_(std::move(entrance)) {}

  Fd socket_;
  const std::string entrance_;
  bool is_lost_ = false;
};

}  // namespace piracema::tools
