#include "council/remote_output.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/fd.h"

using namespace piracema;
using namespace piracema::council;

namespace {

/// Writes until nothing more is taken, which would be for ever on one that is waited for.
bool fills(int fd) {
  const std::string much(1 << 20, 'x');
  while (::write(fd, much.data(), much.size()) > 0) {
  }
  return errno == EAGAIN;
}

}  // namespace

TEST_CASE("what a way to the command does not take at once is not waited for") {
  int ends[2];
  SUBCASE("a pipe, which others go on to wait for") {
    REQUIRE(::pipe(ends) == 0);
    const Fd in(ends[0]), out(ends[1]), others(::dup(ends[1]));
    do_not_wait_for(out.get());
    CHECK(fills(out.get()));
    CHECK((::fcntl(others.get(), F_GETFL) & O_NONBLOCK) == 0);
    char some[4'096];
    CHECK(::read(in.get(), some, sizeof some) == sizeof some);
    CHECK(::write(out.get(), some, 1) == 1);
  }
  SUBCASE("a socket") {
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    const Fd in(ends[0]), out(ends[1]);
    do_not_wait_for(out.get());
    CHECK(fills(out.get()));
  }
}
