#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

#include "ckpt/image/job_directory.h"
#include "ckpt/image/partner_images.h"

/// This node's end of what its partner keeps (partner_images.h).
namespace piracema::ckpt {

/// How the partner's end is run: the remote shell's words and the host, and the file of this
/// program as that host finds it.
struct PartnerWay {
  std::vector<std::string> shell;
  std::string program;
  PartnerPlace place;

  /// The command that runs it there.
  std::vector<std::string> command(const std::string& what,
                                   const std::vector<std::string>& more = {}) const;
};

/// The words of a program's `run_send`, which sends an image in a process of its own: its parts,
/// its manifest, and the newest image that the store has.
std::vector<std::string> send_command(const std::string& program, const std::string& parts,
                                      const std::string& manifest, ImageId in_store,
                                      const PartnerWay& way);
/// `ckpt send WORDS...`: the exit code. What went wrong is a line of standard output. It ends with
/// the process that has started it.
int run_send(const std::vector<std::string>& words);

/// The partner is asked to bring what it has that is newer than `newest` to the store: the image's
/// number, else 0. Errc::lost if it cannot be reached, so that nobody knows; Errc::failed if it has
/// one that could not be brought.
Result<ImageId> ask_to_bring(const PartnerWay& way, ImageId newest, const JobDirectory& store);

}  // namespace piracema::ckpt
