#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>
#include <vector>

namespace piracema::bench {

/// Where a text came from.
struct Corpus {
  /// Of the text, as long as it does not repeat itself.
  std::uint64_t distinct_bytes = 0;
  std::uint64_t files = 0;
};

/// Where every Debian has text: documents, manuals, licences, headers, scripts, locales.
std::vector<std::string> text_roots();

/// Writes exactly `size` bytes of real text to `path`, which must not exist: the files below
/// `roots` that hold no zero byte, one behind the other, sorted by name within each root, *.gz
/// unpacked by gzip, none above 8 MB. It begins again from the front when they are too few. The
/// same machine gives the same text. Errc::not_found when there is no text at all.
Result<Corpus> write_text(std::uint64_t size, const std::string& path,
                          const std::vector<std::string>& roots = text_roots());

/// "200M", "1G", "5000": bytes in powers of 1000, at least 1.
Result<std::uint64_t> parse_size(const std::string& text);

}  // namespace piracema::bench
