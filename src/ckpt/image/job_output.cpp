#include "ckpt/image/job_output.h"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace piracema::ckpt {

namespace {

std::uint64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Result<std::unique_ptr<JobOutput>> JobOutput::open(net::Poller& poller,
                                                   const JobDirectory& directory, bool one) {
  std::unique_ptr<JobOutput> both(new JobOutput(poller, directory));
  const std::string out = directory.stdout_path(), err = directory.stderr_path();
  auto output = OutputTail::open(out, size_of(out), STDOUT_FILENO);
  if (!output) return output.error();
  both->watch(both->output_.emplace(*std::move(output)));
  if (one) return both;
  auto error = OutputTail::open(err, size_of(err), STDERR_FILENO);
  if (!error) return error.error();
  both->watch(both->error_.emplace(*std::move(error)));
  return both;
}

JobOutput::~JobOutput() {
  for (auto* tail : {&output_, &error_}) {
    if (!*tail) continue;
    poller_.forget((*tail)->watched());
    poller_.forget((*tail)->to());
  }
}

void JobOutput::watch(OutputTail& tail) {
  poller_.watch(tail.watched(), EPOLLIN, [this, &tail](std::uint32_t) { pass_on(tail, false); });
}

void JobOutput::pass_on(OutputTail& tail, bool last) {
  const int to = tail.to();
  poller_.forget(to);
  if (tail.drain(last)) return;
  poller_.watch(to, EPOLLOUT, [this, &tail](std::uint32_t) { pass_on(tail, false); });
}

void JobOutput::drain(bool last) {
  if (output_) pass_on(*output_, last);
  if (error_) pass_on(*error_, last);
}

std::uint64_t JobOutput::cut() {
  return cut(directory_.stdout_path(), size_of(directory_.stdout_path())) +
         cut(directory_.stderr_path(), size_of(directory_.stderr_path()));
}

std::uint64_t JobOutput::cut(const std::string& path, std::uint64_t bytes) {
  if (output_ && path == directory_.stdout_path()) return output_->cut_to(bytes);
  if (error_ && path == directory_.stderr_path()) return error_->cut_to(bytes);
  return 0;
}

}  // namespace piracema::ckpt
