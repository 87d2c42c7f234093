#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <piracema/detail/own_fd.h>
#include <piracema/detail/readiness.h>
#include <piracema/operator.h>
#include <piracema/poll.h>

namespace piracema {

struct DirectoryOptions {
  /// Only files whose names end so; empty: all. Names that begin with '.' do not count in any case:
  /// make a file under such a name, and rename it, to have it appear as a whole.
  std::string ending{};
  /// The source ends once a file of this name is there and all others are read; empty: never. It is
  /// not read itself, and may be of any name.
  std::string end_mark{};
  /// The directory is looked through again after so long, where nothing tells of its changes (files
  /// that other hosts write to).
  std::chrono::milliseconds rescan{5'000};
  /// A longer line is an error.
  std::size_t line_bytes_max = std::size_t{16} << 20;
};

/// The lines of the files of a directory, without their '\n', as files appear there and grow. What
/// is behind the last '\n' of a file is no line yet; once the end mark is there it is one, unless
/// it is empty. Files that are there together are read in the order of their names, each to its
/// end. Replicas share out the files.
///
/// How far each file was read is state, so that recoveries and `--resume` go on from there. A file
/// is known by its inode and the time it was made: it may be renamed within the directory. Once
/// its lines are read it may go; one that is cut, or goes before that, is an error.
class DirectoryLines {
 public:
  explicit DirectoryLines(std::string path, DirectoryOptions options = {})
      : path_(std::move(path)), options_(std::move(options)) {}

  void start(const Context&);
  Poll<std::string> operator()();

  template <class Archive>
  void serialize(Archive& archive) {
    archive(files_);
  }

 private:
  /// What is known of a file.
  struct File {
    std::uint64_t inode = 0;
    std::int64_t made = 0;
    /// Of its next line.
    std::uint64_t position = 0;
    std::string name;
    /// As of the last look.
    std::uint64_t bytes = 0;
    /// Not state.
    bool is_there = false;

    template <class Archive>
    void serialize(Archive& archive) {
      archive(inode, made, position, name, bytes);
    }
  };

  void look_through();
  void look_at(const std::string& name);
  bool look();
  void begin_with_first();
  bool is_mine(const File& file) const;
  bool open_next();
  std::optional<std::string> next_line();
  std::optional<std::string> finish_file(std::string rest);
  std::size_t read_more();
  [[noreturn]] void fail(const std::string& file, const std::string& what) const;

  std::string path_;
  DirectoryOptions options_;
  std::uint32_t replica_ = 0, replicas_ = 1;
  std::vector<File> files_;

  detail::OwnFd directory_;
  detail::OwnFd changes_;
  bool looked_ = false;
  std::chrono::steady_clock::time_point looked_at_{};
  bool end_mark_ = false;

  /// The one that is being read, of `files_`; its descriptor, and what was read behind its position.
  std::size_t current_ = 0;
  detail::OwnFd file_;
  std::string buffer_;
  std::size_t line_ = 0, searched_ = 0;
  // Last, so that it goes first.
  detail::Readiness readiness_;
};

}  // namespace piracema
