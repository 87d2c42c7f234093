#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema cluster rsh NODE WORDS`: for the command of a job of several nodes, what ssh is
/// elsewhere. The cluster runs the words on that node, as a part of the job, and this ends as the
/// part does.
class ClusterRemote {
 public:
  explicit ClusterRemote(CLI::App& cluster, const std::string& footer);

  bool parsed() const { return command_->parsed(); }
  /// The exit code: of the part, or 255.
  int run();

 private:
  int ask(const std::string& node, std::vector<std::string> words, std::string input) const;

  CLI::App* command_;
};

}  // namespace piracema::tools
