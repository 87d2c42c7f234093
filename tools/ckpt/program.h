#pragma once

#include <piracema/error.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ckpt/image/job_directory.h"
#include "ckpt/keeper/keeper_loop.h"
#include "tools/ckpt/keeper_page.h"

/// What `piracema ckpt run`, `resume` and `window` have in common.
namespace piracema::tools {

/// What this program is besides, which nobody calls by hand: for jobs of several hosts `ckpt
/// agent`, `ckpt door` and `ckpt rsh`, and for images that go from a node's disk to the store or to
/// the node's partner `ckpt copy`, `ckpt send` and `ckpt partner`. The exit code; none if the words
/// are others.
std::optional<int> run_ckpt_part(int argc, char** argv);

/// Puts the hosts of a job ("a,b"; empty: those that it had) into job and settings, and this
/// program into its directory. Errc::usage, Errc::config, Errc::io.
Result<Done> apply_hosts(const std::string& hosts, const std::string& rsh, const std::string& criu,
                         ckpt::JobDirectory& directory, ckpt::JobFile& job,
                         ckpt::RunSettings& settings);

/// Puts the disk of this node that images lie on first into job and settings: `local`, or the one
/// that the job had if that is empty; "none": none. What lies on a disk that is not used any more
/// goes to the store before. Errc::usage, Errc::io if that cannot be.
Result<Done> apply_local(const std::string& local, bool several, ckpt::JobDirectory& directory,
                         ckpt::JobFile& job, ckpt::RunSettings& settings);

/// Puts the partner whose disk has a copy of what lies on this node's alone into job and settings,
/// and this program into the job's directory: `partner`, or the one that the job had if that is
/// empty; "none": none. After `apply_local`; nothing without a disk of this node's own.
/// Errc::usage, Errc::config, Errc::io.
Result<Done> apply_partner(const std::string& partner, const std::string& rsh,
                           ckpt::JobDirectory& directory, ckpt::JobFile& job,
                           ckpt::RunSettings& settings);

/// Numbers of the images that the job can go on from, in the store or on this node, oldest first.
Result<std::vector<ckpt::ImageId>> good_images_of(ckpt::JobDirectory& directory,
                                                  const ckpt::JobFile& job);

/// This program's file.
std::string this_program();

/// Finds criu. Errc::usage for a time that is none, Errc::config.
Result<ckpt::RunSettings> run_settings(const std::string& criu, const std::string& every,
                                       std::uint32_t keep, bool quiet);

/// Begins a job in the directory, in place of one that has ended or was never saved. Errc::config
/// if one is there that can go on.
Result<ckpt::JobFile> new_job(ckpt::JobDirectory& directory, std::vector<std::string> command);

/// Runs it, and shows it if there is a page: the exit code.
int keep_job(std::unique_ptr<ckpt::JobDirectory> directory, ckpt::JobFile job,
             ckpt::RunSettings settings, std::unique_ptr<KeeperPage> page);

}  // namespace piracema::tools
