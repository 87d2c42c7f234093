#pragma once

#include <string_view>

namespace piracema::tools {

/// What a browser gets of a job that can be saved and of the daemon of a queue, beside what all pages
/// share; compiled in from the files beside this one.
extern const std::string_view ckpt_html, ckpt_script, ckpt_daemon_html, ckpt_daemon_script;

}  // namespace piracema::tools
