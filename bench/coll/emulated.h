#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "topology/trees/costs.h"

/// What the benchmarks of collectives on emulated links share. All ranks of MPI_COMM_WORLD call
/// each of these, `begin` first.
namespace piracema::bench {

int my_rank();
inline double in_s(Time time) { return std::chrono::duration<double>(time).count(); }

/// MPI_Init. False, and MPI has ended, unless there are as many words as `usage` names, and so many
/// ranks (0: any): rank 0 says what is wanted.
bool begin(int& argc, char**& argv, const char* usage, int ranks);

/// What the emulator's file says of these links.
std::string text_of(const coll::LinkTable&);
/// Rank 0 replaces the emulator's file in one step; then all go on.
void write_links(const std::string& path, const coll::LinkTable&);

/// From the beginning at `root` until the last rank is through. All ranks share one clock, and
/// begin together `after` a barrier: as long as that takes to let everybody go.
double seconds_of(int root, const std::function<void()>& work, Time after = {});

/// So many broadcasts of 24 bytes, the paper's, one after the other.
double broadcasts(int root, int count, Time after = {});
/// The same again and again.
std::vector<double> repeat_broadcasts(int root, int count, int repeats, Time after = {});

/// A member of a JSON object, printed by rank 0.
void print(const char* name, const std::vector<double>& values, const char* end = ",");

}  // namespace piracema::bench
