#pragma once

#include <piracema/graph.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// Groups: which parts of a program run together in one process (paper 004, section 3).
///
///     Graph program = pipeline(source("read", …), farm("work", 4, …), sink("write", …));
///     createGroup(program, "G1", {"read"});
///     createGroup(program, "G2", {"work"}) << "work/0" << "work/1";
///     createGroup(program, "G3", {"work"}) << "work/2" << "work/3";
///     createGroup(program, "G4", {"write"});
///     return run(program);
///
/// Started by itself, or by `piracema run` without `--groups`, a program runs as if it had none. A
/// file says where each group runs and how (docs/formats/groups.md). Rules are checked before
/// anything runs.
namespace piracema {

/// A group that was just created, to include bricks in. Refers to the program.
class CreatedGroup {
 public:
  CreatedGroup(Graph& program, std::size_t group) : program_(&program), group_(group) {}

  /// Includes a node, or one replica of it ("work/2"), that is a part of what the group was
  /// created from. A group that nothing is included in has all of it.
  CreatedGroup& operator<<(std::string brick) {
    program_->groups[group_].members.push_back(std::move(brick));
    return *this;
  }

 private:
  Graph* program_;
  std::size_t group_;
};

/// Creates a group from a node, from several that follow each other (an all-to-all), or, if none
/// is named, from the whole program.
inline CreatedGroup createGroup(Graph& program, std::string name,
                                std::vector<std::string> bricks = {}) {
  program.groups.push_back({std::move(name), std::move(bricks), {}});
  return {program, program.groups.size() - 1};
}

}  // namespace piracema
