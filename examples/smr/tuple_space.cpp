// The tuple space of paper 003 as a service that does not die.
//
//     tuple_space replica CONFIGURATION ID KEY_FILE DIRECTORY [--first-start]
//     tuple_space client CONFIGURATION ID KEY_FILE out|rdp|inp FIELD...
//
// In a template _ is a field that may be anything:
//
//     tuple_space client group.toml 1 client.key out temperature kitchen 21
//     tuple_space client group.toml 1 client.key rdp temperature _ _

#include "tuple_space.h"

#include <piracema/smr/client.h>
#include <piracema/smr/replica.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using namespace piracema;

namespace {

// Of a conflict by the number of fields a replica finds out by itself, whatever clients say.
constexpr auto conflicts = TupleSpace::Conflicts::by_first_field;

int serve(const smr::Configuration& configuration, char** argv, bool first_start) {
  TupleSpace space(conflicts);
  const smr::ReplicaOptions options{.id = static_cast<std::uint32_t>(std::atoi(argv[3])),
                                    .key_file = argv[4],
                                    .directory = argv[5],
                                    .first_start = first_start};
  return smr::run_replica(configuration, options, space);
}

int fail(const Error& error) {
  std::fprintf(stderr, "tuple_space: %s\n", error.message.c_str());
  return 1;
}

int ask(const smr::Configuration& configuration, int argc, char** argv) {
  const std::string name = argv[5];
  TupleSpace::Operation operation;
  if (name == "out")
    operation.action = TupleSpace::Action::out;
  else if (name == "inp")
    operation.action = TupleSpace::Action::inp;
  else if (name != "rdp")
    return fail({Errc::usage, "no such operation: " + name});
  for (int i = 6; i < argc; ++i) {
    const std::string field = argv[i];
    operation.fields.push_back(field == "_" ? std::nullopt : std::optional(field));
  }
  const Buffer bytes = TupleSpace::encode(operation);
  if (!TupleSpace::decode(bytes)) return fail({Errc::usage, "1 to 16 fields; out has no _"});

  const smr::ClientOptions options{.id = static_cast<std::uint64_t>(std::atoll(argv[3])),
                                   .key_file = argv[4]};
  auto client = smr::Client::open(configuration, options);
  if (!client) return fail(client.error());
  const auto reply =
      name == "rdp" ? (*client)->invoke_unordered(bytes) : (*client)->invoke_ordered(bytes);
  if (!reply) return fail(reply.error());
  const auto found = TupleSpace::decode_reply(*reply);
  if (!found) return name == "out" ? 0 : 1;
  for (const std::string& field : *found) std::printf("%s ", field.c_str());
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool first_start = argc == 7 && argv[6] == std::string("--first-start");
  const bool serves = what == "replica" && (argc == 6 || first_start),
             asks = what == "client" && argc >= 7;
  if (!serves && !asks) {
    std::fprintf(stderr, "usage: %s replica CONFIGURATION ID KEY_FILE DIRECTORY [--first-start]\n",
                 argv[0]);
    std::fprintf(stderr, "       %s client CONFIGURATION ID KEY_FILE out|rdp|inp FIELD...\n",
                 argv[0]);
    return 2;
  }
  const auto configuration = smr::read_configuration(argv[2]);
  if (!configuration) return fail(configuration.error());
  return serves ? serve(*configuration, argv, first_start) : ask(*configuration, argc, argv);
}
