#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace piracema::tools {

struct ScreenOptions {
  /// Lines are cut to so many columns, and rows left out at so many lines; 0: as they are.
  std::size_t columns = 0, lines = 0;
  bool color = false;
};

enum class Paint { none, strong, good, bad, warn, soft };

/// Lines for a terminal. They are cut first and coloured then, so that no colour is cut.
class TerminalPage {
 public:
  using Rows = std::vector<std::vector<std::string>>;

  explicit TerminalPage(const ScreenOptions& options) : options_(options) {}

  void line(const std::string& words, Paint paint = Paint::none);
  /// An empty line, and a head for what follows.
  void head(const std::string& words);
  /// An empty line and columns as wide as they have to be, of which the first row is the head;
  /// those from `right` on to the right, but for the last one if it is of words. Nothing: a head
  /// alone.
  void table(const Rows& rows, std::size_t right, bool last_is_words);
  std::string done() { return std::move(out_); }

 private:
  const ScreenOptions options_;
  std::string out_;
  std::size_t count_ = 0;
};

/// "1.23 k", "912".
std::string short_number(double value);
/// "63 %".
std::string short_share(double part);
/// "1.4 MB", or "-" for none.
std::string short_bytes(double count);
/// "50 us", "1.2 ms", and longer ones as `human_seconds`.
std::string short_seconds(double seconds);

}  // namespace piracema::tools
