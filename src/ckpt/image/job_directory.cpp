#include "ckpt/image/job_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include "base/hex.h"
#include "base/text.h"
#include "store/disk/directory_disk.h"
#include "store/disk/file_lock.h"
#include "store/disk/files.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

constexpr const char* job_format = "piracema job";
constexpr const char* job_name = "job.json";
constexpr const char* lock_name = "piracema.lock";
constexpr std::string_view copy_ending = ".copy";

Result<Done> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return io_error(path, "cannot make");
  return Done{};
}

Result<std::string> absolute(const std::string& path) {
  char room[PATH_MAX];
  if (::realpath(path.c_str(), room) == nullptr) return io_error(path, "cannot open");
  return std::string(room);
}

bool is_ours(const std::string& path) {
  return ::access(concat(path, "/", std::string_view(lock_name)).c_str(), F_OK) == 0;
}

}  // namespace

JobDirectory::JobDirectory(std::string path, Fd lock)
    : path_(std::move(path)),
      lock_(std::move(lock)),
      images_(std::make_unique<store::DirectoryDisk>(path_ + "/images", Fd())) {}

Result<std::unique_ptr<JobDirectory>> JobDirectory::open(const std::string& path, IfInUse in_use) {
  if (auto made = make_directory(path); !made) return made.error();
  const auto whole = absolute(path);
  if (!whole) return whole.error();
  if ((*whole + "/").starts_with("/dev/shm/")) {
    return Error{Errc::config, concat(path,
                                      ": want a directory outside of /dev/shm, of which each "
                                      "job has one of its own")};
  }
  std::error_code why;
  if (!is_ours(*whole) && !std::filesystem::is_empty(*whole, why)) {
    return Error{Errc::config, concat(path,
                                      ": want a directory that is empty or holds a job, "
                                      "found one that holds something else")};
  }
  const std::string lock_path = concat(*whole, "/", std::string_view(lock_name));
  auto lock = in_use == IfInUse::wait ? store::wait_to_lock_file(lock_path)
                                      : store::lock_file(lock_path, "job");
  if (!lock) return lock.error();
  for (const char* name : {"/images", "/log"}) {
    if (auto made = make_directory(*whole + name); !made) return made.error();
  }
  return std::unique_ptr<JobDirectory>(new JobDirectory(*whole, *std::move(lock)));
}

Result<std::unique_ptr<JobDirectory>> JobDirectory::look(const std::string& path) {
  const auto whole = absolute(path);
  if (!whole) return Error{Errc::config, whole.error().message};
  if (!is_ours(*whole)) return Error{Errc::config, concat(path, ": no job has been run here")};
  return std::unique_ptr<JobDirectory>(new JobDirectory(*whole, Fd()));
}

std::string JobDirectory::parts_path(ImageId image) const {
  char name[32];
  std::snprintf(name, sizeof name, "%012llu", static_cast<unsigned long long>(image));
  return concat(path_, "/images/", std::string_view(name));
}

std::string JobDirectory::manifest_path(ImageId image) const {
  return concat(path_, "/images/", ImageStore::manifest_name(image));
}

Result<JobFile> JobDirectory::read() const {
  const std::string path = concat(path_, "/", std::string_view(job_name));
  const auto text = store::read_file(path, document_bytes_max);
  if (!text) return text.error();
  JobFile job;
  const auto read = read_document(path, job_format, *text, [&](const nlohmann::json& content) {
    job.id = hex_in(content, "job");
    for (const auto& word : member(content, "command")) {
      job.command.push_back(unescape(word.get<std::string>()));
    }
    job.working_directory = unescape(text_in(content, "working_directory"));
    job.host_name = unescape(text_in(content, "host_name"));
    job.one_output = flag_in(content, "one_output");
    if (content.contains("hosts")) {
      for (const auto& host : content["hosts"])
        job.hosts.push_back(unescape(host.get<std::string>()));
    }
    if (content.contains("ended")) job.ended = static_cast<int>(number_in(content, "ended", 255));
    if (content.contains("local")) {
      job.local = unescape(text_in(content, "local"));
      job.local_mark = text_in(content, "local_mark");
    }
    if (content.contains("partner")) job.partner = unescape(text_in(content, "partner"));
    if (content.contains("doubted")) {
      for (const auto& image : content["doubted"]) job.doubted.push_back(image.get<ImageId>());
    }
  });
  if (!read) return read.error();
  return job;
}

Result<Done> JobDirectory::write(const JobFile& job) {
  nlohmann::json command = nlohmann::json::array();
  for (const std::string& word : job.command) command.push_back(escape(word));
  nlohmann::json content = {{"job", store::to_hex(job.id)},
                            {"command", std::move(command)},
                            {"working_directory", escape(job.working_directory)},
                            {"host_name", escape(job.host_name)},
                            {"one_output", job.one_output}};
  for (const std::string& host : job.hosts) content["hosts"].push_back(escape(host));
  if (job.ended) content["ended"] = *job.ended;
  if (!job.doubted.empty()) content["doubted"] = job.doubted;
  if (!job.local.empty()) {
    content["local"] = escape(job.local);
    content["local_mark"] = job.local_mark;
  }
  if (!job.partner.empty()) content["partner"] = escape(job.partner);
  const std::string text = seal(job_format, content);
  const Bytes piece = as_bytes(text);
  const std::string path = concat(path_, "/", std::string_view(job_name));
  if (auto done = store::replace_file(path, {&piece, 1}); !done) return done;
  return store::sync_directory(path_);
}

Result<std::unique_ptr<store::Disk>> JobDirectory::parts(ImageId image) {
  const std::string path = parts_path(image);
  // Its name is made durable with that of the manifest, which lies beside it.
  if (auto made = make_directory(path); !made) return made.error();
  return std::unique_ptr<store::Disk>(std::make_unique<store::DirectoryDisk>(path, Fd()));
}

Result<std::vector<ImageId>> JobDirectory::with_parts() {
  const auto names = images_->list();
  if (!names) return names.error();
  std::vector<ImageId> found;
  for (const std::string& name : *names) {
    const ImageId image = std::strtoull(name.c_str(), nullptr, 10);
    if (image != 0 && parts_path(image).ends_with("/" + name)) found.push_back(image);
  }
  return found;
}

Result<Done> JobDirectory::remove_parts(ImageId image) {
  std::error_code why;
  std::filesystem::remove_all(parts_path(image), why);
  if (why) return Error{Errc::io, concat(parts_path(image), ": cannot remove: ", why.message())};
  return Done{};
}

std::string JobDirectory::copy_path(ImageId image) const {
  return concat(parts_path(image), copy_ending);
}

// Whoever still writes to one of an earlier keeper finds its directory gone.
Result<std::string> JobDirectory::make_copy_place(ImageId image) {
  const std::string path = copy_path(image);
  std::error_code why;
  std::filesystem::remove_all(path, why);
  if (why) return Error{Errc::io, concat(path, ": cannot remove: ", why.message())};
  if (auto made = make_directory(path); !made) return made.error();
  return path;
}

Result<Done> JobDirectory::adopt_parts(ImageId image) {
  if (auto removed = remove_parts(image); !removed) return removed;
  if (::rename(copy_path(image).c_str(), parts_path(image).c_str()) != 0)
    return io_error(copy_path(image), "cannot rename");
  return images_->sync_names();
}

Result<Done> JobDirectory::remove_copies() {
  const auto names = images_->list();
  if (!names) return names.error();
  for (const std::string& name : *names) {
    if (!name.ends_with(copy_ending)) continue;
    std::error_code why;
    std::filesystem::remove_all(concat(path_, "/images/", name), why);
    if (why) return Error{Errc::io, concat(path_, ": cannot remove a copy: ", why.message())};
  }
  return Done{};
}

std::size_t JobDirectory::readers() const {
  return std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
}

}  // namespace piracema::ckpt
