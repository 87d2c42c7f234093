#include "tools/kv/rescue.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

#include "base/log.h"
#include "base/parse.h"
#include "base/text.h"
#include "store/disk/files.h"
#include "tools/failure.h"

namespace piracema::tools {

using namespace smr;

namespace {

// Refused is here what is wrong with a folder or a file.
int fail_rescue(const Error& error) {
  const int code = fail(error);
  return error.code == Errc::timeout || error.code == Errc::failed ? 1 : code;
}

/// Of one operation, beside what a configuration allows.
constexpr std::size_t part_bytes = std::size_t{256} << 10;

Result<kv::Reply> reply_of(const Result<Buffer>& answer) {
  if (!answer) return answer.error();
  return kv::decode_reply(*answer);
}

}  // namespace

KvRescue::KvRescue(CLI::App& kv, const std::string& footer) {
  backup_ = kv.add_subcommand("backup", "Save what a replica that does not run has left");
  restore_ = kv.add_subcommand("restore", "Load a backup into a group that nobody has used");
  new_group_ = kv.add_subcommand(
      "new-group", "When more than f disks are lost: a new group with what one replica has left");
  for (CLI::App* const command : {backup_, new_group_}) {
    command->add_option("--config", config_, "Configuration of the group that was")->required();
    command->add_option("--id", id_, "The replica whose directory it is")->required();
    command->add_option("--directory", directory_, "What it has left; not changed")->required();
    command->add_option("FILE", file_, "The backup")->required();
    command->footer(footer);
  }
  new_group_->add_option("--name", name_, "Of the new group: another one than that of the old")
      ->required();
  new_group_->add_option("--write", write_, "The new configuration; must not exist")->required();
  new_group_->add_flag("--force", force_, "Give up what is said to be given up");
  restore_->add_option("--config", config_, "Configuration of the new group")->required();
  restore_->add_option("--key", key_, "The client's key file")->required();
  restore_->add_option("--client", client_, "The client's number in it; default: 1");
  restore_->add_option("--timeout", timeout_, "To wait for each answer; default: 60s");
  restore_->add_option("FILE", file_, "The backup")->required();
  restore_->footer(footer);
}

int KvRescue::run() const {
  if (backup_->parsed()) return back_up();
  return restore_->parsed() ? restore() : make_new_group();
}

Result<Backup> KvRescue::read_replica(const Configuration& configuration) const {
  const auto machine = kv::make_machine();
  return smr::back_up(configuration, id_, directory_, *machine);
}

int KvRescue::back_up() const {
  const auto configuration = read_configuration(config_);
  if (!configuration) return fail_rescue(configuration.error());
  const auto backup = read_replica(*configuration);
  if (!backup) return fail_rescue(backup.error());
  const auto contents = contents_of(*backup);
  if (!contents) return fail_rescue(contents.error());
  if (auto written = write_backup(file_, *backup); !written) return fail_rescue(written.error());
  std::printf("group %s as replica %u knows it: %zu entries after instance %llu\n",
              backup->group.c_str(), backup->replica, contents->entries.size() + contents->leased,
              static_cast<unsigned long long>(backup->instance));
  if (backup->behind) std::printf("it had lost its memory: others may know of more\n");
  return 0;
}

// By the machine's own reads, page by page: what an ended lease has left is not there any more.
Result<KvRescue::Contents> KvRescue::contents_of(const Backup& backup) {
  const auto machine = kv::make_machine();
  if (!machine->restore(backup.state)) {
    return Error{Errc::corrupt, "the backup is not one of a key-value map of this version"};
  }
  Contents contents;
  kv::List list;
  while (true) {
    auto page = kv::decode_reply(machine->query(kv::encode(list)));
    if (!page) return page.error();
    contents.index = page->index;
    for (kv::Entry& entry : page->entries) {
      list.after = entry.key;
      if (entry.lease != 0) {
        contents.leased += 1;
      } else {
        contents.entries.push_back(std::move(entry));
      }
    }
    if (!page->more) return contents;
  }
}

int KvRescue::restore() const {
  const auto timeout = parse_duration(timeout_);
  if (!timeout) return fail_rescue({Errc::usage, "--timeout: " + timeout.error().message});
  const auto configuration = read_configuration(config_);
  if (!configuration) return fail_rescue(configuration.error());
  const auto backup = read_backup(file_);
  if (!backup) return fail_rescue(backup.error());
  if (backup->group == configuration->name) {
    return fail_rescue(
        {Errc::config, concat("want a group of another name than '", backup->group,
                              "', which the backup is of: whoever still speaks of that one "
                              "must not be taken for a member of this one")});
  }
  const auto contents = contents_of(*backup);
  if (!contents) return fail_rescue(contents.error());
  auto client =
      Client::open(*configuration, {.id = client_, .key_file = key_, .timeout = *timeout});
  if (!client) return fail_rescue(client.error());
  if (auto loaded =
          load(**client, *contents, std::min(part_bytes, configuration->operation_bytes_max / 2));
      !loaded)
    return fail_rescue(loaded.error());
  std::printf("loaded %zu entries of group %s; %zu that were bound to leases are left out\n",
              contents->entries.size(), backup->group.c_str(), contents->leased);
  return 0;
}

Result<Done> KvRescue::load(Client& client, const Contents& contents, std::size_t part_most) {
  // A map that was empty gives its places all the same.
  kv::Load part{std::max<kv::Index>(contents.index, 1), {}};
  std::size_t bytes = 0;
  for (const kv::Entry& entry : contents.entries) {
    const std::size_t more = entry.key.size() + entry.value.size() + 64;
    if (!part.entries.empty() &&
        (bytes + more > part_most || part.entries.size() == kv::list_max)) {
      if (auto loaded = load_part(client, part); !loaded) return loaded;
      bytes = 0;
    }
    part.entries.push_back(entry);
    bytes += more;
  }
  return load_part(client, part);
}

Result<Done> KvRescue::load_part(Client& client, kv::Load& part) {
  const auto reply = reply_of(client.invoke_ordered(kv::encode(part)));
  if (!reply) return reply.error();
  if (reply->status == kv::Status::conflict) {
    return Error{Errc::failed, "want a map that nobody has used, found one with something in it"};
  }
  if (reply->status != kv::Status::ok) {
    return Error{Errc::failed, "the group does not take the entries: it is of another version"};
  }
  part.entries.clear();
  return Done{};
}

int KvRescue::make_new_group() const {
  auto configuration = read_configuration(config_);
  if (!configuration) return fail_rescue(configuration.error());
  if (name_ == configuration->name) {
    return fail_rescue(
        {Errc::usage,
         concat("--name: want another name than that of the old group, found '", name_, "'")});
  }
  if (std::filesystem::exists(write_)) {
    return fail_rescue(
        {Errc::config, concat("--write ", write_, ": want no file there, found one")});
  }
  const auto backup = read_replica(*configuration);
  if (!backup) return fail_rescue(backup.error());
  const auto contents = contents_of(*backup);
  if (!contents) return fail_rescue(contents.error());
  std::printf(
      "the new group '%s' begins with %zu entries, as replica %u of '%s' knew them after instance "
      "%llu. Given up for ever:\n"
      "- what was decided without replica %u, or after that instance: it has voted up to %llu%s. "
      "What was acknowledged to clients may be among it\n"
      "- all leases, and %zu entries that were bound to them; watches; requests that were under "
      "way, "
      "which may be executed once more\n"
      "- the old group: nothing that is left of it may be started again\n",
      name_.c_str(), contents->entries.size(), backup->replica, configuration->name.c_str(),
      static_cast<unsigned long long>(backup->instance), backup->replica,
      static_cast<unsigned long long>(backup->voted),
      backup->behind ? ", and it had lost its memory before" : "", contents->leased);
  if (!force_) {
    return fail_rescue({Errc::failed, "nothing was done: say --force to give that up"});
  }
  configuration->name = name_;
  for (std::size_t i = 0; i < backup->clients.size(); ++i) {
    std::erase_if(configuration->clients,
                  [&](const auto& client) { return client.id == backup->clients[i]; });
    if (backup->client_keys[i].empty()) continue;  // Dismissed.
    configuration->clients.push_back({backup->clients[i], backup->client_keys[i]});
  }
  std::sort(configuration->clients.begin(), configuration->clients.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  if (auto valid = validate(*configuration); !valid) return fail_rescue(valid.error());
  const std::string text = to_text(*configuration);
  const std::array<Bytes, 1> pieces{as_bytes(text)};
  if (auto written = write_backup(file_, *backup); !written) return fail_rescue(written.error());
  if (auto written = store::replace_file(write_, pieces); !written)
    return fail_rescue(written.error());
  std::printf(
      "now start every replica of %s with --first-start and an empty directory, then: "
      "piracema kv restore --config %s --key CLIENT_KEY %s\n",
      write_.c_str(), write_.c_str(), file_.c_str());
  return 0;
}

}  // namespace piracema::tools
