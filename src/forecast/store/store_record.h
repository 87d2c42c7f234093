#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

#include "forecast/dump/predictor.h"

/// What is remembered of a store: the dumps that were made to it, whoever's they were. It lies on
/// the store itself; docs/formats/checkpoint_image.md.
namespace piracema::ckpt {

struct PastDump {
  DumpFeatures features;
  double seconds = 0;
  auto fields() { return std::tie(features, seconds); }
};

/// Of so many dumps, the newest.
constexpr std::size_t past_dumps_max = 300;

/// The directory ".piracema-store" beside the job's, so that all jobs there share it; in the job's
/// own where that is another file system, or where others could have written what lies beside it.
/// Made if need be. Errc::io.
Result<std::string> store_place(const std::string& job_directory);

/// Oldest first; none if there is no file. Errc::corrupt for a torn or foreign file, Errc::refused
/// for one of another version, Errc::io.
Result<std::vector<PastDump>> read_past_dumps(const std::string& place);

/// One more. Several processes of this host may do so at a time; of two hosts one may be forgotten.
/// A file that is corrupt is begun anew, one of another version is left as it is: Errc::refused.
Result<Done> add_past_dump(const std::string& place, const PastDump& dump);

/// What all of them teach.
Predictor learn_from(const std::vector<PastDump>& dumps);

}  // namespace piracema::ckpt
