#pragma once

#include <algorithm>
#include <array>
#include <cereal/types/array.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "state/keyed_saver.h"

namespace piracema::bench {

inline double ms(Time time) { return std::chrono::duration<double, std::milli>(time).count(); }

template <class Work>
Time time_of(const Work& work) {
  const Time start = now();
  work();
  return now() - start;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// A state of so many bytes.
template <std::size_t Bytes>
struct Value {
  std::array<std::uint64_t, Bytes / 8> words{};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(cereal::binary_data(words.data(), sizeof words));
  }
};

/// A snapshot of states by key while they are changed.
struct KeyedRound {
  /// What `batch` takes as a rule, when nothing is saved.
  double batch_ms = 0;
  /// The longest time that items waited: the cut, a slice of saving, or what a batch took beyond
  /// the rule.
  double longest_ms = 0;
  double seconds = 0;
  std::uint64_t bytes = 0;
};

/// Each of `rounds` changes so many `changes`, by calls of `batch` of `batch_items` each: half of
/// them before the snapshot, the others while it is saved, in slices of 200 us. Pieces of the part
/// are taken as they are made, and dropped, as by a writer that keeps pace.
template <class Batch>
std::vector<KeyedRound> keyed_rounds(state::KeyedSaver& saver, std::uint64_t rounds,
                                     std::uint64_t changes, std::uint64_t batch_items,
                                     const Batch& batch) {
  constexpr Time slice = std::chrono::microseconds(200);
  std::vector<KeyedRound> all;
  for (SnapshotId snapshot = 1; snapshot <= rounds; ++snapshot) {
    KeyedRound round;
    std::vector<double> quiet;
    std::uint64_t changed = 0;
    for (; changed < changes / 2; changed += batch_items) quiet.push_back(ms(time_of(batch)));
    round.batch_ms = median(quiet);
    const auto waits = [&](double time) { round.longest_ms = std::max(round.longest_ms, time); };
    const Time begun = now();
    waits(ms(time_of([&] {
      saver.freeze(snapshot, snapshot - 1);
      saver.begin({});
    })));
    for (bool more = true; more;) {
      waits(ms(time_of([&] {
        const Time until = now() + slice;
        do {
          more = saver.go_on();
          round.bytes += saver.take_piece().size();
        } while (more && now() < until);
      })));
      if (changed >= changes) continue;
      waits(ms(time_of(batch)) - round.batch_ms);
      changed += batch_items;
    }
    store::PartContent part;
    waits(ms(time_of([&] { part = saver.take(); })));
    round.bytes += part.data.size();
    round.seconds = ms(now() - begun) / 1'000;
    for (; changed < changes; changed += batch_items) batch();
    all.push_back(round);
  }
  return all;
}

}  // namespace piracema::bench
