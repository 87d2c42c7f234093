// A program that has what an image does not hold by itself, for as long as its story says; then it
// prints whether all of it was there to the end.
//
//   transient STORY SECONDS FIFO
//
// Each story prints "ready" when the thing is there, and "whole" in the end. What passes by itself
// does so after SECONDS; the program goes on to its end when FIFO has a writer.
//   full      a TCP connection whose sender's queue is full of what it could not send
//   half      likewise, closed by the sender, whose end has nobody any more
//   waiting   a connection with data that its listener accepts only then
//   proc      files of /proc/PID and /proc/self open, one of a child that has ended
//   vfork     a child between vfork and exec
//   zombie    a child that has ended and is not waited for
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

void want(bool right, const char* what) {
  if (right) return;
  std::printf("broken: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

void ready() {
  std::printf("ready\n");
  std::fflush(stdout);
}

// By the clock of the processes, which stands still while they do.
void stay(double seconds) {
  timespec left{
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<double>(static_cast<long>(seconds))) * 1e9)};
  while (::nanosleep(&left, &left) != 0) want(errno == EINTR, "nanosleep");
}

std::string fifo;

void wait_for_writer() {
  int made = -1;
  while ((made = ::open(fifo.c_str(), O_RDONLY)) < 0) want(errno == EINTR, "the fifo");
  ::close(made);
}

struct Listener {
  Listener() : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    want(::bind(socket, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0, "bind");
    want(::listen(socket, 8) == 0, "listen");
    socklen_t bytes = sizeof address;
    want(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes) == 0, "getsockname");
  }
  int connect() const {
    const int made = ::socket(AF_INET, SOCK_STREAM, 0);
    want(::connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
         "connect");
    return made;
  }
  int accept() const {
    const int made = ::accept(socket, nullptr, nullptr);
    want(made >= 0, "accept");
    return made;
  }
  int socket;
  sockaddr_in address{};
};

// Numbers, until nothing more goes in.
std::uint64_t fill(int socket) {
  want(::fcntl(socket, F_SETFL, O_NONBLOCK) == 0, "fcntl");
  std::uint64_t written = 0;
  for (;;) {
    std::vector<unsigned char> piece(4096);
    for (std::size_t i = 0; i < piece.size(); ++i)
      piece[i] = static_cast<unsigned char>((written + i) * 31 >> 3);
    const ssize_t count = ::send(socket, piece.data(), piece.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) return written;
    want(count > 0, "send");
    written += static_cast<std::uint64_t>(count);
  }
}

// The same numbers, and then the end.
void drain(int socket, std::uint64_t wanted) {
  std::uint64_t seen = 0;
  std::vector<unsigned char> piece(65536);
  while (seen < wanted) {
    const ssize_t count = ::recv(socket, piece.data(), piece.size(), 0);
    want(count > 0, "recv");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      want(piece[i] == static_cast<unsigned char>((seen + i) * 31 >> 3), "bytes");
    }
    seen += static_cast<std::uint64_t>(count);
  }
}

// The sender is made first: criu restores files by their numbers.
void full(double seconds, bool close_early) {
  const Listener listener;
  const int sender = listener.connect(), receiver = listener.accept();
  const std::uint64_t written = fill(sender);
  if (close_early) ::close(sender);
  ready();
  if (close_early) {
    stay(seconds);
  } else {
    wait_for_writer();
  }
  drain(receiver, written);
  if (!close_early) ::close(sender);
  char more;
  want(::recv(receiver, &more, 1, 0) == 0, "the end of it");
  if (close_early) wait_for_writer();
}

void waiting(double seconds) {
  const Listener listener;
  const int sender = listener.connect();
  want(::send(sender, "hello", 5, 0) == 5, "send");
  ready();
  stay(seconds);
  const int receiver = listener.accept();
  char text[5];
  want(::recv(receiver, text, 5, MSG_WAITALL) == 5, "recv");
  want(std::memcmp(text, "hello", 5) == 0, "bytes");
  wait_for_writer();
}

void proc(double) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const int of_child = ::open(("/proc/" + std::to_string(child) + "/stat").c_str(), O_RDONLY);
  const int own = ::open("/proc/self/net/if_inet6", O_RDONLY),
            status = ::open("/proc/self/status", O_RDONLY);
  const int cpu = ::open("/sys/devices/system/cpu/online", O_RDONLY);
  want(of_child >= 0 && status >= 0 && cpu >= 0, "open");
  want(own >= 0 || errno == ENOENT, "open");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ready();
  wait_for_writer();
  char text[64];
  want(::read(status, text, sizeof text) == sizeof text, "read");
  want(::read(cpu, text, sizeof text) > 0, "read");
  want(::read(of_child, text, sizeof text) < 0 && errno == ESRCH, "a process that has ended");
}

void vforked(double seconds) {
  ready();
  const pid_t child = ::vfork();
  if (child == 0) {
    const timespec time{static_cast<time_t>(seconds), 0};
    ::nanosleep(&time, nullptr);
    ::_exit(7);
  }
  int status = 0;
  want(::waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the child's end");
  wait_for_writer();
}

void zombie(double) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(7);
  siginfo_t ended;
  want(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0, "waitid");
  ready();
  wait_for_writer();
  int status = 0;
  want(::waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the child's end");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  fifo = argv[3];
  const std::map<std::string, std::function<void(double)>> stories = {
      {"full", [](double s) { full(s, false); }},
      {"half", [](double s) { full(s, true); }},
      {"waiting", waiting},
      {"proc", proc},
      {"vfork", vforked},
      {"zombie", zombie}};
  const auto story = stories.find(argv[1]);
  if (story == stories.end()) return 2;
  story->second(std::atof(argv[2]));
  std::printf("whole\n");
}
