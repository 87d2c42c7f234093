#include "ckpt/queue/queue_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "ckpt/image/manifest.h"
#include "store/disk/file_lock.h"
#include "store/disk/files.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

constexpr const char* format = "piracema queued job";
constexpr const char* mark_name = "/piracema.queue";
constexpr std::size_t digits = 8;

bool is_job(const std::string& name) {
  return name.size() == digits &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

nlohmann::json escaped(const std::vector<std::string>& words) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& word : words) list.push_back(escape(word));
  return list;
}

std::vector<std::string> texts_in(const nlohmann::json& content, const char* name) {
  std::vector<std::string> words;
  for (const auto& word : member(content, name)) words.push_back(unescape(word.get<std::string>()));
  return words;
}

std::string encode(const QueuedJob& job) {
  nlohmann::json content = {{"command", escaped(job.command)},
                            {"environment", escaped(job.environment)},
                            {"working_directory", escape(job.working_directory)},
                            {"directory", escape(job.directory)},
                            {"stream", job.stream},
                            {"compress", job.compress}};
  if (job.ended) content["ended"] = *job.ended;
  return seal(format, content);
}

}  // namespace

Result<QueueDirectory> QueueDirectory::open(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{Errc::io, with_errno(concat(path, ": cannot make"))};
  }
  char room[PATH_MAX];
  if (::realpath(path.c_str(), room) == nullptr) return Error{Errc::io, with_errno(path)};
  const std::string whole = room, mark = whole + mark_name;
  std::error_code why;
  if (::access(mark.c_str(), F_OK) != 0) {
    if (!std::filesystem::is_empty(whole, why)) {
      return Error{Errc::config, concat(path,
                                        ": want a directory that is empty or a queue, found one "
                                        "that holds something else")};
    }
    if (auto made = store::replace_file(mark, {}); !made) return made.error();
  }
  return QueueDirectory(whole);
}

Result<QueueDirectory> QueueDirectory::find(const std::string& path) {
  if (::access((path + mark_name).c_str(), F_OK) == 0) return open(path);
  if (errno != ENOENT && errno != ENOTDIR) return Error{Errc::io, with_errno(path)};
  const bool is_there = ::access(path.c_str(), F_OK) == 0;
  return Error{Errc::config,
               concat(path, ": want a queue, found ", is_there ? "something else" : "nothing")};
}

Result<Fd> QueueDirectory::lock_for(const std::string& host) const {
  return store::lock_file(concat(path_, "/host-", host, ".lock"), "daemon");
}

// The name is taken by a link, which two cannot make; the content is there before.
Result<std::string> QueueDirectory::submit(const QueuedJob& job) const {
  const std::string text = encode(job);
  const Bytes piece = as_bytes(text);
  const std::string draft = concat(path_, "/draft-", ::getpid());
  if (auto written = store::replace_file(draft, {&piece, 1}); !written) return written.error();
  const auto all = names();
  unsigned long number = all && !all->empty() ? std::stoul(all->back()) + 1 : 1;
  std::string name;
  int failed = 0;
  do {
    char text_of[32];
    std::snprintf(text_of, sizeof text_of, "%08lu", number++);
    name = text_of;
    failed = ::link(draft.c_str(), path_of(name).c_str()) == 0 ? 0 : errno;
  } while (failed == EEXIST);
  ::unlink(draft.c_str());
  errno = failed;
  if (failed != 0) return Error{Errc::io, with_errno(path_of(name))};
  if (auto synced = store::sync_directory(path_); !synced) return synced.error();
  return name;
}

Result<std::vector<std::string>> QueueDirectory::names() const {
  std::vector<std::string> found;
  std::error_code why;
  for (std::filesystem::directory_iterator at(path_, why), end; at != end && !why;
       at.increment(why)) {
    if (at->path().extension() == ".json" && is_job(at->path().stem())) {
      found.push_back(at->path().stem());
    }
  }
  if (why) return Error{Errc::io, concat(path_, ": ", why.message())};
  std::sort(found.begin(), found.end());
  return found;
}

Result<QueuedJob> QueueDirectory::read(const std::string& name) const {
  if (!is_job(name)) return Error{Errc::not_found, concat(path_, ": no job ", name)};
  const auto text = store::read_file(path_of(name), document_bytes_max);
  if (!text) return text.error();
  QueuedJob job;
  const auto read = read_document(path_of(name), format, *text, [&](const nlohmann::json& content) {
    job.command = texts_in(content, "command");
    job.environment = texts_in(content, "environment");
    job.working_directory = unescape(text_in(content, "working_directory"));
    job.directory = unescape(text_in(content, "directory"));
    job.stream = flag_in(content, "stream");
    // Older ones have no such word.
    job.compress = content.contains("compress") && flag_in(content, "compress");
    if (content.contains("ended")) job.ended = static_cast<int>(number_in(content, "ended", 255));
    if (job.command.empty()) throw WrongDocument("want a command, found none");
  });
  if (!read) return read.error();
  return job;
}

Result<Done> QueueDirectory::write(const std::string& name, const QueuedJob& job) const {
  const std::string text = encode(job);
  const Bytes piece = as_bytes(text);
  if (auto done = store::replace_file(path_of(name), {&piece, 1}); !done) return done;
  return store::sync_directory(path_);
}

Result<Done> QueueDirectory::remove(const std::string& name) const {
  for (const std::string& path : {log_path(name), path_of(name)}) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Error{Errc::io, with_errno(path)};
  }
  return store::sync_directory(path_);
}

}  // namespace piracema::ckpt
