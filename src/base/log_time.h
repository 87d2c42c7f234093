#pragma once

namespace piracema {

/// Whether lines of text begin with the time, as 2026-11-22T21:43:30.123Z: for processes that run
/// for long. Lines of JSON always have it.
void set_log_times(bool on);

}  // namespace piracema
