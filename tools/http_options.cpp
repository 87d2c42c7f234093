#include "tools/http_options.h"

#include <CLI/CLI.hpp>

#include "base/text.h"

namespace piracema::tools {

void add_http_options(CLI::App& app, const std::string& what, std::string& address,
                      std::string& token_file) {
  app.add_flag("--http", address,
               concat("Show ", what,
                      " by HTTP: page, figures for Prometheus, JSON.\n"
                      "--http is any port of loopback, and said; --http=ADDRESS:PORT or\n"
                      "--http=PORT is another one"))
      ->type_name("[=ADDRESS]");
  app.add_option("--http-token", token_file,
                 "File with the token that HTTP asks for, 16 letters and digits\n"
                 "at least; needed beyond loopback");
}

}  // namespace piracema::tools
