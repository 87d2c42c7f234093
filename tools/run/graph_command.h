#pragma once

#include <piracema/graph.h>

#include <string>
#include <vector>

#include "base/engine.h"

namespace piracema::tools {

/// `piracema graph APP ARGS…`: asks the program for its graph, prints it in the language of
/// Graphviz on standard output, and returns the exit code.
int graph_command(std::vector<std::string> command);

/// Asks a program, found, for its graph, and for its groups if they are wanted. Errc::config when
/// it does not answer.
Result<engine::GraphShape> ask_program(const std::vector<std::string>& command,
                               std::vector<engine::GroupShape>* groups = nullptr);

}  // namespace piracema::tools
