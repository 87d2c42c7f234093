#pragma once

#include <piracema/piracema.h>

/// What the programs with windows take in.
struct Reading {
  std::int64_t ms = 0, value = 0;
};

inline std::optional<Reading> none() { return std::nullopt; }
inline std::int64_t value_of(const Reading& reading) { return reading.value; }
inline piracema::EventTime time_of(const Reading& reading) {
  return piracema::EventTime(std::chrono::milliseconds(reading.ms));
}
