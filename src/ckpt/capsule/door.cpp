#include "ckpt/capsule/door.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "ckpt/capsule/door_messages.h"
#include "host/frame_pipe.h"
#include "os/exit_code.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

/// One call: a command that runs, and the connection to whom it runs for.
class Session {
 public:
  explicit Session(Fd socket) : socket_(std::move(socket)), pipe_(socket_.get(), socket_.get()) {}

  [[noreturn]] void run() {
    const auto frame = pipe_.wait();
    if (!frame || frame->kind != static_cast<std::uint8_t>(DoorFrame::request)) ::_exit(1);
    const auto request = wire::decode<DoorRequest>(frame->head);
    if (!request || !start(*request)) ::_exit(1);
    while (out_ || error_) wait();
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    const auto code = std::byte(exit_code_of_status(status));
    say(DoorFrame::exit, {&code, 1});
    ::_exit(0);
  }

 private:
  bool start(const DoorRequest& request) {
    int in[2], out[2], error[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 ||
        ::pipe2(error, O_CLOEXEC) != 0)
      return false;
    child_ = ::fork();
    if (child_ < 0) return false;
    if (child_ == 0) become(request, in[0], out[1], error[1]);
    in_ = Fd(in[1]);
    out_ = Fd(out[0]);
    error_ = Fd(error[0]);
    for (const int fd : {in[0], out[1], error[1]}) ::close(fd);
    return true;
  }

  [[noreturn]] static void become(const DoorRequest& request, int in, int out, int error) {
    ::setsid();
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(error, STDERR_FILENO);
    std::vector<char*> variables;
    for (const std::string& one : request.environment)
      variables.push_back(const_cast<char*>(one.c_str()));
    variables.push_back(nullptr);
    // As ssh, which begins at home: one that is not there on this host is no reason to refuse.
    (void)!::chdir(request.directory.c_str());
    ::execle("/bin/sh", "sh", "-c", request.command.c_str(), nullptr, variables.data());
    ::_exit(127);
  }

  void wait() {
    std::array<pollfd, 3> all = {
        {{socket_.get(), POLLIN, 0}, {out_.get(), POLLIN, 0}, {error_.get(), POLLIN, 0}}};
    if (::poll(all.data(), all.size(), -1) < 0) return;
    if (all[0].revents != 0) hear();
    if (all[1].revents != 0) pass_on(out_, DoorFrame::output);
    if (all[2].revents != 0) pass_on(error_, DoorFrame::error);
  }

  void pass_on(Fd& from, DoorFrame kind) {
    std::array<std::byte, door_piece_bytes> room;
    const ssize_t count = ::read(from.get(), room.data(), room.size());
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return from.close();
    say(kind, {room.data(), static_cast<std::size_t>(count)});
  }

  void hear() {
    // Who has gone takes the command with him, as a terminal does.
    if (!pipe_.fill()) give_up();
    for (auto frame = pipe_.next();; frame = pipe_.next()) {
      if (!frame) give_up();
      if (!*frame) return;
      const Buffer& bytes = (*frame)->head;
      if (bytes.empty()) in_.close();
      // A command that reads nothing has a full pipe, and its caller waits as for ssh.
      if (in_ && ::write(in_.get(), bytes.data(), bytes.size()) < 0) in_.close();
    }
  }

  void say(DoorFrame kind, Bytes bytes) {
    if (!pipe_.send(static_cast<std::uint8_t>(kind), bytes)) give_up();
  }

  [[noreturn]] void give_up() {
    ::kill(-child_, SIGHUP);
    ::_exit(1);
  }

  Fd socket_;
  FramePipe pipe_;
  pid_t child_ = 0;
  /// The command's standard input, output and error.
  Fd in_, out_, error_;
};

}  // namespace

int run_door() {
  // mpirun's daemon leaves whoever starts it: it becomes ours, so that it stays in the job.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::signal(SIGCHLD, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(door_port);
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 128) != 0) {
    log(Level::error, with_errno("door"));
    return 3;
  }
  for (;;) {
    Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    if (::fork() != 0) continue;
    ::signal(SIGCHLD, SIG_DFL);
    ::close(listener.get());
    Session(std::move(socket)).run();
  }
}

}  // namespace piracema::ckpt
