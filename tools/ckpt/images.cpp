#include "tools/ckpt/images.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "ckpt/image/image_choice.h"
#include "ckpt/image/job_directory.h"
#include "ckpt/image/local_images.h"
#include "tools/ckpt/failure.h"

namespace piracema::tools {

using namespace ckpt;

int list_images(const std::string& directory_of_job, bool json) {
  const auto directory = JobDirectory::look(directory_of_job);
  if (!directory) return fail_ckpt(directory.error());
  auto all = ImageStore(**directory).list();
  if (!all) return fail_ckpt(all.error());
  const auto job = (*directory)->read();
  const std::vector<ImageId> doubted = job ? job->doubted : std::vector<ImageId>();
  const auto local = job ? look_at_local_images(*job) : std::vector<Manifest>();
  const auto is_local = [&](ImageId image) {
    return std::ranges::find(local, image, &Manifest::image) != local.end();
  };
  // What the store has not, or not yet.
  std::vector<ImageStore::Listed> here;
  for (const Manifest& one : local) {
    if (std::ranges::find(*all, one.image, &ImageStore::Listed::image) == all->end())
      here.push_back({one.image, one});
  }
  const std::size_t in_store = all->size();
  std::ranges::move(here, std::back_inserter(*all));
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto& one = (*all)[i];
    const bool is_passed_by = is_doubted(one.image, doubted);
    nlohmann::ordered_json line{{"image", one.image},
                                {"complete", one.manifest.ok()},
                                {"passed_by", is_passed_by},
                                {"in_store", i < in_store},
                                {"on_this_node", is_local(one.image)}};
    if (one.manifest) {
      line["bytes"] = one.manifest->bytes();
      line["created_at_unix"] = one.manifest->created;
    } else {
      line["why"] = one.manifest.error().message;
    }
    lines.push_back(line);
    if (json) continue;
    std::printf("image %llu  %s%s%s\n", static_cast<unsigned long long>(one.image),
                one.manifest ? human_bytes(static_cast<double>(one.manifest->bytes())).c_str()
                             : concat("damaged: ", one.manifest.error().message).c_str(),
                is_passed_by ? "  passed by, see resume --image" : "",
                i < in_store ? "" : "  on this node's disk, not in the store");
  }
  if (json) std::printf("%s\n", lines.dump().c_str());
  return 0;
}

int verify_images(const std::string& directory_of_job) {
  const auto directory = JobDirectory::look(directory_of_job);
  if (!directory) return fail_ckpt(directory.error());
  ImageStore store(**directory);
  const auto all = store.list();
  if (!all) return fail_ckpt(all.error());
  int code = 0;
  for (const auto& one : *all) {
    const Result<Done> right =
        one.manifest ? store.verify(*one.manifest) : Result<Done>(one.manifest.error());
    std::printf("image %llu  %s\n", static_cast<unsigned long long>(one.image),
                right ? "intact" : concat("damaged: ", right.error().message).c_str());
    if (!right) code = 1;
  }
  // Nothing goes on without it.
  if (const auto job = (*directory)->read(); !job) {
    std::printf("job  damaged: %s\n", job.error().message.c_str());
    code = 1;
  }
  return code;
}

int prune_images(const std::string& directory_of_job, std::uint32_t keep) {
  auto there = JobDirectory::look(directory_of_job);
  if (!there) return fail_ckpt(there.error());
  auto directory = JobDirectory::open(directory_of_job);
  if (!directory) return fail_ckpt(directory.error());
  const auto job = (*directory)->read();
  if (!job) return fail_ckpt(job.error());
  auto pruned = ImageStore(**directory).prune(keep, job->doubted);
  return pruned ? 0 : fail_ckpt(pruned.error());
}

}  // namespace piracema::tools
