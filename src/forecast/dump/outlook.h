#pragma once

#include <piracema/error.h>

#include <cstddef>
#include <string>

#include "forecast/dump/predictor.h"

/// What a keeper knows of the next dump of its job; it tells `piracema ckpt plan`.
namespace piracema::ckpt {

struct Outlook {
  DumpFeatures features;
  DumpForecast forecast;
  /// Dumps to this store that it was learnt from.
  std::size_t learnt = 0;
  /// Samples are still written to learn more.
  bool sampling = false;
};

/// One line of JSON, at most 4000 bytes.
std::string encode_outlook(const Outlook& outlook);
/// Errc::corrupt.
Result<Outlook> decode_outlook(const std::string& text);

}  // namespace piracema::ckpt
