#include "ckpt/keeper/image_commands.h"

#include "base/text.h"

namespace piracema::ckpt {

Order ImageCommands::begin(CommandKind kind) {
  begun_ = kind;
  const bool is_before = kind == CommandKind::before_save;
  const Time within =
      (is_before ? keeper_.before_save.command : keeper_.after_restore).value_or(Time{});
  return {.kind = OrderKind::command,
          .command = {"/bin/sh", "-c", is_before ? settings_.before_save : settings_.after_restore},
          .working_directory = job_.working_directory,
          .output = concat(directory_.log_path(), is_before ? "/before-save" : "/after-restore"),
          .within_ms = static_cast<std::uint32_t>(within / std::chrono::milliseconds(1))};
}

CommandEnded ImageCommands::ended(const Report& report) const {
  const std::string option =
      begun_ == CommandKind::before_save ? "--before-save " : "--after-restore ";
  return {report.ok, option + report.message};
}

}  // namespace piracema::ckpt
