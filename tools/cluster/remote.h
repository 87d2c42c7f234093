#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema cluster rsh NODE WORDS`: for a job of several nodes, what ssh is elsewhere. The
/// cluster runs the words on that node, as a part of the job, with the standard streams of this
/// process.
class ClusterRemote {
 public:
  explicit ClusterRemote(CLI::App& cluster, const std::string& footer);

  bool parsed() const { return command_->parsed(); }
  /// The exit code: of what has run there, or 255.
  int run();

 private:
  static int ask(const std::string& node, const std::string& command);
  static int serve();

  CLI::App* command_;
};

}  // namespace piracema::tools
