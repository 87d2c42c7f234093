#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <string>

/// What is done while a job is frozen, or not yet thawed: criu calls this program for it, inside
/// of the capsule. If it fails, a job that was to be stopped goes on.
namespace piracema::ckpt {

struct HookOrder {
  std::uint32_t root = 0;
  bool stop = false;
  /// One of several hosts: waits for the others, and leaves the manifest to the keeper.
  bool several = false;
  /// The image's memory, before it is made complete.
  bool compress = false;
  /// Of a restart: the image's memory is checked while criu reads it.
  bool unchecked = false;
  std::string parts, directory;
  std::uint64_t image = 0, job = 0;
  /// The file for what went wrong.
  std::string complaint;
};

/// What a complaint begins with that is of the moment: a little later the job can be saved.
constexpr const char* cannot_now = "cannot be saved now: ";

constexpr const char* hook_variable = "PIRACEMA_CKPT_HOOK";
std::string encode_hook_order(const HookOrder& order);
Result<HookOrder> decode_hook_order(const std::string& text);

/// This program when the environment has `hook_variable`: its exit code. By criu's action:
/// - pre-dump, pre-restore: holds the loopback (loopback.h); criu itself has tried it by then.
/// - post-dump: saves /dev/shm, and notes the files that the job has open; makes the image of a
///   job that is to stop complete, and lets the loopback of one that goes on go.
/// - likewise, of one of several hosts: in steps, each of which waits for the others (hook_door.h),
///   and its parts are listed for the keeper.
/// - post-restore: waits until all of the image has been checked (criu kills what it has made if
///   not), then lets the loopback go, as all connections have both of their ends.
/// - pre-resume, after a restore: the numbers of new processes go on where they were.
/// - none, after a dump that the job survives: makes the image complete.
int run_hook();

}  // namespace piracema::ckpt
