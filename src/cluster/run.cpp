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

// `piracema graph` asks for the shape and nothing else.
int write_shape(const GraphShape& shape, std::string_view fd_text) {
  int fd = -1;
  const auto [end, error] = std::from_chars(fd_text.data(), fd_text.data() + fd_text.size(), fd);
  if (error != std::errc{} || end != fd_text.data() + fd_text.size()) {
    return refuse(
        {Errc::config, concat("PIRACEMA_GRAPH_FD: want a descriptor, found '", fd_text, "'")});
  }
  const std::string text = runtime::encode_shape(shape);
  if (::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return 0;
  return refuse({Errc::config, with_errno(concat("PIRACEMA_GRAPH_FD: descriptor ", fd))});
}

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
  const char* graph_fd = std::getenv("PIRACEMA_GRAPH_FD");
  if (graph_fd != nullptr && *graph_fd != '\0') return write_shape(graph.shape, graph_fd);
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
