#include "net/socket/mpi_world.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/ensure.h"
#include "base/parse.h"
#include "base/text.h"
#include "net/socket/mpi_path.h"

namespace piracema::net {

namespace {

/// MPI promises tags up to this.
constexpr std::uint32_t tag_max = 32'767;
constexpr std::chrono::seconds leave_within{5};
constexpr int messages_at_once = 64;
/// Turns without anything before the thread begins to sleep, and how long it does: MPI cannot wake
/// it. What is sent wakes it at once.
constexpr int idle_turns = 20;
constexpr long nap_first_ns = 20'000, nap_longest_ns = 1'000'000;

bool is_open_mpi() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

std::filesystem::path directory_of_program() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
}

/// Where a plug-in may lie: as the environment says, beside the program, as it was installed, as
/// a package installs it, or as it was built.
std::vector<std::string> places_of(const std::string& file) {
  if (const char* given = std::getenv("PIRACEMA_PLUGINS"); given != nullptr && *given != '\0') {
    return {concat(given, "/", file)};
  }
  const auto program = directory_of_program();
  return {(program / file).string(), (program / "../lib/piracema" / file).string(),
          concat(PIRACEMA_PLUGINS_INSTALLED, "/", file),
          concat(PIRACEMA_PLUGINS_PACKAGED, "/", file), concat(PIRACEMA_PLUGINS_BUILT, "/", file)};
}

Result<void*> load_plugin() {
  const std::string file =
      is_open_mpi() ? "libpiracema_mpi_openmpi.so" : "libpiracema_mpi_mpich.so";
  for (const std::string& place : places_of(file)) {
    if (::access(place.c_str(), F_OK) != 0) continue;
    // Open MPI loads parts of its own, which look for what is in the first one.
    void* library = ::dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (library != nullptr) return library;
    return Error{Errc::config, concat("MPI: the plug-in cannot be loaded: ", ::dlerror())};
  }
  return Error{Errc::config, concat("MPI: want the plug-in ", file,
                                    ", found none; it is built "
                                    "where that MPI's mpicc is, and $PIRACEMA_PLUGINS names its "
                                    "directory")};
}

/// For the connection: its end of a path.
class Channel : public MpiChannel {
 public:
  Channel(std::shared_ptr<MpiPath> path, Bell world) : path_(std::move(path)), world_(world) {}
  ~Channel() override {
    path_->close();
    world_.ring();
  }

  std::uint32_t tag() const override { return path_->tag; }
  void join(std::uint32_t rank, std::uint32_t tag) override { path_->join(rank, tag); }

  ssize_t write(const iovec* parts, std::size_t count) override {
    return path_->out().write(parts, count);
  }
  ssize_t read(const iovec* parts, std::size_t count) override {
    return path_->in().read(parts, count);
  }
  bool wait_for_room() override { return path_->out().wait_for_room(); }
  bool sleep() override { return path_->in().sleep(); }
  bool is_worth_waiting() override { return path_->in().is_worth_waiting(); }
  std::size_t capacity() const override { return std::size_t{1} << 40; }
  bool is_over() const override { return path_->is_over(); }
  int bell() const override { return path_->bell.get(); }
  void quiet_bell() override { Bell(bell()).quiet(); }
  void ring_again() override { Bell(bell()).ring(); }

 private:
  std::shared_ptr<MpiPath> path_;
  const Bell world_;
};

}  // namespace

bool MpiWorld::is_here() {
  return is_open_mpi() ||
         (std::getenv("PMI_RANK") != nullptr && std::getenv("PMI_SIZE") != nullptr);
}

std::uint32_t MpiWorld::rank_in_environment() {
  const char* text = std::getenv(is_open_mpi() ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK");
  return text == nullptr ? 0 : parse_number<std::uint32_t>(text).value_or(0);
}

Result<std::unique_ptr<MpiWorld>> MpiWorld::begin() {
  auto library = load_plugin();
  if (!library) return library.error();
  void* symbol = ::dlsym(*library, PIRACEMA_MPI_SYMBOL);
  if (symbol == nullptr) return Error{Errc::config, concat("MPI: ", ::dlerror())};
  const PiracemaMpi* mpi = reinterpret_cast<decltype(&piracema_mpi)>(symbol)();
  if (mpi->version != PIRACEMA_MPI_VERSION) {
    return Error{Errc::config, concat("MPI: want a plug-in of version ", PIRACEMA_MPI_VERSION,
                                      ", found ", mpi->version)};
  }
  std::unique_ptr<MpiWorld> world(new MpiWorld(*library, mpi));
  int rank = 0, size = 1, one_host = 0;
  char why[200] = "";
  if (mpi->begin(&rank, &size, &one_host, why, sizeof why) != 0) return Error{Errc::config, why};
  world->rank_ = static_cast<std::uint32_t>(rank);
  world->size_ = static_cast<std::uint32_t>(size);
  world->one_host_ = one_host != 0;
  std::uint64_t id = 0;
  ENSURE(::getrandom(&id, sizeof id, 0) == sizeof id);
  id |= 1;
  mpi->broadcast(&id, sizeof id);
  world->id_ = id;
  return world;
}

MpiWorld::MpiWorld(void* library, const PiracemaMpi* mpi)
    : library_(library), mpi_(mpi), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ENSURE(wake_);  // The process has just started.
}

// The library stays: MPI cannot be taken out of a process.
MpiWorld::~MpiWorld() { stop(leave_within); }

std::string MpiWorld::broadcast(std::string text) {
  ENSURE(!thread_.joinable());
  std::uint32_t bytes = static_cast<std::uint32_t>(text.size());
  mpi_->broadcast(&bytes, sizeof bytes);
  text.resize(bytes);
  mpi_->broadcast(text.data(), static_cast<int>(bytes));
  return text;
}

std::unique_ptr<MpiChannel> MpiWorld::open_channel() {
  std::lock_guard lock(mutex_);
  do {
    last_tag_ = last_tag_ % tag_max + 1;
  } while (paths_.contains(last_tag_));
  auto path = std::make_shared<MpiPath>(*mpi_, last_tag_, Bell(wake_.get()));
  paths_.emplace(last_tag_, path);
  if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  return std::make_unique<Channel>(std::move(path), Bell(wake_.get()));
}

void MpiWorld::end() {
  stop(leave_within);
  mpi_->end();
}

void MpiWorld::abort(int code) {
  stop(Time{});
  mpi_->abort(code);
  ::_exit(code);
}

void MpiWorld::stop(Time patience) {
  stop_by_ = now() + patience;
  stopping_ = true;
  Bell(wake_.get()).ring();
  if (thread_.joinable()) thread_.join();
}

void MpiWorld::loop() {
  int idle = 0;
  long nap = nap_first_ns;
  while (turn() || !stopping_ || (!busy_.empty() && now() < stop_by_.load())) {
    // Something came or went if `turn` said so; it is asked again at once.
    if (worked_) {
      idle = 0;
      nap = nap_first_ns;
      continue;
    }
    if (++idle < idle_turns) {
      std::this_thread::yield();
      continue;
    }
    const bool all_asleep =
        std::all_of(busy_.begin(), busy_.end(), [](const auto& path) { return path->sleep(); });
    pollfd waking{.fd = wake_.get(), .events = POLLIN, .revents = 0};
    const timespec time{0, all_asleep ? nap : nap_first_ns};
    if (::ppoll(&waking, 1, &time, nullptr) > 0) {
      Bell(wake_.get()).quiet();
      idle = 0;
    }
    nap = std::min(nap * 2, nap_longest_ns);
  }
}

// Closed channels go once they have sent all; until then the world does not end.
bool MpiWorld::turn() {
  {
    std::lock_guard lock(mutex_);
    std::erase_if(paths_, [](const auto& path) { return path.second->is_done(); });
    busy_.clear();
    for (const auto& [tag, path] : paths_) busy_.push_back(path);
  }
  worked_ = false;
  for (const auto& path : busy_) worked_ = path->turn() || worked_;
  for (int i = 0; i < messages_at_once && receive(); ++i) worked_ = true;
  return worked_;
}

// To a tag that is no longer there: a channel that was closed on this side.
bool MpiWorld::receive() {
  int from = 0, tag = 0, count = 0;
  if (mpi_->probe(&from, &tag, &count) == 0) return false;
  Buffer message;
  message.resize(static_cast<std::size_t>(count));
  mpi_->receive(message.data(), count, from, tag);
  const auto path = std::find_if(busy_.begin(), busy_.end(), [tag](const auto& one) {
    return one->tag == static_cast<std::uint32_t>(tag);
  });
  if (path != busy_.end()) (*path)->received(std::move(message));
  return true;
}

}  // namespace piracema::net
