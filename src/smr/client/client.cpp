#include <piracema/smr/client.h>

#include <atomic>
#include <thread>

#include "base/ensure.h"
#include "base/text.h"
#include "smr/client/client_engine.h"

namespace piracema::smr {

namespace {
constexpr std::size_t outstanding_max = 65'536;
constexpr std::chrono::seconds goodbye{1};
}  // namespace

struct Client::Parts {
  Parts(const Configuration& configuration, ClientId id, const KeyPair& key, Time patience)
      : timeout(patience),
        engine(std::make_unique<ClientEngine>(poller, flush_list, configuration, id, key,
                                              ClientEngine::Retry{})),
        thread([this] { run(); }) {}
  ~Parts();

  void run();
  void ask(std::function<void(ClientEngine&, Time, Callback)> how, Callback done);
  std::future<Result<Buffer>> promise(std::function<void(ClientEngine&, Time, Callback)> how);
  bool is_my_thread() const { return std::this_thread::get_id() == thread.get_id(); }

  const Time timeout;
  net::Poller poller;
  FlushList flush_list;
  std::unique_ptr<ClientEngine> engine;
  std::atomic<bool> stopped = false;
  /// Operations without an answer; those of the last whom somebody waits for are told at the end.
  std::atomic<std::size_t> outstanding = 0;
  std::map<std::uint64_t, Callback> waiting;
  std::uint64_t count = 0;
  std::thread thread;
};

void Client::Parts::run() {
  while (!stopped) {
    poller.run_once(std::chrono::milliseconds(-1));
    flush_list.flush();
  }
}

Client::Parts::~Parts() {
  std::promise<void> closed;
  poller.post([&] { engine->close(now() + goodbye, [&] { closed.set_value(); }); });
  // `close` calls by its deadline at the latest.
  closed.get_future().wait();
  poller.post([this] { stopped = true; });
  thread.join();
  engine.reset();
  for (auto& [number, done] : waiting) {
    done(Error{Errc::timeout, "the client was closed; it may be executed all the same"});
  }
}

// `waiting` belongs to the thread; a callback is in it until it is called.
void Client::Parts::ask(std::function<void(ClientEngine&, Time, Callback)> how, Callback done) {
  if (outstanding.fetch_add(1) >= outstanding_max) {
    outstanding -= 1;
    return done(
        Error{Errc::refused, concat("more than ", outstanding_max, " operations at a time")});
  }
  poller.post([this, how = std::move(how), done = std::move(done)]() mutable {
    const std::uint64_t number = ++count;
    waiting.emplace(number, std::move(done));
    how(*engine, now() + timeout, [this, number](Result<Buffer> result) {
      const auto found = waiting.find(number);
      const Callback callback = std::move(found->second);
      waiting.erase(found);
      outstanding -= 1;
      callback(std::move(result));
    });
  });
}

std::future<Result<Buffer>> Client::Parts::promise(
    std::function<void(ClientEngine&, Time, Callback)> how) {
  const auto answer = std::make_shared<std::promise<Result<Buffer>>>();
  ask(std::move(how), [answer](Result<Buffer> result) { answer->set_value(std::move(result)); });
  return answer->get_future();
}

namespace {

auto ordered(Kind kind, std::uint32_t group, Bytes operation) {
  return [kind, group, bytes = Buffer(operation)](ClientEngine& engine, Time deadline,
                                                  Client::Callback done) mutable {
    engine.order(kind, group, std::move(bytes), deadline, std::move(done));
  };
}
auto unordered(Bytes operation) {
  return [bytes = Buffer(operation)](ClientEngine& engine, Time deadline,
                                     Client::Callback done) mutable {
    engine.read(std::move(bytes), deadline, std::move(done));
  };
}
auto held(Bytes operation, std::chrono::milliseconds patience) {
  return [bytes = Buffer(operation), patience](ClientEngine& engine, Time,
                                               Client::Callback done) mutable {
    engine.hold(std::move(bytes), now() + Time(patience), std::move(done));
  };
}

}  // namespace

Result<std::unique_ptr<Client>> Client::open(const Configuration& configuration,
                                             const ClientOptions& options) {
  if (auto valid = validate(configuration); !valid) return valid.error();
  const auto key = read_key(options.key_file);
  if (!key) return key.error();
  if (options.id == administrator_id) {
    return Error{Errc::config, "client 0 is the administrator, and no other client"};
  }
  for (const auto& client : configuration.clients) {
    if (client.id != options.id || *parse_public_key(client.public_key) == key->public_key()) {
      continue;
    }
    return Error{Errc::config, concat("key file ", options.key_file, ": its public key ",
                                      hex_of(key->public_key()), " is not that of client ",
                                      options.id, " in the configuration")};
  }
  // One that the configuration does not name may have been admitted since.
  return std::unique_ptr<Client>(new Client(std::make_unique<Parts>(
      configuration, options.id, *key, std::chrono::duration_cast<Time>(options.timeout))));
}

Client::Client(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Client::~Client() = default;

Result<Buffer> Client::invoke_ordered(Bytes operation) {
  ENSURE(!parts_->is_my_thread());  // It would wait for itself.
  return async_ordered(operation).get();
}
Result<Buffer> Client::invoke_parallel(std::uint32_t group, Bytes operation) {
  ENSURE(!parts_->is_my_thread());
  return async_parallel(group, operation).get();
}
Result<Buffer> Client::invoke_unordered(Bytes operation) {
  ENSURE(!parts_->is_my_thread());
  return async_unordered(operation).get();
}

Result<Buffer> Client::invoke_held(Bytes operation, std::chrono::milliseconds patience) {
  ENSURE(!parts_->is_my_thread());
  return parts_->promise(held(operation, patience)).get();
}

void Client::invoke_ordered(Bytes operation, Callback done) {
  parts_->ask(ordered(Kind::ordered, 0, operation), std::move(done));
}
void Client::invoke_parallel(std::uint32_t group, Bytes operation, Callback done) {
  parts_->ask(ordered(Kind::parallel, group, operation), std::move(done));
}
void Client::invoke_held(Bytes operation, std::chrono::milliseconds patience, Callback done) {
  parts_->ask(held(operation, patience), std::move(done));
}
void Client::invoke_unordered(Bytes operation, Callback done) {
  parts_->ask(unordered(operation), std::move(done));
}

std::future<Result<Buffer>> Client::async_ordered(Bytes operation) {
  return parts_->promise(ordered(Kind::ordered, 0, operation));
}
std::future<Result<Buffer>> Client::async_parallel(std::uint32_t group, Bytes operation) {
  return parts_->promise(ordered(Kind::parallel, group, operation));
}
std::future<Result<Buffer>> Client::async_unordered(Bytes operation) {
  return parts_->promise(unordered(operation));
}

std::optional<std::uint32_t> Client::leader() {
  std::promise<std::optional<std::uint32_t>> answer;
  parts_->poller.post([&] {
    const auto standing = parts_->engine->standing();
    answer.set_value(standing ? std::optional(standing->leader) : std::nullopt);
  });
  return answer.get_future().get();
}

}  // namespace piracema::smr
