#include "ckpt/keeper/last_capsule.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace piracema::ckpt {

namespace {

struct Place {
  Place() {
    char name[] = "/tmp/last-capsule-XXXXXX";
    path = ::mkdtemp(name);
    std::filesystem::create_directory(path + "/log");
  }
  ~Place() { std::filesystem::remove_all(path); }
  std::string path;
};

struct Child {
  Child() : pid(::fork()) {
    if (pid != 0) return;
    for (;;) ::pause();
  }
  ~Child() { end(); }
  void end() {
    if (ended) return;
    ended = true;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  pid_t pid;
  bool ended = false;
};

}  // namespace

TEST_CASE("a capsule that has not ended yet is waited for") {
  Place place;
  Child child;
  note_capsule(place.path, child.pid);
  std::thread killer([&] {
    // It is still there while it is waited for, most likely; the result is the same if not.
    child.end();
  });
  CHECK(wait_for_last_capsule(place.path));
  // It runs no more, be it reaped or not.
  std::ifstream file("/proc/" + std::to_string(child.pid) + "/stat");
  std::string number, name, state;
  file >> number >> name >> state;
  CHECK((state.empty() || state == "Z"));
  killer.join();
}

TEST_CASE("nothing is waited for that has ended, is another one, or was before a reboot") {
  Place place;
  CHECK(wait_for_last_capsule(place.path));
  {
    Child child;
    note_capsule(place.path, child.pid);
    child.end();
    CHECK(wait_for_last_capsule(place.path));
  }
  // Alive, but begun at another time; then of another boot; then no such file at all.
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  for (const std::string& text :
       {boot + " " + std::to_string(::getpid()) + " 1",
        "another " + std::to_string(::getpid()) + " 1", std::string("x y z"), std::string()}) {
    std::ofstream(place.path + "/log/capsule") << text;
    CHECK(wait_for_last_capsule(place.path));
  }
}

}  // namespace piracema::ckpt
