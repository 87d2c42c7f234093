#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "ckpt/hosts/host_group.h"
#include "sim/network.h"
#include "sim/scheduler.h"
#include "sim/seeds.h"

namespace piracema::sim {

using namespace ckpt;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Faults {
  /// Of each host in each step of a save, and of the manifest.
  double full_store = 0;
  /// Of a host, at some moment of a save.
  double crash = 0;
};

/// What TCP says between two parts of a job: so many bytes, and so many have come.
struct Packet {
  std::uint32_t from = 0;
  int bytes = 0, acknowledged = 0;
};

/// What a part of the job, sockets included, knows of each other part.
struct Memory {
  std::vector<int> sent, acknowledged, received;
};

/// A host with its capsule: the job's part sends all the time; packets wait while links are held.
struct Host {
  Memory memory, image;
  std::deque<std::pair<std::uint32_t, Packet>> leaving;
  std::deque<Packet> coming;
  bool held = true, runs = false, frozen = false, killed = false, lost = false;
  /// Of the dump under way.
  bool stop = false, waits = false, refused = false, recorded = false;
};

class World {
 public:
  World(std::uint64_t seed, std::size_t count, Faults faults)
      : faults_(faults), scheduler_(seed), network_(scheduler_), group_(count), hosts_(count) {
    keeper_ = network_.add("keeper");
    for (std::size_t i = 0; i < count; ++i) {
      network_.add(concat("host ", i));
      for (Memory* memory : {&hosts_[i].memory, &hosts_[i].image}) {
        memory->sent = memory->acknowledged = memory->received = std::vector<int>(count);
      }
    }
    handle(group_.open());
    run_until([this] { return ready_; });
  }

  void launch() {
    handle(group_.launch(false));
    run_until([this] { return started_; });
    scheduler_.run_until(scheduler_.now() + milliseconds(20));
  }
  /// True if the image is complete; false if not; nothing when the job ended or died meanwhile.
  std::optional<bool> dump(bool stop) {
    dumped_.reset();
    published_ = false;
    for (Host& host : hosts_) host.recorded = false;
    if (scheduler_.random().chance(faults_.crash)) {
      const auto host = static_cast<HostNumber>(scheduler_.random().below(hosts_.size()));
      scheduler_.after(between(0, 400), [this, host] { crash(host); });
    }
    handle(group_.dump(stop));
    run_until([this] { return dumped_ || over_; });
    if (dumped_) CHECK(*dumped_ == published_);
    // What is published is whole, and what is not kills nobody.
    if (published_) check_image();
    return dumped_;
  }
  /// All parts run and hear of each other.
  void check_running() {
    scheduler_.run_until(scheduler_.now() + milliseconds(50));
    const std::vector<Host> before = hosts_;
    scheduler_.run_until(scheduler_.now() + milliseconds(50));
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      CHECK(hosts_[i].runs);
      CHECK_FALSE(hosts_[i].frozen);
      CHECK_FALSE(hosts_[i].held);
      for (std::size_t j = 0; j < hosts_.size(); ++j) {
        if (i != j) CHECK(hosts_[i].memory.received[j] > before[i].memory.received[j]);
      }
    }
  }
  void check_stopped() const {
    for (const Host& host : hosts_) CHECK((host.killed || host.lost));
  }
  void check_nobody_killed() const {
    for (const Host& host : hosts_) CHECK_FALSE(host.killed);
  }
  void end_job() {
    to_keeper(0, HostEnded{0, 3});
    hosts_[0].runs = false;
  }
  bool over() const { return over_; }
  bool published() const { return published_; }
  Scheduler& scheduler() { return scheduler_; }

 private:
  Time between(int least, int most) {
    return scheduler_.between(milliseconds(least), milliseconds(most));
  }
  void run_until(const std::function<bool()>& done) {
    REQUIRE(scheduler_.run_until(done, scheduler_.now() + seconds(100)));
  }
  Node node(HostNumber host) const { return static_cast<Node>(host + 1); }
  bool up(HostNumber host) const { return network_.up(node(host)); }

  void tell(const GroupEvent& event) { handle(group_.step(event)); }
  void to_keeper(HostNumber host, GroupEvent event) {
    network_.send(node(host), keeper_, "report", [this, event] { tell(event); });
  }
  void to_host(HostNumber host, std::function<void()> work) {
    network_.send(keeper_, node(host), "order", std::move(work));
  }
  /// Some hosts are fast and some are slow, each time anew.
  void later(HostNumber host, std::function<void()> work) {
    network_.after(node(host), scheduler_.random().chance(0.1) ? between(0, 3'000) : between(0, 50),
                   std::move(work));
  }
  bool store_is_full() { return scheduler_.random().chance(faults_.full_store); }

  void crash(HostNumber host) {
    if (!up(host)) return;
    network_.crash(node(host));
    Host& one = hosts_[host];
    one.runs = one.frozen = false;
    one.lost = true;
    scheduler_.after(between(1, 2'000), [this, host] { tell(HostLost{host, "lost"}); });
  }

  // The job: everybody tells everybody, and says what has come.
  void talk(HostNumber from) {
    network_.after(node(from), between(4, 12), [this, from] {
      Host& host = hosts_[from];
      if (host.killed) return;
      if (host.runs && !host.frozen) {
        for (std::size_t to = 0; to < hosts_.size(); ++to) {
          if (to == from) continue;
          host.memory.sent[to] += 1;
          send(from, to);
        }
      }
      talk(from);
    });
  }
  // The last number says it all, as TCP sends again what was lost.
  void send(HostNumber from, HostNumber to) {
    Host& host = hosts_[from];
    const Packet packet{static_cast<std::uint32_t>(from), host.memory.sent[to],
                        host.memory.received[to]};
    if (host.held) {
      host.leaving.emplace_back(static_cast<std::uint32_t>(to), packet);
      return;
    }
    network_.send(node(from), node(to), "packet", [this, to, packet] {
      if (hosts_[to].held) return hosts_[to].coming.push_back(packet);
      receive(to, packet);
    });
  }
  // The kernel receives for a job that stands still, too.
  void receive(HostNumber to, const Packet& packet) {
    Memory& memory = hosts_[to].memory;
    memory.received[packet.from] = std::max(memory.received[packet.from], packet.bytes);
    memory.acknowledged[packet.from] =
        std::max(memory.acknowledged[packet.from], packet.acknowledged);
  }
  void pass(HostNumber number) {
    Host& host = hosts_[number];
    host.held = false;
    for (const auto& [to, packet] : std::exchange(host.leaving, {})) {
      network_.send(node(number), node(to), "packet", [this, to = to, packet = packet] {
        if (hosts_[to].held) return hosts_[to].coming.push_back(packet);
        receive(to, packet);
      });
    }
    for (const Packet& packet : std::exchange(host.coming, {})) receive(number, packet);
  }
  void check_image() const {
    for (std::size_t a = 0; a < hosts_.size(); ++a) {
      CHECK(hosts_[a].recorded);
      for (std::size_t b = 0; b < hosts_.size(); ++b) {
        if (a == b) continue;
        // Nobody has got what was not sent, and nobody has forgotten what may not come again.
        CHECK(hosts_[b].image.received[a] <= hosts_[a].image.sent[b]);
        CHECK(hosts_[a].image.acknowledged[b] <= hosts_[b].image.received[a]);
      }
    }
  }

  // A dump on one host, step by step; any of them may find the store full.
  void begin_dump(HostNumber number, bool stop) {
    Host& host = hosts_[number];
    host.stop = stop;
    host.waits = host.refused = host.recorded = false;
    later(number, [this, number] {
      Host& one = hosts_[number];
      one.frozen = true;
      one.image = one.memory;
      later(number, [this, number] {
        if (store_is_full()) return end_dump(number, false);
        wait(number, HostFrozen{number});
      });
    });
  }
  void wait(HostNumber number, GroupEvent event) {
    Host& host = hosts_[number];
    if (host.refused) return end_dump(number, false);
    host.waits = true;
    to_keeper(number, std::move(event));
  }
  void proceed(HostNumber number, bool ok) {
    Host& host = hosts_[number];
    host.refused = host.refused || !ok;
    if (!std::exchange(host.waits, false)) {
      CHECK_FALSE(ok);
      return;
    }
    if (!ok || host.recorded) return end_dump(number, ok);
    later(number, [this, number] {
      if (store_is_full()) return end_dump(number, false);
      hosts_[number].recorded = true;
      wait(number, HostRecorded{number});
    });
  }
  void end_dump(HostNumber number, bool ok) {
    Host& host = hosts_[number];
    host.frozen = false;
    if (ok && host.stop) {
      CHECK(published_);
      host.killed = true;
      host.runs = false;
      // criu may take it for a failure that somebody is dead.
      return to_keeper(number, HostDumped{number, scheduler_.random().chance(0.9), "dead"});
    }
    pass(number);
    to_keeper(number, HostDumped{number, ok, "no room"});
    if (!ok) return;
    later(number, [this, number] {
      to_keeper(number, HostSealed{number, !store_is_full(), "no room"});
    });
  }

  void handle(const std::vector<GroupAction>& actions) {
    for (const GroupAction& action : actions) {
      std::visit([this](const auto& a) { act(a); }, action);
    }
  }
  void act(const OpenHost& a) { to_keeper(a.host, HostReady{a.host}); }
  void act(const LinkHosts&) {}
  void act(const StartHost& a) {
    to_host(a.host, [this, host = a.host] {
      hosts_[host].runs = true;
      talk(host);
      to_keeper(host, HostStarted{host, true, {}});
    });
  }
  void act(const HoldHost& a) {
    to_host(a.host, [this, host = a.host] {
      hosts_[host].held = true;
      later(host, [this, host] { to_keeper(host, HostHeld{host}); });
    });
  }
  void act(const PassHost& a) {
    to_host(a.host, [this, host = a.host] { pass(host); });
  }
  void act(const DumpHost& a) {
    to_host(a.host, [this, a] { begin_dump(a.host, a.stop); });
  }
  void act(const ProceedHost& a) {
    to_host(a.host, [this, a] { proceed(a.host, a.ok); });
  }
  void act(const Publish&) {
    scheduler_.after(between(0, 20), [this] {
      if (over_) return;
      published_ = !store_is_full();
      tell(Published{published_, "no room"});
    });
  }
  void act(const GroupReady&) { ready_ = true; }
  void act(const GroupStarted& a) { started_ = a.ok; }
  void act(const GroupDumped& a) {
    CHECK_FALSE(dumped_);
    dumped_ = a.ok;
  }
  void act(const GroupEnded& a) {
    CHECK(a.status == 3);
    over_ = true;
  }
  void act(const GroupDied&) { over_ = true; }

  const Faults faults_;
  Scheduler scheduler_;
  Network network_;
  Node keeper_ = 0;
  HostGroup group_;
  std::vector<Host> hosts_;
  bool ready_ = false, started_ = false, published_ = false, over_ = false;
  std::optional<bool> dumped_;
};

std::size_t hosts_of(std::uint64_t seed) { return 1 + seed % 5; }

}  // namespace

TEST_CASE("parts of an image fit together, and the job goes on after each save") {
  for (const auto seed : seeds(200)) {
    World world(seed, hosts_of(seed), {});
    world.launch();
    for (int save = 0; save < 3; ++save) {
      CHECK(world.dump(false) == true);
      world.check_running();
    }
    CHECK(world.dump(true) == true);
    world.check_stopped();
  }
}

TEST_CASE("a store that is full on any host in any step costs the image and nothing else") {
  int worlds = 0, failed = 0, saved = 0;
  for (const auto seed : seeds(400)) {
    World world(seed, hosts_of(seed), {.full_store = 0.08});
    worlds += 1;
    world.launch();
    for (int attempt = 0; attempt < 4; ++attempt) {
      const bool stop = attempt % 2 == 1;
      const auto dumped = world.dump(stop);
      REQUIRE(dumped);
      (*dumped ? saved : failed) += 1;
      if (*dumped && stop) {
        world.check_stopped();
        break;
      }
      world.check_running();
    }
  }
  CHECK(failed >= worlds / 4);
  CHECK(saved >= worlds / 4);
}

TEST_CASE("a host that is lost in the midst of a save loses no image that is complete") {
  int worlds = 0, died = 0, saved = 0;
  for (const auto seed : seeds(400)) {
    World world(seed, hosts_of(seed), {.full_store = 0.02, .crash = 0.7});
    worlds += 1;
    world.launch();
    for (int attempt = 0; attempt < 3 && !world.over(); ++attempt) {
      const bool stop = attempt == 2;
      const auto dumped = world.dump(stop);
      if (!dumped) {
        died += 1;
        if (!world.published()) world.check_nobody_killed();
        break;
      }
      saved += *dumped ? 1 : 0;
      if (*dumped && stop) world.check_stopped();
    }
  }
  CHECK(died >= worlds / 4);
  CHECK(saved >= worlds / 4);
}

TEST_CASE("a job that ends while it is saved has ended with its own result") {
  for (const auto seed : seeds(200)) {
    World world(seed, hosts_of(seed), {.full_store = 0.05});
    world.launch();
    auto& scheduler = world.scheduler();
    scheduler.after(scheduler.between(Time{}, milliseconds(150)), [&world] { world.end_job(); });
    const auto dumped = world.dump(false);
    scheduler.run_until(scheduler.now() + seconds(5));
    CHECK(world.over());
    (void)dumped;
  }
}

}  // namespace piracema::sim
