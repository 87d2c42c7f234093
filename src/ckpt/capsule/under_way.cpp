#include "ckpt/capsule/under_way.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "base/text.h"

namespace piracema::ckpt {

namespace {

// As the kernel numbers them (net/tcp_states.h).
enum State : unsigned { syn_received = 3, fin_wait_1 = 4, last_ack = 9, listen = 10, closing = 11 };

struct Line {
  unsigned port = 0, state = 0, to_send = 0, to_read = 0;
  unsigned long long inode = 0;
};

// proc(5), /proc/net/tcp: number, address:port here and there, state, tx:rx, timer, retransmits,
// user, timeout, inode. Of a listener the second queue is of connections to be accepted.
bool read(const std::string& text, Line& line) {
  return std::sscanf(text.c_str(),
                     " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %x:%x %*x:%*x %*x %*u %*u %llu",
                     &line.port, &line.state, &line.to_send, &line.to_read, &line.inode) == 5;
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::vector<std::string> connections_under_way(std::string_view table) {
  std::vector<std::string> found;
  std::istringstream lines{std::string(table)};
  for (std::string text; std::getline(lines, text);) {
    Line line;
    if (!read(text, line)) continue;
    const bool closed = line.inode == 0 && (line.state == fin_wait_1 || line.state == last_ack ||
                                            line.state == closing);
    if (line.state == listen && line.to_read > 0) {
      found.push_back(
          concat("port ", line.port, " has a connection that the job has not accepted yet"));
    } else if (line.state == syn_received) {
      found.push_back(concat("port ", line.port, " has a connection that is being opened"));
    } else if (closed && line.to_send > 0) {
      found.push_back(concat("port ", line.port, " has not delivered what it was closed with yet"));
    }
  }
  return found;
}

std::vector<std::string> connections_under_way() {
  std::vector<std::string> found = connections_under_way(text_of("/proc/net/tcp"));
  for (std::string& one : connections_under_way(text_of("/proc/net/tcp6"))) {
    found.push_back(std::move(one));
  }
  return found;
}

}  // namespace piracema::ckpt
