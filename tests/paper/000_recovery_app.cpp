// The first experiment of paper 000, section 5.3: a pipeline of four stages without replicas, 100
// messages, states of 8 bytes, and operator 2 fails after 90 of them.
//
//     recovery_app OUT
//
// An operator takes 10 ms for a message; OUT gets a line for each one that is taken by operator 2,
// and OUT.sink those that arrive.
#include <fcntl.h>
#include <piracema/operators.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

using namespace piracema::operators;

std::int64_t count_one() {
  const std::int64_t count =
      (keyStore::contains("count") ? keyStore::retrieve<std::int64_t>("count") : 0) + 1;
  keyStore::store("count", count);
  return count;
}

void add_line(const std::string& path, std::uint64_t id) {
  const std::string line = std::to_string(id) + "\n";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (::write(fd, line.data(), line.size()) < 0) ::abort();
  ::close(fd);
}

class Source : public ISourceOperator {
 public:
  void onProduce() override {
    auto next = keyStore::contains("next") ? keyStore::retrieve<std::uint64_t>("next") : 0;
    for (; next < 100; ++next) {
      keyStore::store("next", next + 1);
      Emit(next, "message");
    }
  }
};

class Operator1 : public IMiddleOperator {
 public:
  void onReceive(const Message& m) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    count_one();
    Emit(m.value);
  }
};

class Operator2 : public IMiddleOperator {
 public:
  explicit Operator2(std::string out) : out_(std::move(out)) {}
  void onReceive(const Message& m) override {
    add_line(out_, m.id);
    if (count_one() == 90 && first_time()) ::raise(SIGKILL);
    Emit(m.value);
  }

 private:
  bool first_time() const {
    return ::open((out_ + ".failed").c_str(), O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0;
  }
  std::string out_;
};

class Sink : public ISinkOperator {
 public:
  explicit Sink(std::string out) : out_(std::move(out)) {}
  void onReceive(const Message& m) override {
    // The count comes with the state, and the last line says whether any was lost or doubled.
    if (count_one() == 100) add_line(out_ + ".sink", m.id);
  }

 private:
  std::string out_;
};

int main(int argc, char** argv) {
  init(argc, argv);
  if (argc != 2) return 2;
  Source source;
  Operator1 first;
  Operator2 second(argv[1]);
  Sink sink(argv[1]);
  sink.setOrdered(true);
  pipeline::run(&source, &first, &second, &sink);
  finalize();
}
