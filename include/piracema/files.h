#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <piracema/detail/file_share.h>
#include <piracema/detail/output_file.h>

/// Sources and sinks that are ready to use. All of them keep their place exactly in snapshots and
/// may have several replicas. What fails throws std::runtime_error: it names the file and says
/// what was wanted and what was found.
namespace piracema {

/// A file in blocks of `block_bytes`, the last one shorter; an empty file has none. Replicas
/// share it out in runs of whole blocks. From 1 byte to 1 GiB a block.
///
/// The file has to be a regular one and must not change; that it became shorter, and in several
/// replicas longer, is noticed.
class FileBlocks {
 public:
  FileBlocks(std::string path, std::size_t block_bytes)
      : share_(std::move(path)), block_bytes_(block_bytes) {}

  void start(const Context&);
  std::optional<std::vector<char>> operator()();
  double progress() const { return share_.progress(); }

  template <class Archive>
  void serialize(Archive& archive) {
    share_.serialize(archive);
  }

 private:
  detail::FileShare share_;
  std::size_t block_bytes_;
};

/// The lines of a file, without their '\n'; what follows the last '\n' is a line unless it is
/// empty. Any bytes may be in a line, at most `line_bytes_max` of them (16 MiB): a longer one is
/// an error. Replicas share the file out in runs of bytes: a line belongs to where it begins.
///
/// The same holds for the file as in FileBlocks.
class FileLines {
 public:
  explicit FileLines(std::string path, std::size_t line_bytes_max = std::size_t{16} << 20)
      : share_(std::move(path)), line_bytes_max_(line_bytes_max) {}

  void start(const Context&);
  std::optional<std::string> operator()();
  double progress() const { return share_.progress(); }

  template <class Archive>
  void serialize(Archive& archive) {
    share_.serialize(archive);
  }

 private:
  detail::FileShare share_;
  std::size_t line_bytes_max_;
};

/// A file of items one behind the other; `Item` is std::vector<char> or std::string.
///
/// After a failure it has exactly what it would have had without one: what was written after the
/// snapshot that the job goes back to is cut off. It is PATH.partial until it is complete and on
/// the disk; a failure or Ctrl-C leaves that file, for `--resume` or for the next start, which
/// begins it anew. Several replicas write PATH.0, PATH.1, …
///
/// A PATH that exists is an error, unless `overwrite`: then it is replaced once the new one is
/// complete. The directory has to exist.
template <class Item = std::vector<char>>
class FileSink {
 public:
  explicit FileSink(std::string path, bool overwrite = false) : file_(std::move(path), overwrite) {}

  void start(const Context& context) { file_.start(context); }
  void operator()(const Item& item) { file_.append(item.data(), item.size()); }
  void prepare(std::uint64_t) { file_.prepare(); }
  void finish() { file_.finish(); }

  /// Bytes written so far.
  std::uint64_t length() const { return file_.length(); }

  template <class Archive>
  void serialize(Archive& archive) {
    file_.serialize(archive);
  }

 private:
  detail::OutputFile file_;
};

/// A FileSink that puts each item on a line: it adds the '\n'.
class LineSink {
 public:
  explicit LineSink(std::string path, bool overwrite = false) : file_(std::move(path), overwrite) {}

  void start(const Context& context) { file_.start(context); }
  void operator()(const std::string& line) {
    file_.append(line.data(), line.size());
    file_.append("\n", 1);
  }
  void prepare(std::uint64_t) { file_.prepare(); }
  void finish() { file_.finish(); }

  template <class Archive>
  void serialize(Archive& archive) {
    file_.serialize(archive);
  }

 private:
  detail::OutputFile file_;
};

}  // namespace piracema
