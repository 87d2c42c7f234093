#pragma once

#include <string>
#include <utility>

#include "ckpt/capsule/capsule_messages.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/keeper/keeper.h"

namespace piracema::ckpt {

/// The user's commands before an image and after a restart, for a shell: one at a time. A place
/// runs them. Pure.
class ImageCommands {
 public:
  struct Settings {
    /// Empty: there is none, and it is not begun.
    std::string before_save, after_restore;
  };
  /// `keeper` has a time for those that there are. It and the others outlive this.
  ImageCommands(Settings settings, const KeeperSettings& keeper, const JobFile& job,
                const JobDirectory& directory)
      : settings_(std::move(settings)), keeper_(keeper), job_(job), directory_(directory) {}

  /// The order that runs it. Its own output is kept beside criu's.
  Order begin(CommandKind kind);
  /// The one that was begun last has ended, or could not be run: by its option's name.
  CommandEnded ended(const Report& report) const;

 private:
  const Settings settings_;
  const KeeperSettings& keeper_;
  const JobFile& job_;
  const JobDirectory& directory_;
  CommandKind begun_ = CommandKind::before_save;
};

}  // namespace piracema::ckpt
