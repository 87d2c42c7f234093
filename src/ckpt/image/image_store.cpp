#include "ckpt/image/image_store.h"

#include <algorithm>
#include <cstdio>

#include "base/ensure.h"
#include "base/parse.h"
#include "base/text.h"
#include "ckpt/image/image_choice.h"
#include "ckpt/image/image_parts.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

constexpr std::string_view manifest_ending = ".json";

// 0 for any other name.
ImageId image_of(std::string_view name) {
  if (!name.ends_with(manifest_ending)) return 0;
  name.remove_suffix(manifest_ending.size());
  const ImageId image = parse_number<ImageId>(name).value_or(0);
  return ImageStore::manifest_name(image) == concat(name, manifest_ending) ? image : 0;
}

}  // namespace

std::string ImageStore::manifest_name(ImageId image) {
  char text[32];
  std::snprintf(text, sizeof text, "%012llu.json", static_cast<unsigned long long>(image));
  return text;
}

std::vector<ImageId> images_to_drop(const std::vector<std::pair<ImageId, bool>>& good_by_image,
                                    std::size_t keep) {
  ENSURE(keep >= 1);
  std::vector<ImageId> drop;
  std::size_t good = 0;
  for (auto one = good_by_image.rbegin(); one != good_by_image.rend(); ++one) {
    if (one->second && good < keep) {
      good += 1;
    } else if (good > 0) {
      drop.push_back(one->first);
    }
  }
  std::reverse(drop.begin(), drop.end());
  return drop;
}

std::vector<ImageId> good_images(const std::vector<ImageStore::Listed>& all) {
  std::vector<ImageId> good;
  for (const auto& one : all) {
    if (one.manifest) good.push_back(one.image);
  }
  return good;
}

Result<ImageId> newest_image(ImageStore& store) {
  const auto all = store.list();
  if (!all) return all.error();
  const auto good = good_images(*all);
  return good.empty() ? ImageId{0} : good.back();
}

Result<std::vector<ImageId>> ImageStore::numbers() {
  const auto names = places_.manifests().list();
  if (!names) return names.error();
  std::vector<ImageId> found;
  for (const std::string& name : *names) {
    if (const ImageId image = image_of(name)) found.push_back(image);
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<ImageId> ImageStore::begin(ImageId least) {
  const auto complete = numbers();
  if (!complete) return complete.error();
  const auto with_parts = places_.with_parts();
  if (!with_parts) return with_parts.error();
  ImageId image = std::max<ImageId>(least, 1);
  if (!complete->empty()) image = std::max(image, complete->back() + 1);
  for (const ImageId other : *with_parts) {
    const bool is_complete = std::binary_search(complete->begin(), complete->end(), other);
    // An attempt that came to nothing takes room that this one may need.
    if (!is_complete) {
      if (auto removed = places_.remove_parts(other); !removed) return removed.error();
    }
    image = std::max(image, other + 1);
  }
  if (auto made = places_.parts(image); !made) return made.error();
  return image;
}

Result<Manifest> ImageStore::commit(ImageId image, std::uint64_t job, std::uint64_t created) {
  auto disk = places_.parts(image);
  if (!disk) return disk.error();
  auto parts = seal_parts(**disk);
  if (!parts) return parts.error();
  return publish({.image = image, .job = job, .created = created, .parts = *std::move(parts)});
}

Result<Done> ImageStore::seal_host(store::Disk& disk, ImageId image, std::uint64_t job) {
  auto parts = seal_parts(disk);
  if (!parts) return parts.error();
  const std::string text =
      encode_manifest({.image = image, .job = job, .parts = *std::move(parts)});
  const Bytes piece = as_bytes(text);
  if (auto done = disk.replace(parts_name, {&piece, 1}); !done) return done;
  return disk.sync_names();
}

Result<Manifest> ImageStore::commit_hosts(ImageId image, std::uint64_t job, std::uint64_t created,
                                          std::size_t hosts) {
  auto disk = places_.parts(image);
  if (!disk) return disk.error();
  Manifest manifest{.image = image, .job = job, .created = created};
  for (std::size_t host = 1; host <= hosts; ++host) {
    const std::string name = concat(host, "/", std::string_view(parts_name));
    const auto text = store::read_whole(**disk, name, document_bytes_max);
    if (!text) return text.error();
    auto part = decode_manifest(name, *text, image);
    if (!part) return part.error();
    if (part->job != job) return Error{Errc::corrupt, name + ": it is another job's"};
    for (ImagePart& one : part->parts) {
      one.name = concat(host, "/", one.name);
      manifest.parts.push_back(std::move(one));
    }
  }
  if (auto synced = (*disk)->sync_names(); !synced) return synced.error();
  return publish(std::move(manifest));
}

Result<Manifest> ImageStore::publish(Manifest manifest) {
  const std::string name = manifest_name(manifest.image), text = encode_manifest(manifest);
  if (text.size() > document_bytes_max) {
    return Error{Errc::refused,
                 concat("image ", manifest.image, ": more parts than a manifest may have")};
  }
  const Bytes piece = as_bytes(text);
  if (auto done = places_.manifests().replace(name, {&piece, 1}); !done) {
    // It may be there or not: it must not be found later by surprise.
    (void)places_.manifests().remove(name);
    return done.error();
  }
  return manifest;
}

Result<std::vector<ImageStore::Listed>> ImageStore::list() {
  const auto images = numbers();
  if (!images) return images.error();
  std::vector<Listed> all;
  for (const ImageId image : *images) {
    const std::string name = manifest_name(image);
    const auto text = store::read_whole(places_.manifests(), name, document_bytes_max);
    if (!text) {
      all.push_back({image, text.error()});
    } else {
      all.push_back({image, decode_manifest(name, *text, image)});
    }
  }
  return all;
}

Result<Done> ImageStore::verify(const Manifest& manifest) {
  auto disk = places_.parts(manifest.image);
  if (!disk) return disk.error();
  return verify_parts(**disk, manifest, places_.readers());
}

Result<Record> ImageStore::record(const Manifest& manifest) {
  return read_record(manifest, record_name);
}

Result<Record> ImageStore::record_of_host(const Manifest& manifest, std::size_t host) {
  return read_record(manifest, concat(host, "/", std::string_view(record_name)));
}

Result<Record> ImageStore::read_record(const Manifest& manifest, const std::string& name) {
  auto disk = places_.parts(manifest.image);
  if (!disk) return disk.error();
  const auto text = store::read_whole(**disk, name, document_bytes_max);
  if (!text) return text.error();
  return decode_record(concat("image ", manifest.image, ": ", name), *text);
}

// The manifest first, for good: without it the rest is nothing.
Result<Done> ImageStore::drop(ImageId image) {
  if (auto removed = places_.manifests().remove(manifest_name(image)); !removed) return removed;
  if (auto synced = places_.manifests().sync_names(); !synced) return synced;
  return places_.remove_parts(image);
}

Result<Done> ImageStore::prune(std::size_t keep, const std::vector<ImageId>& doubted) {
  const auto all = list();
  if (!all) return all.error();
  std::vector<std::pair<ImageId, bool>> good_by_image;
  for (const Listed& one : *all) {
    good_by_image.emplace_back(one.image, one.manifest && !is_doubted(one.image, doubted));
  }
  for (const ImageId image : images_to_drop(good_by_image, keep)) {
    if (auto dropped = drop(image); !dropped) return dropped;
  }
  const auto with_parts = places_.with_parts();
  if (!with_parts) return with_parts.error();
  for (const ImageId image : *with_parts) {
    const bool complete = std::any_of(all->begin(), all->end(),
                                      [&](const Listed& one) { return one.image == image; });
    if (complete) continue;
    if (auto removed = places_.remove_parts(image); !removed) return removed;
  }
  return Done{};
}

Result<Done> ImageStore::drop_unfinished(ImageId image) {
  const auto complete = numbers();
  if (!complete) return complete.error();
  if (std::binary_search(complete->begin(), complete->end(), image)) return Done{};
  return places_.remove_parts(image);
}

Result<Done> ImageStore::clear() {
  const auto images = numbers();
  if (!images) return images.error();
  // Oldest first: what is interrupted leaves the newest.
  for (const ImageId image : *images) {
    if (auto dropped = drop(image); !dropped) return dropped;
  }
  const auto with_parts = places_.with_parts();
  if (!with_parts) return with_parts.error();
  for (const ImageId image : *with_parts) {
    if (auto removed = places_.remove_parts(image); !removed) return removed;
  }
  return Done{};
}

}  // namespace piracema::ckpt
