#include "host/host_list.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "base/random.h"
#include "base/testing.h"

using namespace piracema;
using namespace piracema::cluster;
using piracema::testing::ScratchDirectory;

namespace {

Variable of(const std::map<std::string, std::string>& variables) {
  return [&variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::vector<std::size_t> filled(const std::string& hosts, std::uint32_t processes) {
  const auto list = parse_host_list(hosts);
  REQUIRE(list);
  const auto places = fill(*list, processes);
  REQUIRE(places);
  return *places;
}

}  // namespace

TEST_CASE("hosts are taken in turns, or where places are counted host by host, as mpirun has it") {
  CHECK(filled("a,b", 5) == std::vector<std::size_t>{0, 1, 0, 1, 0});
  CHECK(filled("a:2,b:3", 5) == std::vector<std::size_t>{0, 0, 1, 1, 1});
  CHECK(filled("a:2,b", 3) == std::vector<std::size_t>{0, 0, 1});
  CHECK(filled("a:2,b:3", 1) == std::vector<std::size_t>{0});
  const auto few = fill(*parse_host_list("a:2,b:1"), 4);
  REQUIRE_FALSE(few);
  CHECK(few.error().message ==
        "--hosts: want at most 3 workers, as many as there are places (a (2), b (1)), found 4");
}

TEST_CASE("an address of IPv6 is no number of places") {
  const auto list = parse_host_list("a=fe80::1,::1,b=10.0.0.3:2");
  REQUIRE(list);
  CHECK(list->counted);
  CHECK(list->hosts[0].host.name == "a=fe80::1");
  CHECK(list->hosts[1].host.name == "::1");
  CHECK(list->hosts[2].host.name == "b=10.0.0.3");
  CHECK(list->hosts[2].places == 2);
}

TEST_CASE("a list that is none is refused") {
  for (const char* text : {"", ",", "a,", "a:0", "a:x", ":2", "a:5000", "-a", "a b", "a;rm"}) {
    CAPTURE(text);
    const auto list = parse_host_list(text);
    REQUIRE_FALSE(list);
    CHECK(list.error().code == Errc::usage);
    CHECK(list.error().message.find(text) != std::string::npos);
  }
}

TEST_CASE("a file of hosts is that of Open MPI or of MPICH") {
  const auto list = parse_hostfile("hosts",
                                   "# of the small cluster\n"
                                   "a slots=2 max_slots=4\n"
                                   "\n"
                                   "b:3   # as MPICH has it\n"
                                   "c\n"
                                   "c\n");
  REQUIRE(list);
  CHECK(list->counted);
  CHECK(list->text() == "a (2), b (3), c (2)");
  CHECK(list->hosts[1].host.named_at == "hosts:4");
  const auto why = [](const char* text) { return parse_hostfile("hosts", text).error().message; };
  CHECK(why("a slots=0\n") == "hosts:1: want slots=N, 1 to 4096, or site=NAME, found 'slots=0'");
  CHECK(why("a\nb cpus=2\n") == "hosts:2: want slots=N, 1 to 4096, or site=NAME, found 'cpus=2'");
  CHECK(why("a site=\n") == "hosts:1: want slots=N, 1 to 4096, or site=NAME, found 'site='");
  CHECK(why("a\n\nb;c\n") == "hosts:3: want a host, as a, a:2 or a slots=2, found 'b;c'");
  CHECK(why("# none\n") == "hosts: want a host in each line, found 'no host'");
}

TEST_CASE("hosts of a file say on which site they are, and those that do not are on one too") {
  const auto list = parse_hostfile("hosts",
                                   "a slots=2 site=east\n"
                                   "b site=west slots=2\n"
                                   "c\n"
                                   "d site=east\n"
                                   "e\n"
                                   "b\n");
  REQUIRE(list);
  CHECK(list->hosts[1].places == 3);
  CHECK(list->hosts[1].site == "west");
  CHECK(numbers_of_sites(*list) == std::vector<std::uint32_t>{0, 1, 2, 0, 2});
}

TEST_CASE("Slurm's short names are written out") {
  const auto names = [](const char* text) { return *expand_names(text); };
  CHECK(names("login") == std::vector<std::string>{"login"});
  CHECK(names("n[1-3],x[08-10,2]y,z") ==
        std::vector<std::string>{"n1", "n2", "n3", "x08y", "x09y", "x10y", "x2y", "z"});
  CHECK(names("r[1-2]n[3,4]") == std::vector<std::string>{"r1n3", "r1n4", "r2n3", "r2n4"});
  for (const char* text : {"", "n[", "n[]", "n[3-1]", "n[a]", "n[1-99999999]", "a,,b", "n[1-2",
                           "r[1-65536]n[1-65536]", "a;b"}) {
    CAPTURE(text);
    CHECK_FALSE(expand_names(text).ok());
  }
}

TEST_CASE("whatever bytes come as hosts, they are taken or refused") {
  Random random(7);
  const std::string samples[] = {"n[1-3,07],login", "a:2,b=10.0.0.1:3",
                                 "a slots=2 site=x\nb:3 # c\n"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text = samples[random.below(std::size(samples))];
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      text[random.below(text.size())] = static_cast<char>(random.next());
    }
    static_cast<void>(expand_names(text));
    if (const auto list = parse_host_list(text)) CHECK(list->places() >= 1);
    if (const auto list = parse_hostfile("hosts", text)) CHECK(list->places() >= 1);
  }
}

TEST_CASE("the hosts of a Slurm job are those of its variables") {
  const auto list = *allocated_hosts(of({{"SLURM_JOB_ID", "17"},
                                         {"SLURM_JOB_NODELIST", "n[1-3]"},
                                         {"SLURM_NTASKS", "5"},
                                         {"SLURM_TASKS_PER_NODE", "2(x2),1"},
                                         {"SLURM_JOB_CPUS_PER_NODE", "8(x3)"},
                                         {"SLURMD_NODENAME", "n1"}}));
  REQUIRE(list);
  CHECK(list->origin == "Slurm job 17");
  CHECK(list->text() == "n1 (2), n2 (2), n3 (1)");
  CHECK(list->hosts[0].host.here == true);
  CHECK(list->hosts[1].host.here == false);
  CHECK(list->rsh.front() == "srun");
  SUBCASE("and may be taken more than once") {
    CHECK(*fill(*list, 7) == std::vector<std::size_t>{0, 0, 1, 1, 2, 0, 0});
  }
  SUBCASE("without tasks a place is a processor") {
    const auto by_cpu = *allocated_hosts(of({{"SLURM_JOB_NODELIST", "n[1-3]"},
                                             {"SLURM_TASKS_PER_NODE", "1(x3)"},
                                             {"SLURM_JOB_CPUS_PER_NODE", "8(x3)"}}));
    REQUIRE(by_cpu);
    CHECK(by_cpu->text() == "n1 (8), n2 (8), n3 (8)");
  }
  SUBCASE("what does not fit is refused") {
    const auto half = allocated_hosts(
        of({{"SLURM_JOB_NODELIST", "n[1-3]"}, {"SLURM_JOB_CPUS_PER_NODE", "8(x2)"}}));
    REQUIRE_FALSE(half);
    CHECK(half.error().message ==
          "SLURM_JOB_CPUS_PER_NODE: want a number for each of the hosts of n[1-3] (or give "
          "--hosts), found '8(x2)'");
  }
  SUBCASE("but for what srun has started, which is where it was meant to be") {
    CHECK_FALSE(allocated_hosts(of({{"SLURM_JOB_NODELIST", "n[1-3]"}, {"SLURM_STEP_ID", "0"}}))
                    ->has_value());
  }
}

TEST_CASE("the hosts of a PBS or OAR job are those of its file, a line for each place") {
  const ScratchDirectory folder;
  const std::string file = folder.path() + "/nodes";
  std::ofstream(file) << "a\na\nb\n";
  const auto pbs = *allocated_hosts(of({{"PBS_JOBID", "3.server"}, {"PBS_NODEFILE", file}}));
  REQUIRE(pbs);
  CHECK(pbs->origin == "PBS job 3.server");
  CHECK(pbs->text() == "a (2), b (1)");
  CHECK(pbs->rsh.empty());
  const auto oar = *allocated_hosts(of({{"OAR_JOB_ID", "4"}, {"OAR_NODEFILE", file}}));
  REQUIRE(oar);
  CHECK(oar->rsh == std::vector<std::string>{"oarsh"});
  CHECK_FALSE(allocated_hosts(of({{"PBS_NODEFILE", folder.path() + "/none"}})).ok());
  CHECK_FALSE(allocated_hosts(of({}))->has_value());
}
