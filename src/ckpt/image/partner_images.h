#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ckpt/image/job_directory.h"

/// A copy of a job's newest image on a disk of another node, its partner, for as long as the store
/// lacks it: a node may be lost before its image is in the store.
namespace piracema::ckpt {

/// Which node, as a remote shell names it, and a directory there.
struct Partner {
  std::string host, directory;
};

/// "HOST:DIR". Errc::usage.
Result<Partner> parse_partner(const std::string& text);

/// The place of one job there. Its images are of the job's past if it has this mark.
struct PartnerPlace {
  std::string directory;
  std::uint64_t job = 0;
  std::string mark;

  std::string path() const;
  /// Words of a command line that name it, and back. Errc::usage.
  std::vector<std::string> words() const;
  static Result<PartnerPlace> parse(const std::vector<std::string>& words);
};

// On the partner, whatever process they are run by.

/// The newest image there that is newer than `newest` and whole is in the store when this returns,
/// if there is one: its number, else 0. The store is somebody's who has locked it and waits for
/// this. Errc::io: there is one that could not be brought.
Result<ImageId> bring_here(const PartnerPlace& place, ImageId newest, JobDirectory& store);

/// `ckpt partner receive|bring|forget WORDS...`: the exit code.
/// - receive: takes an image from standard input (partner_messages.h), and keeps it in place of
///   older ones once it is whole. Gives up when nothing comes any more.
/// - bring: `bring_here`. Prints "+", and the image's number if there was one, or "-" and what went
///   wrong.
/// - forget: what is there of the job goes.
int run_partner(const std::vector<std::string>& words);

}  // namespace piracema::ckpt
