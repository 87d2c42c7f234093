#include <piracema/run.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/standard_fds.h"
#include "base/text.h"
#include "cluster/embedded.h"
#include "cluster/ranks.h"
#include "cluster/worker_environment.h"
#include "cluster/worker_process.h"
#include "run/control.h"

namespace piracema {

namespace {

int refuse(const Error& error) {
  log(Level::error, error.message);
  return 3;
}

// Whoever asks for the graph, and perhaps for its groups, wants nothing else.
int write_to(const char* variable, std::string_view fd_text, const std::string& text) {
  int fd = -1;
  const auto [end, error] = std::from_chars(fd_text.data(), fd_text.data() + fd_text.size(), fd);
  if (error != std::errc{} || end != fd_text.data() + fd_text.size()) {
    return refuse({Errc::config, concat(variable, ": want a descriptor, found '", fd_text, "'")});
  }
  if (::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return 0;
  return refuse({Errc::config, with_errno(concat(variable, ": descriptor ", fd))});
}

bool is_set(const char* value) { return value != nullptr && *value != '\0'; }

RunOptions with_environment(RunOptions options) {
  const char* snapshots = std::getenv("PIRACEMA_SNAPSHOTS");
  if (options.snapshots.empty() && snapshots != nullptr) options.snapshots = snapshots;
  return options;
}

// All processes of a job have to do the same, so that this may depend on nothing but the program and
// what `piracema run` hands on to all of them.
Result<bool> wants_fusion(const RunOptions& options) {
  const char* set = std::getenv("PIRACEMA_FUSE");
  const std::string_view text = set == nullptr ? "" : set;
  if (text.empty()) return options.fuse;
  if (text == "all" || text == "none") return text == "all";
  return Error{Errc::config, concat("PIRACEMA_FUSE: want 'all' or 'none', found '", text, "'")};
}

}  // namespace

int run(const Graph& graph, const RunOptions& options) {
  fill_standard_fds();
  if (auto valid = validate(graph.shape); !valid) return refuse(valid.error());
  const char* groups_fd = std::getenv("PIRACEMA_GROUPS_FD");
  if (is_set(groups_fd)) {
    const std::string groups = runtime::encode_groups(graph.groups);
    if (const int code = write_to("PIRACEMA_GROUPS_FD", groups_fd, groups); code != 0) return code;
  }
  const char* graph_fd = std::getenv("PIRACEMA_GRAPH_FD");
  if (is_set(graph_fd)) {
    return write_to("PIRACEMA_GRAPH_FD", graph_fd, runtime::encode_shape(graph.shape));
  }
  const auto environment = cluster::worker_environment();
  if (!environment) return refuse(environment.error());
  const auto all = wants_fusion(options);
  if (!all) return refuse(all.error());
  const auto fused = fuse(graph, *all);
  if (!fused) return refuse(fused.error());
  if (*environment && (*environment)->by_mpi) return cluster::run_rank(*fused, **environment);
  if (*environment) return cluster::run_worker(*fused, **environment);
  if (cluster::is_one_of_many_ranks()) return cluster::run_ranks(*fused, with_environment(options));
  return cluster::run_embedded(*fused, with_environment(options));
}

}  // namespace piracema
