#pragma once

#include <piracema/graph.h>

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/engine.h"

namespace piracema::tools {

/// `piracema graph APP ARGS…`: asks the program for its graph, and prints it in the language of
/// Graphviz on standard output.
class GraphCommand {
 public:
  /// `app` outlives it.
  explicit GraphCommand(CLI::App& app) : app_(app) {}

  /// Adds its subcommand.
  void add();

  /// Whether it is what the words asked for.
  bool parsed() const { return graph_->parsed(); }

  /// Gives the exit code.
  int run() const;

 private:
  CLI::App& app_;
  CLI::App* graph_ = nullptr;
};

/// Asks a program, found, for its graph, and for its groups if they are wanted. Errc::config when
/// it does not answer.
Result<engine::GraphShape> ask_program(const std::vector<std::string>& command,
                                       std::vector<engine::GroupShape>* groups = nullptr);

}  // namespace piracema::tools
