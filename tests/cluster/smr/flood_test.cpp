// Clients that have the right to ask, and ask for more than anybody may: others are answered all
// the same, and replicas take no more memory than they should.

#include <doctest/doctest.h>
#include <piracema/smr/administrator.h>

#include <atomic>
#include <fstream>

#include "cluster/smr/crowd.h"
#include "smr/client/client_engine.h"
#include "smr/link/caller.h"
#include "smr/link/client_wire.h"
#include "smr/order/messages/batch.h"

using namespace piracema;
using namespace piracema::testing;

namespace {

constexpr smr::ClientId flooder_id = 2;

/// Sends to every replica as fast as sockets take it, and listens to nothing.
class Flooder {
 public:
  /// Makes the next request.
  using Make = std::function<smr::Request(std::uint64_t number)>;

  /// Is admitted as client 2: it takes turns with client 1, who is the crowd. So many connections
  /// to each replica take turns.
  Flooder(const tools::KvGroup& group, Make make, std::size_t connections)
      : configuration_(group.configuration()),
        make_(std::move(make)),
        connections_(connections),
        self_{configuration_.name,
              {smr::PeerName::Role::client, flooder_id},
              smr::KeyPair::generate()} {
    auto administrator = smr::Administrator::open(
        configuration_, {.key_file = group.administrator_key(), .timeout = seconds(60)});
    REQUIRE(administrator.ok());
    REQUIRE((*administrator)->admit(flooder_id, smr::hex_of(self_.key.public_key())).ok());
    thread_ = std::thread([this] { flood(); });
  }
  ~Flooder() {
    stopped_ = true;
    thread_.join();
  }
  std::uint64_t sent() const { return sent_; }

 private:
  void flood() {
    net::Poller poller;
    smr::FlushList flush_list;
    std::vector<std::vector<std::unique_ptr<smr::Caller>>> callers(connections_);
    for (std::size_t i = 0; i < connections_ * configuration_.replicas.size(); ++i) {
      const auto& replica = configuration_.replicas[i % configuration_.replicas.size()];
      callers[i / configuration_.replicas.size()].push_back(std::make_unique<smr::Caller>(
          poller, flush_list, self_,
          smr::Caller::Whom{{smr::PeerName::Role::replica, replica.id},
                            *smr::parse_public_key(replica.public_key),
                            *net::Address::parse(replica.address)},
          smr::Link::Events{nullptr, [](smr::Link&, std::uint8_t, Bytes) {}, nullptr},
          smr::Link::Limits{.waiting_bytes = std::size_t{1} << 20}));
    }
    smr::RequestProver prover(
        self_.key, configuration_.byzantine ? smr::FaultModel::byzantine : smr::FaultModel::crash);
    REQUIRE(prover.use_members(smr::view_of(configuration_).members).ok());
    for (std::uint64_t number = 1; !stopped_;) {
      for (int i = 0; i < 200; ++i, ++number) {
        smr::Request request = make_(number);
        prover.prove(request);
        Buffer bytes;
        smr::encode(request, bytes);
        for (const auto& caller : callers[number % connections_]) {
          if (caller->link() != nullptr && caller->link()->send(smr::submit_kind, bytes)) ++sent_;
        }
      }
      flush_list.flush();
      poller.run_once(std::chrono::milliseconds(1));
    }
  }

  const smr::Configuration configuration_;
  const Make make_;
  const std::size_t connections_;
  const smr::Self self_;
  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

smr::Request request(std::uint64_t session, std::uint64_t sequence, std::size_t bytes) {
  smr::Request request;
  request.client = flooder_id;
  request.session = session;
  request.sequence = sequence;
  request.operation = smr::kv::encode(smr::kv::Put{.key = "k", .value = std::string(bytes, 'x')});
  return request;
}

std::size_t resident_megabytes(pid_t pid) {
  std::ifstream file(concat("/proc/", pid, "/status"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) {
      return static_cast<std::size_t>(std::stoul(line.substr(6))) / 1024;
    }
  }
  return 0;
}

// 32 MB of requests may wait, and four times 64 MB that were decided and are in no checkpoint. The
// address sanitizer keeps 256 MB of what was freed.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t megabytes_max = 450 + 256;
#else
constexpr std::size_t megabytes_max = 450;
#endif

void others_go_on(bool byzantine, const Flooder::Make& make, std::size_t connections = 1) {
  const GroupFolder folder;
  auto group = tools::KvGroup::make(
      {.byzantine = byzantine, .directory = folder.path(), .program = PIRACEMA_COMMAND});
  REQUIRE(group.ok());
  Crowd crowd(*group, 2);
  REQUIRE(crowd.wait_for(50));
  {
    const Flooder flooder(*group, make, connections);
    // It may be late on a busy machine, and others are answered meanwhile.
    for (int i = 0; i < 1'000 && flooder.sent() <= 1'000; ++i) REQUIRE(crowd.wait_for(20));
    REQUIRE(crowd.wait_for(200));
    CHECK(flooder.sent() > 1'000);
    for (std::size_t i = 0; i < group->configuration().replicas.size(); ++i) {
      CAPTURE(i);
      CHECK(resident_megabytes(group->pid(i)) < megabytes_max);
    }
  }
  REQUIRE(crowd.wait_for(50));
  CHECK(group->ended().empty());
  crowd.stop();
  CHECK(check(crowd.operations()).is == Verdict::Is::linearizable);
}

}  // namespace

TEST_CASE("a client that asks for one thing after the other and waits for nothing starves nobody") {
  for (const bool byzantine : {false, true}) {
    others_go_on(byzantine, [](std::uint64_t number) { return request(1'000'000, number, 1'000); });
  }
}

TEST_CASE("a client that puts much over fifty connections starves nobody") {
  others_go_on(
      false, [](std::uint64_t number) { return request(1'000'000, number, 20'000); }, 50);
}

TEST_CASE("a client that claims sessions without end is hung up on") {
  others_go_on(false, [](std::uint64_t number) { return request(number, 1, 10); });
}

TEST_CASE("a client that opens sessions without end starves nobody") {
  others_go_on(false, [](std::uint64_t number) {
    smr::Request open = request(0, number, 0);
    open.kind = smr::Kind::open;
    open.operation = {};
    return open;
  });
}
