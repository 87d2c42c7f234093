#include <piracema/run.h>

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/log.h"
#include "base/text.h"
#include "cluster/embedded.h"
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
int write_shape(const GraphShape& shape, int fd) {
  const std::string text = runtime::encode_shape(shape);
  const ssize_t written = ::write(fd, text.data(), text.size());
  return written == static_cast<ssize_t>(text.size()) ? 0 : 1;
}

RunOptions with_environment(RunOptions options) {
  const char* snapshots = std::getenv("PIRACEMA_SNAPSHOTS");
  if (options.snapshots.empty() && snapshots != nullptr) options.snapshots = snapshots;
  return options;
}

}  // namespace

int run(const Graph& graph, const RunOptions& options) {
  if (auto valid = validate(graph.shape); !valid) return refuse(valid.error());
  if (const char* fd = std::getenv("PIRACEMA_GRAPH_FD")) {
    return write_shape(graph.shape, std::atoi(fd));
  }
  const auto environment = cluster::worker_environment();
  if (!environment) return refuse(environment.error());
  if (*environment) return cluster::run_worker(graph, **environment);
  return cluster::run_embedded(graph, with_environment(options));
}

}  // namespace piracema
