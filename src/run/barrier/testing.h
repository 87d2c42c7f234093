#pragma once

#include <doctest/doctest.h>
#include <piracema/batch.h>
#include <piracema/codec.h>

#include <cstdint>
#include <vector>

#include "run/barrier/batch_log.h"

/// For the tests of what is under way when a barrier comes.
namespace piracema::runtime::testing {

inline Batch batch_with(std::uint64_t value) {
  Batch batch;
  batch.add(value, value);
  return batch;
}

/// Of a log that is all of it.
inline std::vector<std::uint64_t> logged_values(Bytes log) {
  wire::Reader reader(log);
  const auto read = BatchLog::read(reader);
  REQUIRE(read);
  REQUIRE(reader.finish());
  std::vector<std::uint64_t> values;
  for (const auto& one : *read) {
    values.push_back(Codec<std::uint64_t>::decode(BatchReader(one.batch).next()));
  }
  return values;
}

inline Buffer some_state() { return Buffer(as_bytes("s")); }

}  // namespace piracema::runtime::testing
