// Gathers and scatters: sizes, roots, in place, parts of various lengths.
#include <cstring>

#include "checks.h"

namespace {

void of_equal_lengths(MPI_Comm comm) {
  for (const int count : {0, 1, 5, 30'000}) {
    const auto many = static_cast<std::size_t>(count), all = many * static_cast<std::size_t>(size);
    std::vector<int> mine(many);
    const auto value = [](int rank, std::size_t i) { return rank * 100'000 + static_cast<int>(i); };
    for (std::size_t i = 0; i < many; ++i) mine[i] = value(me, i);
    std::vector<int> wanted;
    for (int rank = 0; rank < size; ++rank) {
      for (std::size_t i = 0; i < many; ++i) wanted.push_back(value(rank, i));
    }
    for (int root = 0; root<size; root += size> 4 ? 3 : 1) {
      doing = "gather of " + std::to_string(count) + " to " + std::to_string(root);
      std::vector<int> got(all, -1);
      MPI_Gather(mine.data(), count, MPI_INT, got.data(), count, MPI_INT, root, comm);
      if (me == root) check(got == wanted, "not what was sent");
      got.assign(all, -1);
      if (me == root) {
        for (std::size_t i = 0; i < many; ++i)
          got[static_cast<std::size_t>(me) * many + i] = mine[i];
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got.data(), count, MPI_INT, root, comm);
        check(got == wanted, "in place: not what was sent");
      } else {
        MPI_Gather(mine.data(), count, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, root, comm);
      }
      doing = "scatter of " + std::to_string(count) + " from " + std::to_string(root);
      std::vector<int> part(many, -1);
      MPI_Scatter(me == root ? wanted.data() : nullptr, count, MPI_INT, part.data(), count, MPI_INT,
                  root, comm);
      check(part == mine, "not this rank's part");
      part.assign(many, -1);
      if (me == root) {
        MPI_Scatter(wanted.data(), count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm);
      } else {
        MPI_Scatter(nullptr, 0, MPI_DATATYPE_NULL, part.data(), count, MPI_INT, root, comm);
        check(part == mine, "root in place: not this rank's part");
      }
    }
    doing = "allgather of " + std::to_string(count);
    std::vector<int> got(all, -1);
    MPI_Allgather(mine.data(), count, MPI_INT, got.data(), count, MPI_INT, comm);
    check(got == wanted, "not what was sent");
    got.assign(all, -1);
    for (std::size_t i = 0; i < many; ++i) got[static_cast<std::size_t>(me) * many + i] = mine[i];
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got.data(), count, MPI_INT, comm);
    check(got == wanted, "in place: not what was sent");
  }
}

void of_various_lengths(MPI_Comm comm) {
  for (const int longest : {3, 60'000}) {
    // Rank r has r * longest / size values, with a gap before each part; rank 0 has none.
    std::vector<int> counts, places;
    int end = 0;
    for (int rank = 0; rank < size; ++rank) {
      counts.push_back(rank * longest / size);
      places.push_back(end + 2);
      end += counts.back() + 2;
    }
    const auto mine =
        bytes_of(me, static_cast<std::size_t>(counts[static_cast<std::size_t>(me)]) * 4);
    std::vector<unsigned char> wanted(static_cast<std::size_t>(end) * 4, 0xEE);
    for (int rank = 0; rank < size; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const auto part = bytes_of(rank, static_cast<std::size_t>(counts[r]) * 4);
      if (!part.empty()) std::memcpy(wanted.data() + places[r] * 4, part.data(), part.size());
    }
    const int count = counts[static_cast<std::size_t>(me)];
    for (int root = 0; root<size; root += size> 4 ? 3 : 1) {
      doing = "gatherv to " + std::to_string(root);
      std::vector<unsigned char> got(wanted.size(), 0xEE);
      MPI_Gatherv(mine.data(), count, MPI_INT, got.data(), counts.data(), places.data(), MPI_INT,
                  root, comm);
      if (me == root) check(got == wanted, "not what was sent");
      doing = "scatterv from " + std::to_string(root);
      std::vector<unsigned char> part(mine.size(), 0);
      MPI_Scatterv(wanted.data(), counts.data(), places.data(), MPI_INT, part.data(), count,
                   MPI_INT, root, comm);
      check(part == mine, "not this rank's part");
    }
    doing = "allgatherv";
    std::vector<unsigned char> got(wanted.size(), 0xEE);
    MPI_Allgatherv(mine.data(), count, MPI_INT, got.data(), counts.data(), places.data(), MPI_INT,
                   comm);
    check(got == wanted, "not what was sent");
  }
}

}  // namespace

void gathers(MPI_Comm comm) {
  of_equal_lengths(comm);
  of_various_lengths(comm);
}
