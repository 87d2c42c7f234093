#pragma once

#include <string>
#include <tuple>
#include <vector>

/// How a job's mpirun starts processes on the job's other hosts: a remote shell between capsules.
/// Both ends are processes of the job, and so is their connection: they are in its image. Nobody
/// but the job reaches them.
namespace piracema::ckpt {

/// What a caller wants run, as he would have it run by ssh; environment and directory are his own.
struct DoorRequest {
  std::string command, directory;
  /// "NAME=value".
  std::vector<std::string> environment;
  auto fields() { return std::tie(command, directory, environment); }
};

/// The first process of the job on each host but the first: takes calls, and the place of parents
/// that end. Gives an exit code if it cannot begin; else it goes on until it is ended.
int run_door();

}  // namespace piracema::ckpt
