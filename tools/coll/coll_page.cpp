#include "tools/coll/coll_page.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/no_signals.h"
#include "base/text.h"
#include "coll/figures/figures_file.h"
#include "tools/coll/coll_site.h"

namespace piracema::tools {

namespace {

/// Nothing tells of a file that another host has written, so this looks.
constexpr std::chrono::milliseconds look_every{500};

Result<std::string> own_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "piracema_coll_XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return Error{Errc::io, with_errno(concat("--http: cannot make ", name))};
  }
  return name;
}

}  // namespace

struct CollPage::Look {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
};

Result<std::unique_ptr<CollPage>> CollPage::start(const observe::HttpOptions& options,
                                                  const std::string& figures, CollStart start) {
  const auto board = std::make_shared<CollBoard>(std::move(start));
  const NoSignals no_signals;
  auto server = observe::HttpServer::start(options, [&](observe::Guard guard) {
    return std::make_unique<CollSite>(board, std::move(guard));
  });
  if (!server) return Error{server.error().code, "--http: " + server.error().message};
  std::string folder, file = figures;
  if (file.empty()) {
    auto made = own_folder();
    if (!made) return made.error();
    folder = *std::move(made);
    file = folder + "/figures";
  } else {
    std::error_code failed;
    file = std::filesystem::absolute(file, failed).string();
    const auto status = std::filesystem::symlink_status(file, failed);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      return Error{Errc::config, concat("--figures: ", file, " is there, and no file")};
    }
    std::filesystem::remove(file, failed);
    if (failed) {
      return Error{Errc::io, concat("--figures: cannot remove ", file, ": ", failed.message())};
    }
  }
  return std::unique_ptr<CollPage>(
      new CollPage(*std::move(server), std::move(file), std::move(folder), board));
}

CollPage::CollPage(std::unique_ptr<observe::HttpServer> server, std::string figures,
                   std::string folder, std::shared_ptr<CollBoard> board)
    : server_(std::move(server)),
      figures_(std::move(figures)),
      folder_(std::move(folder)),
      look_(std::make_shared<Look>()) {
  std::thread([look = look_, file = figures_, board = std::move(board)] {
    std::unique_lock lock(look->mutex);
    while (!look->is_over) {
      lock.unlock();
      auto found = coll::read_figures(file);
      // It comes with MPI_Init.
      if (found || found.error().code != Errc::not_found) board->show(std::move(found), now());
      lock.lock();
      look->changed.wait_for(lock, look_every, [&] { return look->is_over; });
    }
  }).detach();
}

CollPage::~CollPage() {
  {
    const std::lock_guard lock(look_->mutex);
    look_->is_over = true;
  }
  look_->changed.notify_all();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

}  // namespace piracema::tools
