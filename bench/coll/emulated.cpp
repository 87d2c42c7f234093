#include "emulated.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <thread>

#include "coll/mpi/exchange/mpi_types.h"

namespace piracema::bench {

int my_rank() {
  int me = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &me);
  return me;
}

bool begin(int& argc, char**& argv, const char* usage, int ranks) {
  MPI_Init(&argc, &argv);
  int size = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const std::string_view words(usage);
  const auto wanted = 2 + std::count(words.begin(), words.end(), ' ');
  if (argc == wanted && (ranks == 0 || size == ranks)) return true;
  if (my_rank() == 0) {
    std::fprintf(stderr, "want %s", usage);
    if (ranks != 0) std::fprintf(stderr, " and %d ranks", ranks);
    std::fprintf(stderr, "\n");
  }
  MPI_Finalize();
  return false;
}

std::string text_of(const coll::LinkTable& links) {
  std::string text;
  for (coll::Rank a = 0; a < links.size(); ++a) {
    for (coll::Rank b = 0; b < a; ++b) {
      char line[64];
      std::snprintf(line, sizeof line, "%u %u %.6fms\n", a, b, links.at(a, b).latency * 1e3);
      text += line;
    }
  }
  return text;
}

void write_links(const std::string& path, const coll::LinkTable& links) {
  if (my_rank() == 0) {
    std::ofstream(path + ".new") << text_of(links);
    std::rename((path + ".new").c_str(), path.c_str());
  }
  PMPI_Barrier(MPI_COMM_WORLD);
}

double seconds_of(int root, const std::function<void()>& work, Time after) {
  PMPI_Barrier(MPI_COMM_WORLD);
  if (after > Time{}) {
    std::int64_t here = now().count(), all = 0;
    PMPI_Allreduce(&here, &all, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(Time(all) + after));
  }
  std::int64_t began = now().count();
  work();
  std::int64_t ended = now().count(), last = 0;
  PMPI_Bcast(&began, 1, MPI_INT64_T, root, MPI_COMM_WORLD);
  PMPI_Allreduce(&ended, &last, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return in_s(Time(last - began));
}

double broadcasts(int root, int count, Time after) {
  const auto work = [&] {
    char message[24] = {};
    for (int i = 0; i < count; ++i) {
      MPI_Bcast(message, sizeof message, MPI_CHAR, root, MPI_COMM_WORLD);
    }
  };
  return seconds_of(root, work, after);
}

std::vector<double> repeat_broadcasts(int root, int count, int repeats, Time after) {
  std::vector<double> out;
  for (int i = 0; i < repeats; ++i) out.push_back(broadcasts(root, count, after));
  return out;
}

void print(const char* name, const std::vector<double>& values, const char* end) {
  if (my_rank() != 0) return;
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::printf("%s%.6f", i == 0 ? "" : ", ", values[i]);
  }
  std::printf("]%s\n", end);
}

}  // namespace piracema::bench
