// The linked list of paper 003 as a service that does not die.
//
//     linked_list replica CONFIGURATION ID KEY_FILE DIRECTORY [--first-start]
//     linked_list client CONFIGURATION ID KEY_FILE add|remove|get|contains NUMBER

#include "linked_list.h"

#include <piracema/smr/client.h>
#include <piracema/smr/replica.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace piracema;

namespace {

constexpr std::int32_t initial_count = 100'000;

int serve(const smr::Configuration& configuration, char** argv, bool first_start) {
  LinkedList list(initial_count);
  const smr::ReplicaOptions options{.id = static_cast<std::uint32_t>(std::atoi(argv[3])),
                                    .key_file = argv[4],
                                    .directory = argv[5],
                                    .first_start = first_start};
  return smr::run_replica(configuration, options, list);
}

int fail(const Error& error) {
  std::fprintf(stderr, "linked_list: %s\n", error.message.c_str());
  return 1;
}

int ask(const smr::Configuration& configuration, char** argv) {
  const std::string name = argv[5];
  LinkedList::Operation operation;
  if (name == "add")
    operation.action = LinkedList::Action::add;
  else if (name == "remove")
    operation.action = LinkedList::Action::remove;
  else if (name == "get")
    operation.action = LinkedList::Action::get;
  else if (name != "contains")
    return fail({Errc::usage, "no such operation: " + name});
  operation.number = std::atoi(argv[6]);

  const smr::ClientOptions options{.id = static_cast<std::uint64_t>(std::atoll(argv[3])),
                                   .key_file = argv[4]};
  auto client = smr::Client::open(configuration, options);
  if (!client) return fail(client.error());
  const auto reply =
      (*client)->invoke_parallel(LinkedList::group(operation), LinkedList::encode(operation));
  if (!reply) return fail(reply.error());
  std::printf("%s\n", LinkedList::to_text(operation, *reply).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool first_start = argc == 7 && argv[6] == std::string("--first-start");
  const bool serves = what == "replica" && (argc == 6 || first_start),
             asks = what == "client" && argc == 7;
  if (!serves && !asks) {
    std::fprintf(stderr, "usage: %s replica CONFIGURATION ID KEY_FILE DIRECTORY [--first-start]\n",
                 argv[0]);
    std::fprintf(stderr, "       %s client CONFIGURATION ID KEY_FILE OPERATION NUMBER\n", argv[0]);
    return 2;
  }
  const auto configuration = smr::read_configuration(argv[2]);
  if (!configuration) return fail(configuration.error());
  return serves ? serve(*configuration, argv, first_start) : ask(*configuration, argv);
}
