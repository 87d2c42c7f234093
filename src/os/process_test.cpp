#include "os/process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/text.h"
#include "os/process_state.h"

using namespace piracema;
using namespace piracema::cluster;

namespace {

Launch shell(std::string script) { return {.command = {"/bin/sh", "-c", std::move(script)}}; }

// Waits as the driver does: the handle is readable when the process has ended.
Exit wait_for(Process& process) {
  pollfd ended{.fd = process.handle(), .events = POLLIN, .revents = 0};
  REQUIRE(::poll(&ended, 1, 100'000) == 1);
  auto exit = process.reap();
  REQUIRE(exit.has_value());
  return *exit;
}

Exit run(const Launch& launch) {
  auto process = Process::start(launch);
  REQUIRE(process.ok());
  return wait_for(*process);
}

std::string read_all(int fd) {
  std::string text;
  char some[256];
  ssize_t count = 0;
  while ((count = ::read(fd, some, sizeof some)) > 0) {
    text.append(some, static_cast<std::size_t>(count));
  }
  return text;
}

#ifndef __SANITIZE_THREAD__  // It copies all the same.
long page_faults() {
  struct rusage usage {};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// Memory of ours that was written.
class Pages {
 public:
  static constexpr std::size_t count = 1'024;

  Pages() {
    void* const memory =
        ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    ::madvise(memory, bytes(), MADV_NOHUGEPAGE);
    first_ = static_cast<volatile char*>(memory);
    write();
  }
  ~Pages() { ::munmap(const_cast<char*>(first_), bytes()); }
  Pages(const Pages&) = delete;

  void write() {
    for (std::size_t i = 0; i < count; ++i) first_[i * size_] = 'x';
  }

 private:
  std::size_t bytes() const { return count * size_; }

  const std::size_t size_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  volatile char* first_ = nullptr;
};
#endif

}  // namespace

TEST_CASE("a process that computes is held up, one that is stopped or waits is not") {
  auto busy = Process::start(shell("echo go; while :; do :; done"));
  REQUIRE(busy.ok());
  while (!state_of(busy->pid()).held_up) ::sched_yield();
  busy->signal(SIGSTOP);
  siginfo_t stopped{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(busy->pid()), &stopped, WSTOPPED) == 0);
  CHECK_FALSE(state_of(busy->pid()).held_up);
  CHECK(state_of(busy->pid()).stopped);

  auto waiting = Process::start(shell("read line <&-; kill -STOP $$"));
  REQUIRE(waiting.ok());
  REQUIRE(::waitid(P_PID, static_cast<id_t>(waiting->pid()), &stopped, WSTOPPED) == 0);
  CHECK_FALSE(state_of(waiting->pid()).held_up);
}

TEST_CASE("a process that has ended is ending until it is waited for, and then as well") {
  auto process = Process::start(shell("exec sleep 1000"));
  REQUIRE(process.ok());
  const pid_t pid = process->pid();
  CHECK_FALSE(state_of(pid).ending);
  process->signal(SIGKILL);
  pollfd ended{.fd = process->handle(), .events = POLLIN, .revents = 0};
  REQUIRE(::poll(&ended, 1, 100'000) == 1);
  CHECK(state_of(pid).ending);
  REQUIRE(process->reap().has_value());
  CHECK(state_of(pid).ending);
}

TEST_CASE("an exit says how it came about") {
  CHECK(run(shell("exit 0")).clean);

  const Exit failed = run(shell("exit 7"));
  CHECK_FALSE(failed.clean);
  CHECK(failed.status == 7);
  CHECK(failed.how == "ended with status 7");

  const Exit crashed = run(shell("kill -SEGV $$"));
  CHECK(crashed.how == "killed by signal 11 (SIGSEGV)");
  CHECK_FALSE(crashed.from_outside);
  CHECK_FALSE(crashed.status.has_value());
}

TEST_CASE("a kill comes from outside") {
  auto process = Process::start(shell("exec sleep 1000"));
  REQUIRE(process.ok());
  CHECK_FALSE(process->reap().has_value());

  process->signal(SIGKILL);
  const Exit exit = wait_for(*process);
  CHECK(exit.from_outside);
  CHECK(exit.how == "killed by signal 9 (SIGKILL)");
}

TEST_CASE("the environment and the descriptors that were named are inherited, others are not") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  Fd in(ends[0]), out(ends[1]);
  ::setenv("PIRACEMA_TEST", "old", 1);
  const auto tell = [](const char* name, const Fd& fd) {
    return concat("test -e /proc/self/fd/", fd.get(), " && echo ", name, "; ");
  };
  Launch launch = shell(concat("exec >&", out.get(), "; echo $PIRACEMA_TEST; ", tell("out", out),
                               tell("in", in), "true"));
  launch.environment = {"PIRACEMA_TEST=new"};
  launch.inherited = {out.get()};

  CHECK(run(launch).clean);
  out.close();
  CHECK(read_all(in.get()) == "new\nout\n");
}

TEST_CASE("a process does not see Ctrl-C, reads nothing, and has default signals") {
  auto process = Process::start(shell("read -r line && exit 1; exit 0"));
  REQUIRE(process.ok());
  CHECK(::getpgid(process->pid()) == process->pid());
  CHECK(wait_for(*process).clean);

  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  CHECK(run(shell("kill -TERM $$; exit 0")).how == "killed by signal 15 (SIGTERM)");
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST_CASE("a process dies with the one that started it") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  Fd in(ends[0]), out(ends[1]);
  const pid_t middle = ::fork();
  if (middle == 0) {
    in.close();
    Launch launch = shell("exec sleep 1000");
    launch.inherited = {out.get()};
    auto process = Process::start(launch);
    ::raise(SIGKILL);  // No destructor, no farewell.
  }
  out.close();
  REQUIRE(::waitpid(middle, nullptr, 0) == middle);

  // The pipe ends when the last process that holds it is gone.
  pollfd ended{.fd = in.get(), .events = 0, .revents = 0};
  CHECK(::poll(&ended, 1, 100'000) == 1);
}

TEST_CASE("a program has those variables alone where nothing of ours is to be there") {
  Launch launch = shell("test \"$ONLY$HOME\" = this");
  launch.environment = {"ONLY=this"};
  launch.environment_is_all = true;
  CHECK(run(launch).clean);
}

TEST_CASE("a program runs as another account, dies with us, and we stay who we are") {
  const auto account = Account::find("nobody");
  REQUIRE(account.ok());
  Launch launch = shell(
      "test $(id -un) = nobody && test $(id -rn -u) = nobody && "
      "grep -q '^CapEff:\t0*$' /proc/self/status && ! test -w /etc");
  launch.account = *account;
  if (::geteuid() != 0) {
    const auto started = Process::start(launch);
    REQUIRE_FALSE(started.ok());
    CHECK(started.error().message == "'/bin/sh' cannot be run: Operation not permitted");
    return;
  }
  CHECK(run(launch).clean);
  CHECK(::geteuid() == 0);
  CHECK(::getuid() == 0);

  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  Fd in(ends[0]), out(ends[1]);
  const pid_t middle = ::fork();
  REQUIRE(middle >= 0);
  if (middle == 0) {
    in.close();
    Launch lasting = shell("exec sleep 1000");
    lasting.account = *account;
    lasting.inherited = {out.get()};
    auto process = Process::start(lasting);
    ::raise(SIGKILL);
  }
  out.close();
  REQUIRE(::waitpid(middle, nullptr, 0) == middle);
  pollfd ended{.fd = in.get(), .events = 0, .revents = 0};
  CHECK(::poll(&ended, 1, 100'000) == 1);
}

TEST_CASE("the rights of an account are lent to this process, and given back") {
  if (::geteuid() != 0) return;
  const auto account = Account::find("nobody");
  REQUIRE(account.ok());
  {
    const RightsOf rights(*account);
    CHECK(::geteuid() == account->uid);
    CHECK(::open("/etc/shadow", O_RDONLY | O_CLOEXEC) == -1);
  }
  CHECK(::geteuid() == 0);
  CHECK(::getegid() == 0);
  { const RightsOf none(std::nullopt); }
  CHECK(::geteuid() == 0);
}

TEST_CASE("a program that cannot be run is told with the reason") {
  const auto why = [](const std::string& name) {
    auto found = find_program(name);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().code == Errc::config);
    return found.error().message;
  };
  CHECK(why("./no-such-program") == "'./no-such-program' cannot be run: No such file or directory");
  CHECK(why("/usr") == "'/usr' cannot be run: not a regular file");
  CHECK(why("no-such-program") == "'no-such-program' cannot be run: it is not in the PATH");
  CHECK(why("/etc/passwd") == "'/etc/passwd' cannot be run: Permission denied");
  CHECK(find_program("sh").ok());

  auto started = Process::start({.command = {"/etc/passwd"}});
  REQUIRE_FALSE(started.ok());
  CHECK(started.error().message == "'/etc/passwd' cannot be run: Permission denied");
}

#ifndef __SANITIZE_THREAD__
TEST_CASE("nothing of our memory is copied for a process, however much it is") {
  Pages pages;
  const long before = page_faults();
  CHECK(run(shell("exit 0")).clean);
  pages.write();
  CHECK(page_faults() - before < static_cast<long>(Pages::count) / 2);
}
#endif
