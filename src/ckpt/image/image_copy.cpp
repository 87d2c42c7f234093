#include "ckpt/image/image_copy.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "base/parse.h"
#include "base/text.h"
#include "ckpt/image/part_writer.h"
#include "store/disk/files.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

Result<Done> copy_part(const std::string& from, const std::string& to, const ImagePart& part) {
  const auto in = open_part(from, part);
  if (!in) return in.error();
  auto out = PartWriter::create(to, part);
  if (!out) return out.error();
  Buffer piece;
  for (std::uint64_t at = 0; out->wanted() > 0; at += piece.size()) {
    piece.resize(out->wanted());
    if (auto read = store::read_at(*in, at, {piece.data(), piece.size()}); !read) return read;
    if (auto written = out->append(piece); !written) return written;
  }
  const auto is_right = out->finish();
  if (!is_right) return is_right.error();
  if (!*is_right) return Error{Errc::corrupt, in->path + ": the checksum differs"};
  return Done{};
}

}  // namespace

Result<store::ReadableFile> open_part(const std::string& from, const ImagePart& part) {
  auto in = store::open_for_reading(concat(from, "/", part.name));
  if (!in || in->bytes == part.bytes) return in;
  return Error{Errc::corrupt, concat(in->path, ": want ", part.bytes, " bytes, found ", in->bytes)};
}

Result<Done> copy_image(const std::string& from, const std::string& to, const Manifest& manifest) {
  for (const ImagePart& part : manifest.parts) {
    if (auto copied = copy_part(from, to, part); !copied) return copied;
  }
  return store::sync_directory(to);
}

Result<Done> adopt_copy(JobDirectory& directory, const Manifest& manifest) {
  if (auto adopted = directory.adopt_parts(manifest.image); !adopted) return adopted;
  auto published = ImageStore(directory).adopt(manifest);
  if (!published) return published.error();
  return Done{};
}

std::vector<std::string> copy_command(const std::string& program, const std::string& from,
                                      const std::string& to, const std::string& manifest) {
  return {program, "ckpt", "copy", from, to, manifest, std::to_string(::getpid())};
}

bool end_with_keeper(const std::string& keeper) {
  // Whoever waits for it may have ended before it was so bound.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::to_string(::getppid()) != keeper) return false;
  // The job comes first.
  (void)!::nice(10);
  return true;
}

Result<Manifest> read_manifest(const std::string& path) {
  const auto text = store::read_file(path, document_bytes_max);
  if (!text) return text.error();
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto image = parse_number<ImageId>(name.substr(0, name.find('.')));
  return decode_manifest(path, *text, image.value_or(0));
}

int run_copy(const std::vector<std::string>& words) {
  const auto fail = [](const std::string& why) {
    std::printf("%s\n", why.c_str());
    return 1;
  };
  if (words.size() != 4 || !end_with_keeper(words[3])) return 2;
  const auto manifest = read_manifest(words[2]);
  if (!manifest) return fail(manifest.error().message);
  const auto copied = copy_image(words[0], words[1], *manifest);
  return copied ? 0 : fail(copied.error().message);
}

}  // namespace piracema::ckpt
