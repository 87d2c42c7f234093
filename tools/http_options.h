#pragma once

#include <CLI/App.hpp>
#include <string>

namespace piracema::tools {

/// Adds --http and --http-token; `what` is shown: "the job".
void add_http_options(CLI::App& app, const std::string& what, std::string& address,
                      std::string& token_file);

}  // namespace piracema::tools
