#include "forecast/store/store_record.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "store/disk/files.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

constexpr const char* store_format = "piracema store";
constexpr const char* directory_name = "/.piracema-store";
// The older ones had no place for compression and for samples, which are told in this order before
// the time that a dump took.
constexpr std::size_t numbers = 12, numbers_of_old = 10;

std::string path_in(const std::string& place) { return place + "/store.json"; }

// A directory that nobody but this user can have written to.
bool is_ours_alone(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & 022) == 0;
}

bool is_one_file_system(const std::string& a, const std::string& b) {
  struct stat first {
  }, second{};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev;
}

nlohmann::json to_json(PastDump dump) {
  nlohmann::json list = nlohmann::json::array();
  std::apply([&](auto... number) { (list.push_back(number), ...); }, dump.features.fields());
  list.push_back(dump.seconds);
  return list;
}

PastDump past_dump(nlohmann::json list) {
  while (list.is_array() && list.size() >= numbers_of_old && list.size() < numbers) {
    list.insert(list.end() - 1, 0.0);
  }
  if (!list.is_array() || list.size() != numbers) throw WrongDocument("want dumps of 12 numbers");
  std::size_t at = 0;
  const auto next = [&] {
    const double value = list[at++].get<double>();
    if (!std::isfinite(value) || value < 0 || value > 1e18) {
      throw WrongDocument("want numbers from 0 to 1e18");
    }
    return value;
  };
  PastDump dump;
  std::apply([&](auto&... number) { ((number = next()), ...); }, dump.features.fields());
  dump.seconds = next();
  if (dump.seconds <= 0) throw WrongDocument("want dumps that took some time");
  return dump;
}

}  // namespace

Result<std::string> store_place(const std::string& job_directory) {
  const std::string beside = job_directory.substr(0, job_directory.rfind('/'));
  if (!beside.empty() && is_one_file_system(beside, job_directory)) {
    const std::string shared = beside + directory_name;
    ::mkdir(shared.c_str(), 0700);
    if (is_ours_alone(shared)) return shared;
  }
  const std::string own = job_directory + directory_name;
  if (::mkdir(own.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(concat(own, ": cannot make"))};
  }
  return own;
}

Result<std::vector<PastDump>> read_past_dumps(const std::string& place) {
  const std::string path = path_in(place);
  const auto text = store::read_file(path, document_bytes_max);
  std::vector<PastDump> dumps;
  if (!text) {
    if (text.error().code == Errc::not_found) return dumps;
    return text.error();
  }
  const auto read = read_document(path, store_format, *text, [&](const nlohmann::json& content) {
    const nlohmann::json& list = member(content, "dumps");
    if (!list.is_array() || list.size() > past_dumps_max) {
      throw WrongDocument(concat("want a list of up to ", past_dumps_max, " dumps"));
    }
    for (const nlohmann::json& one : list) dumps.push_back(past_dump(one));
  });
  if (!read) return read.error();
  return dumps;
}

Result<Done> add_past_dump(const std::string& place, const PastDump& dump) {
  // Only for those of this host; without a lock one of two dumps may be forgotten, no more.
  const Fd lock(::open((place + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock) ::flock(lock.get(), LOCK_EX);
  auto dumps = read_past_dumps(place);
  if (!dumps) {
    if (dumps.error().code == Errc::refused || dumps.error().code == Errc::io) return dumps.error();
    log(Level::warning, dumps.error().message + "; begun anew");
    dumps = std::vector<PastDump>();
  }
  dumps->push_back(dump);
  if (dumps->size() > past_dumps_max) dumps->erase(dumps->begin());
  nlohmann::json list = nlohmann::json::array();
  for (const PastDump& one : *dumps) list.push_back(to_json(one));
  const std::string text = seal(store_format, {{"dumps", std::move(list)}});
  const Bytes piece = as_bytes(text);
  return store::replace_file(path_in(place), {&piece, 1});
}

Predictor learn_from(const std::vector<PastDump>& dumps) {
  Predictor predictor;
  for (const PastDump& dump : dumps) predictor.learn(dump.features, dump.seconds);
  return predictor;
}

}  // namespace piracema::ckpt
