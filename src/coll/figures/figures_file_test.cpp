#include "coll/figures/figures_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "coll/figures/testing.h"
#include "topology/measure/link_map.h"

using namespace piracema;
using namespace piracema::coll;
using coll::testing::figures_of_four;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/piracema_figures_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file() const { return path + "/figures"; }
  std::string path;
};

}  // namespace

TEST_CASE("the newest figures are in the file, for its owner alone, and nothing beside it") {
  const Folder folder;
  JobFigures figures = figures_of_four();
  REQUIRE(write_figures(folder.file(), figures).ok());
  figures.number = 8;
  REQUIRE(write_figures(folder.file(), figures).ok());
  const auto read = read_figures(folder.file());
  REQUIRE(read.ok());
  CHECK(read->number == 8);
  struct stat status {};
  REQUIRE(::stat(folder.file().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK_FALSE(std::filesystem::exists(folder.file() + ".new"));
}

TEST_CASE("what somebody left who was killed in between is in nobody's way") {
  const Folder folder;
  std::ofstream(folder.file() + ".new") << "half of";
  CHECK(write_figures(folder.file(), figures_of_four()).ok());
  CHECK(read_figures(folder.file()).ok());
}

TEST_CASE("where there is no folder none are written, and none are found") {
  const Folder folder;
  const auto written = write_figures(folder.path + "/none/figures", figures_of_four());
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().code == Errc::io);
  CHECK(read_figures(folder.file()).error().code == Errc::not_found);
}

TEST_CASE("a pipe, a link, a folder and too many bytes are refused, and nobody waits") {
  const Folder folder;
  REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  CHECK(read_figures(folder.file()).error().code == Errc::corrupt);
  ::unlink(folder.file().c_str());
  std::filesystem::create_directory(folder.file());
  CHECK(read_figures(folder.file()).error().code == Errc::corrupt);
  std::filesystem::remove(folder.file());
  REQUIRE(write_figures(folder.path + "/other", figures_of_four()).ok());
  REQUIRE(::symlink((folder.path + "/other").c_str(), folder.file().c_str()) == 0);
  CHECK(read_figures(folder.file()).error().code == Errc::io);
  ::unlink(folder.file().c_str());
  std::ofstream(folder.file()) << std::string(figures_file_bytes_max + 1, 'x');
  const auto read = read_figures(folder.file());
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().message.find("more than") != std::string::npos);
}

TEST_CASE("the largest job fits") {
  const Folder folder;
  JobFigures figures;
  figures.ranks = link_map_ranks_max;
  figures.hosts.assign(figures.ranks, std::string(64, 'h'));
  for (Rank rank = 0; rank < figures.ranks; ++rank) {
    figures.host_of.push_back(rank);
    figures.site_of.push_back(rank % JobFigures::sites_shown_max);
    if (rank > 0) figures.links.push_back({.to = rank});
  }
  figures.site_latencies.assign(JobFigures::sites_shown_max * JobFigures::sites_shown_max, 0.1);
  JobFigures::UsedTree tree;
  tree.parents.assign(figures.ranks, 0);
  tree.parents[0] = no_rank;
  tree.latencies.assign(figures.ranks, 0.01);
  figures.trees.assign(JobFigures::trees_max, tree);
  for (Rank rank = 1; rank < figures.ranks; ++rank) {
    figures.mst.neighbours.push_back(rank);
    figures.mst.costs.push_back(1);
  }
  figures.pairs = 1;
  REQUIRE(write_figures(folder.file(), figures).ok());
  const auto read = read_figures(folder.file());
  REQUIRE(read.ok());
  CHECK(read->trees.size() == JobFigures::trees_max);
  MESSAGE(std::filesystem::file_size(folder.file()), " bytes");
}
