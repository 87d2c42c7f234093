#include "bench/common/text_corpus.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/text.h"
#include "bench/common/command.h"

namespace piracema::bench {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t file_bytes_max = 8'000'000;
// gzip is started once for so many files, which is what takes the time.
constexpr std::size_t gzip_files = 64;

// Links are left out, so that nothing is there twice and nothing goes in circles.
std::vector<fs::path> files_below(const std::string& root) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_symlink(ignored) || !at->is_regular_file(ignored)) continue;
    if (at->file_size(ignored) <= file_bytes_max && !ignored) files.push_back(at->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_text(const std::string& bytes) {
  return !bytes.empty() && bytes.find('\0') == std::string::npos;
}

// The file if it is text, else nothing; most that are not show it at their beginning.
std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(4096, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (!is_text(bytes)) return {};
  std::error_code ignored;
  std::string rest(fs::file_size(path, ignored), '\0');
  in.read(rest.data(), static_cast<std::streamsize>(rest.size()));
  rest.resize(static_cast<std::size_t>(in.gcount()));
  bytes += rest;
  return is_text(bytes) ? bytes : std::string();
}

std::string unpack(const std::vector<fs::path>& files) {
  std::vector<std::string> command{"gzip", "-dcq", "--"};
  for (const fs::path& file : files) command.push_back(file.string());
  std::string output;
  // A file that is damaged gives what can be read of it: gzip's exit code does not matter.
  if (!run_command(command, {.output = &output})) return {};
  return output;
}

class Writer {
 public:
  Writer(const std::string& path, std::uint64_t size) : out_(path, std::ios::binary), left_(size) {}

  void text(const std::string& text, std::uint64_t files) {
    if (text.empty() || full()) return;
    const std::uint64_t count = std::min<std::uint64_t>(text.size(), left_);
    out_.write(text.data(), static_cast<std::streamsize>(count));
    left_ -= count;
    corpus_.distinct_bytes += count;
    corpus_.files += files;
  }

  void packed(const fs::path& path) {
    packed_.push_back(path);
    if (packed_.size() == gzip_files) unpack_all();
  }

  // Something among the files is no text: then they are looked at one by one.
  void unpack_all() {
    if (packed_.empty()) return;
    const std::string all = unpack(packed_);
    if (is_text(all)) {
      text(all, packed_.size());
    } else {
      for (const fs::path& path : packed_) {
        const std::string one = unpack({path});
        if (is_text(one)) text(one, 1);
      }
    }
    packed_.clear();
  }

  bool full() const { return left_ == 0 || !out_; }
  std::uint64_t left() const { return left_; }
  const Corpus& corpus() const { return corpus_; }

  bool close() {
    out_.close();
    return !out_.fail();
  }

 private:
  std::ofstream out_;
  std::uint64_t left_;
  Corpus corpus_;
  std::vector<fs::path> packed_;
};

void add_root(const std::string& root, Writer& writer) {
  for (const fs::path& path : files_below(root)) {
    if (writer.full()) return;
    if (path.extension() == ".gz") {
      writer.packed(path);
    } else {
      writer.unpack_all();
      writer.text(read_text(path), 1);
    }
  }
  writer.unpack_all();
}

// Appends what a file has, from its front, until it has `left` more bytes. It is not empty.
bool repeat(const std::string& path, std::uint64_t left) {
  std::ifstream in(path, std::ios::binary);
  std::ofstream out(path, std::ios::binary | std::ios::app);
  std::string bytes(std::size_t{1} << 20, '\0');
  while (left > 0 && in.is_open() && out) {
    const auto want = static_cast<std::streamsize>(std::min<std::uint64_t>(bytes.size(), left));
    in.read(bytes.data(), want);
    in.clear();  // The end of the file moves on with what is appended.
    out.write(bytes.data(), in.gcount());
    out.flush();
    left -= static_cast<std::uint64_t>(in.gcount());
  }
  return left == 0 && out.good();
}

}  // namespace

std::vector<std::string> text_roots() { return {"/usr/share", "/usr/include", "/usr/lib"}; }

Result<Corpus> write_text(std::uint64_t size, const std::string& path,
                          const std::vector<std::string>& roots) {
  if (fs::exists(path)) return Error{Errc::io, concat("output '", path, "' exists: remove it")};
  // Half a text never has the name of a whole one.
  const std::string partial = path + ".partial";
  errno = 0;
  Writer writer(partial, size);
  for (const std::string& root : roots) add_root(root, writer);
  const bool written = writer.close();
  std::error_code renamed;
  if (written && writer.corpus().files > 0 && repeat(partial, writer.left())) {
    fs::rename(partial, path, renamed);
    if (!renamed) return writer.corpus();
  }
  const Error error = written && writer.corpus().files == 0
                          ? Error{Errc::not_found, "no file with text was found"}
                          : Error{Errc::io, with_errno(concat("output '", path, "'"))};
  std::error_code ignored;
  fs::remove(partial, ignored);
  return error;
}

Result<std::uint64_t> parse_size(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const std::uint64_t factor = unit.empty()  ? 1
                               : unit == "k" ? 1'000
                               : unit == "M" ? 1'000'000
                               : unit == "G" ? 1'000'000'000
                                             : 0;
  if (error != std::errc() || number == 0 || factor == 0 || number > UINT64_MAX / factor) {
    return Error{Errc::usage,
                 concat("size: want a number of bytes, as 5000, 200M or 1G, found '", text, "'")};
  }
  return number * factor;
}

}  // namespace piracema::bench
