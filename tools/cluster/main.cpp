#include <string_view>

#include "base/standard_fds.h"
#include "jobs/local/supervisor.h"
#include "tools/cluster/command.h"
#include "tools/command_line.h"
#include "tools/product.h"

int main(int argc, char** argv) {
  using namespace piracema;
  fill_standard_fds();
  // Not for people: what a node starts beside each job.
  if (argc > 1 && std::string_view(argv[1]) == "supervise") {
    return jobs::run_supervisor(std::vector<std::string>(argv + 2, argv + argc));
  }
  auto words = tools::product_words("cluster", argc, argv);
  const auto app = tools::make_command_line();
  tools::ClusterCommand cluster(*app);
  return tools::run_command_line(*app, static_cast<int>(words.size()) - 1, words.data(),
                                 [&] { return cluster.run(); });
}
