// Elastic waves in a block of earth (paper 002, section 4.1, where Ondes3D does this): velocities
// and stresses on a staggered grid, one leapfrog step after the other (Virieux 1986), a source in
// the middle. A basin of soft ground in one corner loses energy, and has memory variables for that:
// ranks that hold a piece of it need more memory than others. Plain MPI; it knows nothing of
// checkpoints.
//
//   elastic3d N STEPS [REPORT_EVERY]      N x N x N/2 cells, divided among ranks in x and y
//
// The last line is a hash of every bit of the result. It depends on N and STEPS alone.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "../../heat2d/mpi/steps.h"

namespace {

/// Velocities, then stresses.
enum Field { vx, vy, vz, sxx, syy, szz, sxy, sxz, syz, field_count };
constexpr int first_stress = sxx;

struct Range {
  long first = 0, count = 0;
};
Range part_of(long n, int place, int places) {
  const long first = n * place / places;
  return {first, n * (place + 1) / places - first};
}

/// What one rank holds: its cells, and one more of each neighbour around them.
struct Block {
  Block(long n_, int rank, const std::array<int, 2>& ranks)
      : n(n_),
        depth(n_ / 2),
        x(part_of(n, rank / ranks[1], ranks[0])),
        y(part_of(n, rank % ranks[1], ranks[1])),
        west(rank >= ranks[1] ? rank - ranks[1] : MPI_PROC_NULL),
        east(rank / ranks[1] + 1 < ranks[0] ? rank + ranks[1] : MPI_PROC_NULL),
        south(rank % ranks[1] > 0 ? rank - 1 : MPI_PROC_NULL),
        north(rank % ranks[1] + 1 < ranks[1] ? rank + 1 : MPI_PROC_NULL) {
    for (auto& field : fields) field.assign(at(x.count + 1, y.count + 1, depth + 1) + 1, 0.0f);
    // The basin's cells of this rank alone.
    soft_x = std::max(0L, std::min(x.count, n / 3 - x.first));
    soft_y = std::max(0L, std::min(y.count, n / 3 - y.first));
    for (auto& one : memory) {
      one.assign(static_cast<std::size_t>(soft_x * soft_y * (depth / 3)), 0.0f);
    }
  }

  /// Cells of this rank are 1 to count in x and y, and 1 to depth in z.
  std::size_t at(long i, long j, long k) const {
    return static_cast<std::size_t>((i * (y.count + 2) + j) * (depth + 2) + k);
  }
  bool is_soft(long i, long j, long k) const {
    return i <= soft_x && j <= soft_y && k <= depth / 3;
  }
  std::size_t soft_at(long i, long j, long k) const {
    return static_cast<std::size_t>(((i - 1) * soft_y + j - 1) * (depth / 3) + k - 1);
  }

  const long n, depth;
  const Range x, y;
  const int west, east, south, north;
  long soft_x = 0, soft_y = 0;
  std::array<std::vector<float>, field_count> fields;
  /// Of each stress, in the basin.
  std::array<std::vector<float>, 6> memory;
};

// One plane of a field to a neighbour, and his to us.
void swap_planes(Block& block, std::vector<float>& field, bool along_x, bool up) {
  const long count = along_x ? block.x.count : block.y.count;
  const long across = along_x ? block.y.count : block.x.count;
  const auto place = [&](long plane, long c, long k) {
    return along_x ? block.at(plane, c, k) : block.at(c, plane, k);
  };
  const int below = along_x ? block.west : block.south, above = along_x ? block.east : block.north;
  const int to = up ? above : below, from = up ? below : above;
  std::vector<float> out, in(static_cast<std::size_t>(across * block.depth));
  for (long c = 1; c <= across; ++c) {
    for (long k = 1; k <= block.depth; ++k) out.push_back(field[place(up ? count : 1, c, k)]);
  }
  MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_FLOAT, to, 1, in.data(),
               static_cast<int>(in.size()), MPI_FLOAT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (from == MPI_PROC_NULL) return;
  std::size_t next = 0;
  for (long c = 1; c <= across; ++c) {
    for (long k = 1; k <= block.depth; ++k) field[place(up ? 0 : count + 1, c, k)] = in[next++];
  }
}

void exchange(Block& block, int first, int last) {
  for (int f = first; f < last; ++f) {
    for (const bool along_x : {true, false}) {
      for (const bool up : {true, false}) {
        swap_planes(block, block.fields[static_cast<std::size_t>(f)], along_x, up);
      }
    }
  }
}

template <class Visit>
void for_cells(const Block& block, Visit visit) {
  for (long i = 1; i <= block.x.count; ++i) {
    for (long j = 1; j <= block.y.count; ++j) {
      for (long k = 1; k <= block.depth; ++k) visit(i, j, k, block.at(i, j, k));
    }
  }
}

void update_velocities(Block& block) {
  auto& f = block.fields;
  const std::size_t dx = block.at(1, 0, 0), dy = block.at(0, 1, 0), dz = 1;
  for_cells(block, [&](long, long, long, std::size_t c) {
    f[vx][c] += 0.1f * (f[sxx][c + dx] - f[sxx][c] + f[sxy][c] - f[sxy][c - dy] + f[sxz][c] -
                        f[sxz][c - dz]);
    f[vy][c] += 0.1f * (f[sxy][c] - f[sxy][c - dx] + f[syy][c + dy] - f[syy][c] + f[syz][c] -
                        f[syz][c - dz]);
    f[vz][c] += 0.1f * (f[sxz][c] - f[sxz][c - dx] + f[syz][c] - f[syz][c - dy] + f[szz][c + dz] -
                        f[szz][c]);
  });
}

// Layers that are stiffer the deeper they lie; the basin's memory variables follow its stresses and
// take a part of them away (a standard linear solid).
void update_stresses(Block& block) {
  auto& f = block.fields;
  const std::size_t dx = block.at(1, 0, 0), dy = block.at(0, 1, 0), dz = 1;
  for_cells(block, [&](long i, long j, long k, std::size_t c) {
    const bool soft = block.is_soft(i, j, k);
    const float mu = soft ? 0.3f : 1.0f + static_cast<float>(4 * k / block.depth) * 0.2f;
    const float lambda = 1.2f * mu;
    const float xx = f[vx][c] - f[vx][c - dx], yy = f[vy][c] - f[vy][c - dy],
                zz = f[vz][c] - f[vz][c - dz], all = lambda * (xx + yy + zz);
    const float change[6] = {0.1f * (all + 2 * mu * xx),
                             0.1f * (all + 2 * mu * yy),
                             0.1f * (all + 2 * mu * zz),
                             0.1f * mu * (f[vx][c + dy] - f[vx][c] + f[vy][c + dx] - f[vy][c]),
                             0.1f * mu * (f[vx][c + dz] - f[vx][c] + f[vz][c + dx] - f[vz][c]),
                             0.1f * mu * (f[vy][c + dz] - f[vy][c] + f[vz][c + dy] - f[vz][c])};
    for (std::size_t s = 0; s < 6; ++s) {
      float& stress = f[first_stress + s][c];
      stress += change[s];
      if (!soft) continue;
      float& remembered = block.memory[s][block.soft_at(i, j, k)];
      remembered += 0.05f * (stress - remembered);
      stress -= 0.02f * remembered;
    }
  });
}

// A Ricker wavelet at the middle of the block.
void shake(Block& block, long step) {
  const long i = block.n / 2 - block.x.first + 1, j = block.n / 2 - block.y.first + 1;
  if (i < 1 || i > block.x.count || j < 1 || j > block.y.count) return;
  const double t = (static_cast<double>(step) - 40) / 15,
               force = (1 - 2 * t * t) * std::exp(-t * t);
  block.fields[vz][block.at(i, j, block.depth / 2)] += static_cast<float>(force);
}

double energy(const Block& block) {
  double mine = 0, all = 0;
  for_cells(block, [&](long, long, long, std::size_t c) {
    for (int f = vx; f <= vz; ++f) {
      const double v = block.fields[static_cast<std::size_t>(f)][c];
      mine = std::max(mine, v * v);
    }
  });
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

// Of the cells of this rank.
std::uint64_t hash(const Block& block) {
  std::uint64_t mine = 0;
  for_cells(block, [&](long i, long j, long k, std::size_t c) {
    const auto place = static_cast<std::uint64_t>(
        ((block.x.first + i) * block.n + block.y.first + j) * block.depth + k);
    for (std::size_t f = 0; f < field_count; ++f) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &block.fields[f][c], sizeof bits);
      mine += mixed(bits, place * field_count + f);
    }
  });
  return mine;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<int, 2> grid{};
  MPI_Dims_create(ranks, 2, grid.data());
  const Steps steps("elastic3d", "", argc, argv, std::max(8, grid[0]), 2'000);
  if (!steps.ok) {
    MPI_Finalize();
    return 2;
  }
  Block block(steps.n, steps.rank, grid);
  for (long step = 1; step <= steps.count; ++step) {
    exchange(block, first_stress, field_count);
    update_velocities(block);
    shake(block, step);
    exchange(block, vx, first_stress);
    update_stresses(block);
    if (!steps.is_reported(step)) continue;
    const double largest = energy(block);
    if (steps.rank != 0) continue;
    std::printf("step %ld fastest %.17g\n", step, std::sqrt(largest));
    std::fflush(stdout);
  }
  print_hash(hash(block), steps.rank);
  MPI_Finalize();
  return 0;
}
