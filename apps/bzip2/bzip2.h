#pragma once

#include <bzlib.h>

#include <cstddef>
#include <stdexcept>
#include <string>

/// What all programs that compress have in common: the work of an item.
namespace apps {

/// How much is compressed at once; each makes a bzip2 stream of its own.
constexpr std::size_t block_bytes = 900'000;

/// `block` as a bzip2 stream. `Bytes` is std::vector<char> or std::string.
template <class Bytes>
Bytes compress(const Bytes& block) {
  Bytes packed;
  packed.resize(block.size() + block.size() / 100 + 600);  // The bzip2 manual, section 3.5.1.
  auto packed_bytes = static_cast<unsigned>(packed.size());
  char empty = 0;  // bzip2 wants an address even then.
  char* from = block.empty() ? &empty : const_cast<char*>(block.data());  // It only reads.
  const int code = BZ2_bzBuffToBuffCompress(packed.data(), &packed_bytes, from,
                                            static_cast<unsigned>(block.size()), 9, 0, 0);
  if (code != BZ_OK) throw std::runtime_error("bzip2 failed with code " + std::to_string(code));
  packed.resize(packed_bytes);
  return packed;
}

}  // namespace apps
