#include "ckpt/capsule/hook.h"

#include <signal.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string_view>

#include "base/hex.h"
#include "base/text.h"
#include "ckpt/capsule/capsule_setup.h"
#include "ckpt/capsule/criu_preload.h"
#include "ckpt/capsule/hook_door.h"
#include "ckpt/capsule/open_file_record.h"
#include "ckpt/capsule/shared_memory.h"
#include "ckpt/capsule/under_way.h"
#include "ckpt/capsule/unnamed_memory.h"
#include "ckpt/capsule/user_namespace.h"
#include "ckpt/image/compression.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/network/loopback.h"
#include "os/process_tree.h"
#include "store/disk/directory_disk.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

constexpr const char* order_format = "piracema hook order";

Result<Done> after_dump(const HookOrder& order) {
  if (const auto found = connections_under_way(); !found.empty()) {
    return Error{Errc::failed, concat(std::string_view(cannot_now), found.front())};
  }
  if (ordinary_user()) {
    if (const auto found = memory_saved_wrongly(static_cast<pid_t>(order.root)); !found.empty())
      return Error{Errc::failed, found};
  }
  if (auto saved = save_shared_memory(order.parts); !saved) return saved;
  auto record = record_job(static_cast<pid_t>(order.root), order.parts);
  if (!record) return record.error();
  // It is synced with all the other parts.
  const std::string path = concat(order.parts, "/", std::string_view(ImageStore::record_name));
  std::ofstream file(path);
  file << encode_record(*record);
  file.close();
  if (!file) return Error{Errc::io, with_errno(path)};
  return Done{};
}

Result<Done> commit(const HookOrder& order) {
  const auto record = read_record_of(order.parts);
  if (!record) return record.error();
  if (auto done = sync_files_of(*record); !done) return done;
  if (order.compress) {
    if (auto done = compress_pages(order.parts); !done) return done;
  }
  if (order.several) {
    store::DirectoryDisk parts(order.parts, Fd());
    return ImageStore::seal_host(parts, order.image, order.job);
  }
  auto directory = JobDirectory::look(order.directory);
  if (!directory) return directory.error();
  const auto done =
      ImageStore(**directory)
          .commit(order.image, order.job, static_cast<std::uint64_t>(std::time(nullptr)));
  if (!done) return done.error();
  return Done{};
}

// All stand still before anybody saves a file, for it may be written to by several; and all are
// saved, for good if they are to be stopped, before anybody goes on.
Result<Done> after_dump_with_others(const HookOrder& order) {
  HookCall capsule;
  if (auto agreed = capsule.wait(HookStep::frozen); !agreed) return agreed;
  if (auto done = after_dump(order); !done) return done;
  if (order.stop) {
    if (auto done = commit(order); !done) return done;
  }
  return capsule.wait(HookStep::recorded);
}

// Memory is filled, and nothing of the job has run: what is wrong with the image is not too late.
Result<Done> after_restore(const HookOrder& order) {
  if (order.unchecked) {
    if (auto right = HookCall().wait(HookStep::filled); !right) return right;
  }
  return release_loopback();
}

Result<Done> before_resume(const HookOrder& order) {
  const auto record = read_record_of(order.parts);
  if (!record) return record.error();
  return set_last_pid(static_cast<int>(record->last_pid));
}

// All stand still, and the image is complete. criu ends them now; if it fails and lets go of them
// they do not run on, beyond their image, until the capsule ends them.
void hold_job(const HookOrder& order) {
  for (const JobProcess& process : tree_of(all_processes(), static_cast<pid_t>(order.root))) {
    ::kill(process.pid, SIGSTOP);
  }
}

Result<Done> act(const HookOrder& order, std::string_view action) {
  if (action.empty()) return commit(order);
  if (action == "pre-dump" || action == "pre-restore") return hold_loopback();
  if (action == "post-restore") return after_restore(order);
  if (action == "pre-resume") return before_resume(order);
  if (action != "post-dump") return Done{};
  const auto saved = order.several ? after_dump_with_others(order) : after_dump(order);
  if (!saved) return saved;
  if (!order.stop) return release_loopback();
  if (!order.several) {
    if (auto done = commit(order); !done) return done;
  }
  hold_job(order);
  return Done{};
}

}  // namespace

std::string encode_hook_order(const HookOrder& order) {
  return seal(order_format, {{"root", order.root},
                             {"stop", order.stop},
                             {"several", order.several},
                             {"compress", order.compress},
                             {"unchecked", order.unchecked},
                             {"parts", escape(order.parts)},
                             {"directory", escape(order.directory)},
                             {"image", order.image},
                             {"job", store::to_hex(order.job)},
                             {"complaint", escape(order.complaint)}});
}

Result<HookOrder> decode_hook_order(const std::string& text) {
  HookOrder order;
  const auto read = read_document(
      hook_variable, order_format, as_bytes(text), [&](const nlohmann::json& content) {
        order.root = static_cast<std::uint32_t>(number_in(content, "root", UINT32_MAX));
        order.stop = flag_in(content, "stop");
        order.several = flag_in(content, "several");
        order.compress = flag_in(content, "compress");
        order.unchecked = flag_in(content, "unchecked");
        order.parts = unescape(text_in(content, "parts"));
        order.directory = unescape(text_in(content, "directory"));
        order.image = number_in(content, "image");
        order.job = hex_in(content, "job");
        order.complaint = unescape(text_in(content, "complaint"));
      });
  if (!read) return read.error();
  return order;
}

int run_hook() {
  if (ordinary_user()) forget_preload();
  const char* text = std::getenv(hook_variable);
  const auto order = decode_hook_order(text != nullptr ? text : "");
  if (!order) return 2;
  const char* action = std::getenv("CRTOOLS_SCRIPT_ACTION");
  const auto done = act(*order, action != nullptr ? action : "");
  if (done) return 0;
  std::ofstream(order->complaint) << done.error().message << '\n';
  return 1;
}

}  // namespace piracema::ckpt
