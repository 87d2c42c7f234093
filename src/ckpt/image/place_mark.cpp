#include "ckpt/image/place_mark.h"

#include <random>

#include "base/hex.h"
#include "base/text.h"
#include "store/disk/files.h"

namespace piracema::ckpt {

namespace {

constexpr std::size_t mark_bytes_max = 64;

std::string mark_path(const std::string& place) { return place + "/mark"; }

}  // namespace

std::string draw_mark() {
  std::random_device device;
  return store::to_hex((std::uint64_t{device()} << 32) | device());
}

std::string mark_of(const std::string& place) {
  const auto text = store::read_file(mark_path(place), mark_bytes_max);
  if (!text) return {};
  return std::string(reinterpret_cast<const char*>(text->data()), text->size());
}

Result<Done> write_mark(const std::string& place, const std::string& mark) {
  const Bytes piece = as_bytes(mark);
  if (auto done = store::replace_file(mark_path(place), {&piece, 1}); !done) return done;
  return store::sync_directory(place);
}

}  // namespace piracema::ckpt
