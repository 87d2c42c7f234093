#include "ckpt/image/partner_images.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/hex.h"
#include "base/parse.h"
#include "base/retry.h"
#include "base/text.h"
#include "ckpt/image/image_copy.h"
#include "ckpt/image/local_images.h"
#include "ckpt/image/part_writer.h"
#include "ckpt/image/partner_messages.h"
#include "ckpt/image/place_mark.h"
#include "host/frame_pipe.h"
#include "store/disk/files.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

// A node that is gone says nothing, not even that.
constexpr int sender_silence_ms = 30'000;

// A remote shell reads them as they are.
constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=,@";

constexpr std::size_t place_words = 3;

/// An image that comes by standard input.
class Receiver {
 public:
  explicit Receiver(PartnerPlace place)
      : place_(std::move(place)), pipe_(STDIN_FILENO, STDOUT_FILENO) {}

  int run() {
    const auto received = receive();
    if (received) return say(FromPartner::have);
    if (directory_) (void)directory_->remove_copies();
    (void)say(FromPartner::failed, as_bytes(received.error().message));
    return 1;
  }

 private:
  int say(FromPartner kind, Bytes text = {}) {
    return pipe_.send(static_cast<std::uint8_t>(kind), text) ? 0 : 1;
  }

  Result<wire::Frame> next() {
    for (;;) {
      auto frame = pipe_.next();
      if (!frame) return frame.error();
      if (*frame) return *std::move(*frame);
      pollfd wait{pipe_.in(), POLLIN, 0};
      if (retry([&] { return ::poll(&wait, 1, sender_silence_ms); }) == 0)
        return Error{Errc::lost, "nothing comes any more"};
      if (!pipe_.fill()) return Error{Errc::lost, "the connection has ended"};
    }
  }

  Result<Done> receive() {
    const auto first = next();
    if (!first) return first.error();
    const auto offer = wire::decode<PartnerImage>(first->head);
    if (!offer) return offer.error();
    const auto manifest = decode_manifest("manifest", as_bytes(offer->manifest), offer->image);
    if (!manifest) return manifest.error();
    if (manifest->job != place_.job) return Error{Errc::refused, "it is another job's image"};
    if (auto opened = open(); !opened) return opened;
    ImageStore images(*directory_);
    for (const Manifest& one : whole_images(images, place_.job)) {
      const bool has_it = one.image == offer->image;
      if (has_it && encode_manifest(one) == offer->manifest) return Done{};
      if (!has_it && one.image > offer->in_store) continue;
      if (auto dropped = images.drop(one.image); !dropped) return dropped;
    }
    if (auto taken = take(*manifest); !taken) return taken;
    // What is older, and what came to nothing.
    return images.prune(1);
  }

  Result<Done> open() {
    std::error_code why;
    std::filesystem::create_directories(place_.directory, why);
    if (why) return Error{Errc::io, concat(place_.directory, ": cannot make: ", why.message())};
    auto opened = JobDirectory::open(place_.path());
    if (!opened) return opened.error();
    directory_ = *std::move(opened);
    if (mark_of(directory_->path()) == place_.mark) return Done{};
    if (auto cleared = ImageStore(*directory_).clear(); !cleared) return cleared;
    return write_mark(directory_->path(), place_.mark);
  }

  Result<Done> take(const Manifest& manifest) {
    if (auto removed = directory_->remove_copies(); !removed) return removed;
    const auto copy = directory_->make_copy_place(manifest.image);
    if (!copy) return copy.error();
    if (say(FromPartner::want) != 0) return Error{Errc::lost, "nobody sends it any more"};
    for (const ImagePart& part : manifest.parts) {
      if (auto taken = take_part(*copy, part); !taken) return taken;
    }
    if (auto synced = store::sync_directory(*copy); !synced) return synced;
    return adopt_copy(*directory_, manifest);
  }

  Result<Done> take_part(const std::string& copy, const ImagePart& part) {
    auto out = PartWriter::create(copy, part);
    if (!out) return out.error();
    for (Buffer piece; out->wanted() > 0; piece.clear()) {
      while (piece.size() < out->wanted()) {
        const auto frame = next();
        if (!frame) return frame.error();
        const bool is_piece = frame->kind == static_cast<std::uint8_t>(ToPartner::piece);
        if (!is_piece || frame->head.empty() || frame->head.size() > out->wanted() - piece.size()) {
          return Error{Errc::corrupt, concat(part.name, ": no piece of it has come")};
        }
        piece.append(frame->head.data(), frame->head.size());
      }
      if (auto written = out->append(piece); !written) return written;
    }
    const auto is_right = out->finish();
    if (!is_right) return is_right.error();
    if (!*is_right) return Error{Errc::corrupt, concat(part.name, ": the checksum differs")};
    return Done{};
  }

  const PartnerPlace place_;
  FramePipe pipe_;
  std::unique_ptr<JobDirectory> directory_;
};

int bring(const PartnerPlace& place, const std::vector<std::string>& words) {
  const auto answer = [](char sign, const std::string& text) {
    std::printf("%c%s\n", sign, text.c_str());
    return sign == '+' ? 0 : 1;
  };
  const auto newest = parse_number<ImageId>(words[0]);
  if (!newest) return answer('-', "want the number of an image, found " + words[0]);
  auto store = JobDirectory::look(words[1]);
  if (!store) return answer('-', store.error().message);
  const auto brought = bring_here(place, *newest, **store);
  if (!brought) return answer('-', brought.error().message);
  return answer('+', *brought == 0 ? "" : std::to_string(*brought));
}

int forget(const PartnerPlace& place) {
  if (mark_of(place.path()) != place.mark) return 0;
  // Whoever receives an image that nobody sends any more has yet to notice.
  auto directory = JobDirectory::open(place.path(), JobDirectory::IfInUse::wait);
  if (!directory) return 1;
  // Manifests first: what is interrupted leaves nothing that looks whole.
  if (auto cleared = ImageStore(**directory).clear(); !cleared) return 1;
  std::error_code why;
  std::filesystem::remove_all(place.path(), why);
  return why ? 1 : 0;
}

}  // namespace

Result<Partner> parse_partner(const std::string& text) {
  const std::size_t colon = text.find(':');
  Partner partner{text.substr(0, colon), colon == text.npos ? "" : text.substr(colon + 1)};
  const bool is_host = !partner.host.empty() && partner.host.front() != '-' &&
                       partner.host.find_first_not_of(plain) == text.npos;
  if (!is_host || !partner.directory.starts_with("/")) {
    return Error{Errc::usage, concat("want HOST:DIR, where DIR begins with /; found '", text, "'")};
  }
  if (partner.directory.find_first_not_of(plain) != text.npos) {
    return Error{Errc::usage, concat("want a directory whose name a shell reads as it is; found '",
                                     partner.directory, "'")};
  }
  return partner;
}

// Beside those of jobs that run there.
std::string PartnerPlace::path() const {
  return concat(directory, "/", store::to_hex(job), "-partner");
}

std::vector<std::string> PartnerPlace::words() const {
  return {directory, store::to_hex(job), mark};
}

Result<PartnerPlace> PartnerPlace::parse(const std::vector<std::string>& words) {
  std::uint64_t job = 0;
  const std::string text = words.size() < place_words ? "" : words[1];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), job, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    return Error{Errc::usage, "want a directory, a job and a mark"};
  return PartnerPlace{words[0], job, words[2]};
}

Result<ImageId> bring_here(const PartnerPlace& place, ImageId newest, JobDirectory& store) {
  if (place.mark.empty() || mark_of(place.path()) != place.mark) return ImageId{0};
  auto directory = JobDirectory::look(place.path());
  if (!directory) return ImageId{0};
  ImageStore images(**directory);
  std::vector<Manifest> whole = whole_images(images, place.job);
  std::ranges::reverse(whole);
  for (const Manifest& one : whole) {
    if (one.image <= newest) break;
    const auto copy = store.make_copy_place(one.image);
    if (!copy) return copy.error();
    auto copied = copy_image((*directory)->parts_path(one.image), *copy, one);
    if (copied) copied = adopt_copy(store, one);
    if (copied) return one.image;
    (void)store.remove_copies();
    // One that is torn may have an older one beside it.
    if (copied.error().code != Errc::corrupt) return copied.error();
  }
  return ImageId{0};
}

int run_partner(const std::vector<std::string>& words) {
  ::signal(SIGPIPE, SIG_IGN);
  if (words.empty()) return 2;
  const auto place = PartnerPlace::parse({words.begin() + 1, words.end()});
  if (!place) return 2;
  const std::vector<std::string> more(words.begin() + 1 + place_words, words.end());
  if (words[0] == "receive" && more.empty()) return Receiver(*place).run();
  if (words[0] == "bring" && more.size() == 2) return bring(*place, more);
  if (words[0] == "forget" && more.empty()) return forget(*place);
  return 2;
}

}  // namespace piracema::ckpt
