#include <piracema/files.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"

namespace piracema {

namespace {

constexpr std::size_t block_bytes_max = std::size_t{1} << 30;

}  // namespace

void FileBlocks::start(const Context& context) {
  if (block_bytes_ == 0 || block_bytes_ > block_bytes_max) {
    throw std::runtime_error(concat("blocks of input '", share_.path(), "': want 1 to ",
                                    block_bytes_max, " bytes, found ", block_bytes_));
  }
  share_.open(context, block_bytes_);
}

std::optional<std::vector<char>> FileBlocks::operator()() {
  if (share_.at_end()) return std::nullopt;
  const std::uint64_t left = share_.end() - share_.position();
  std::vector<char> block(static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes_, left)));
  share_.read(share_.position(), block.data(), block.size());
  share_.set_position(share_.position() + block.size());
  return block;
}

void FileLines::start(const Context& context) {
  share_.open(context, 1);
  if (share_.position() != share_.begin() || share_.begin() == 0) return;
  // The line that the byte before the share belongs to is another replica's.
  std::uint64_t at = share_.begin() - 1;
  while (at < share_.end()) {
    const std::string_view bytes = share_.some(at);
    const std::size_t newline = bytes.find('\n');
    if (newline != std::string_view::npos) {
      at += newline + 1;
      break;
    }
    at += bytes.size();
  }
  share_.set_position(std::max(at, share_.begin()));
}

std::optional<std::string> FileLines::operator()() {
  if (share_.at_end()) return std::nullopt;
  std::string line;
  for (;;) {
    const std::string_view bytes = share_.some(share_.position() + line.size());
    const std::size_t newline = bytes.find('\n');
    const bool whole = newline != std::string_view::npos;
    line.append(bytes.substr(0, newline));
    if (line.size() > line_bytes_max_) {
      throw std::runtime_error(concat("input '", share_.path(), "': the line at byte ",
                                      share_.position(), ": want at most ", line_bytes_max_,
                                      " bytes, found more"));
    }
    if (whole || bytes.empty()) {
      share_.set_position(share_.position() + line.size() + (whole ? 1 : 0));
      return line;
    }
  }
}

}  // namespace piracema
