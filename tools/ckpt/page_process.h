#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/log.h"
#include "observe/http/server.h"

namespace piracema::tools {

/// The process that shows a keeper or a daemon by HTTP. It is one of its own, as a server has
/// threads and these must not: they make capsules and others by forking. So whoever looks does not
/// slow them down.
///
/// Made by a process of one thread; it ends when this object does, or when that process does.
class PageProcess {
 public:
  /// What it is made of, there.
  struct Parts {
    observe::MakeSite site;
    /// Hears what it is told.
    std::function<void(Bytes news)> hear;
  };
  /// `make` is called in the new process. As HttpServer::start; messages begin with "--http: ".
  static Result<std::unique_ptr<PageProcess>> start(const observe::HttpOptions& options,
                                                    const std::function<Parts()>& make);
  /// Returns when its address is free, or after two seconds.
  ~PageProcess();

  /// For a browser, with the token: for the eyes of whoever started it.
  const std::string& entrance() const { return entrance_; }

  /// Never waits: what cannot be taken at once is lost.
  void tell(const Buffer& news);

 private:
  PageProcess(Fd socket, std::string entrance)
      : socket_(std::move(socket)), entrance_(std::move(entrance)) {}

  Fd socket_;
  const std::string entrance_;
  bool is_lost_ = false;
};

/// A line of the log, on its way to that process.
struct PageLine {
  double at = 0;
  Level level = Level::info;
  std::string text;
  auto fields() { return std::tie(at, level, text); }
};
/// From now on so many are kept in this process. Call it when the entrance was logged: it has the
/// token, and everybody on this machine may read the lines.
void keep_page_lines();
/// The last ones of this process.
std::vector<PageLine> page_lines();
std::vector<LoggedLine> logged_lines_of(std::vector<PageLine> lines);

}  // namespace piracema::tools
