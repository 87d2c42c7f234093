#pragma once

#include <string>
#include <vector>

namespace piracema::tools {

/// `piracema graph APP ARGS…`: asks the program for its graph, prints it in the language of
/// Graphviz on standard output, and returns the exit code.
int graph_command(std::vector<std::string> command);

}  // namespace piracema::tools
