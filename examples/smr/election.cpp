// Several processes of which one does the work: the leader, until it dies, is cut off or resigns.
//
//     piracema kv demo                          # in one terminal; prints what the others need
//     election CONFIGURATION KEY_FILE NAME      # in several others
//
// Kill the one that leads, or freeze it with Ctrl-Z: another one goes on, with a larger term.

#include <piracema/smr/client.h>
#include <piracema/smr/election.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

using namespace piracema;

namespace {

int fail(const Error& error) {
  std::fprintf(stderr, "election: %s\n", error.message.c_str());
  return 1;
}

// One piece of work: it counts, for as long as nobody else has become the leader.
bool work(smr::Client& client, const smr::kv::Election& election, int count) {
  const smr::kv::Put put{.key = "count", .value = std::to_string(count), .fence = election.fence()};
  const auto answer = client.invoke_ordered(smr::kv::encode(put));
  const auto reply = answer ? smr::kv::decode_reply(*answer) : answer.error();
  return reply && reply->status == smr::kv::Status::ok;
}

int run(smr::Client& client, const std::string& name) {
  smr::kv::Election election(client, "boss");
  election.observe([](const std::optional<smr::kv::Leader>& leader) {
    std::printf("%s leads\n", leader ? leader->who.c_str() : "nobody");
    std::fflush(stdout);
  });
  while (true) {
    const auto term = election.campaign(name, {.ttl = std::chrono::seconds(3)});
    if (!term) return fail(term.error());
    for (int count = 0; election.leads() && work(client, election, count); ++count) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    std::printf("%s leads no longer\n", name.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s CONFIGURATION KEY_FILE NAME\n", argv[0]);
    return 2;
  }
  const auto configuration = smr::read_configuration(argv[1]);
  if (!configuration) return fail(configuration.error());
  auto client = smr::Client::open(*configuration, {.id = 1, .key_file = argv[2]});
  if (!client) return fail(client.error());
  return run(**client, argv[3]);
}
