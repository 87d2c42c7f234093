// Writes a file of real text, gathered from what every Debian has.

#include <cstdio>
#include <string>

#include "base/text.h"
#include "bench/common/text_corpus.h"

using namespace piracema;

namespace {

int say(const Error& error) {
  std::fprintf(stderr, "text_corpus: %s\n", error.message.c_str());
  return error.code == Errc::usage ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return say({Errc::usage, "want: text_corpus SIZE OUT, as in: text_corpus 200M x"});
  const auto size = bench::parse_size(argv[1]);
  if (!size) return say(size.error());
  const auto corpus = bench::write_text(*size, argv[2]);
  if (!corpus) return say(corpus.error());
  std::printf("%s: %s of text from %llu files\n", argv[2],
              human_bytes(static_cast<double>(*size)).c_str(),
              static_cast<unsigned long long>(corpus->files));
  if (corpus->distinct_bytes < *size) {
    std::printf("note: this machine has %s of text; it repeats itself from there on\n",
                human_bytes(static_cast<double>(corpus->distinct_bytes)).c_str());
  }
  return 0;
}
