#include "ckpt/image/partner_link.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/parse.h"
#include "base/retry.h"
#include "base/text.h"
#include "ckpt/image/image_copy.h"
#include "ckpt/image/partner_messages.h"
#include "host/frame_pipe.h"
#include "host/remote_shell.h"
#include "store/disk/files.h"
#include "store/document.h"
#include "wire/fields.h"

namespace piracema::ckpt {

namespace {

// A shell that has said all ends soon.
constexpr Time shell_goodbye = std::chrono::seconds(3);

constexpr std::size_t partner_answer_bytes_max = 4096;

/// An image on its way to the partner.
class Sender {
 public:
  explicit Sender(RemoteShell shell)
      : shell_(std::move(shell)), pipe_(shell_.channel(), shell_.channel()) {}

  Result<Done> send(const std::string& parts, const Manifest& manifest, ImageId in_store) {
    PartnerImage offer{manifest.image, encode_manifest(manifest), in_store};
    if (auto sent = say(ToPartner::image, wire::encode(offer)); !sent) return sent;
    const auto wanted = hear();
    if (!wanted) return wanted.error();
    if (*wanted == FromPartner::have) return Done{};
    for (const ImagePart& part : manifest.parts) {
      if (auto sent = send_part(parts, part); !sent) return sent;
    }
    const auto done = hear();
    if (!done) return done.error();
    if (*done == FromPartner::have) return Done{};
    return Error{Errc::corrupt, "the partner has not said that it has all"};
  }

 private:
  Result<Done> send_part(const std::string& parts, const ImagePart& part) {
    const auto in = open_part(parts, part);
    if (!in) return in.error();
    Buffer piece;
    for (std::uint64_t at = 0; at < part.bytes; at += piece.size()) {
      piece.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(partner_piece_bytes, part.bytes - at)));
      if (auto read = store::read_at(*in, at, {piece.data(), piece.size()}); !read) return read;
      if (auto sent = say(ToPartner::piece, piece); !sent) return sent;
    }
    return Done{};
  }

  // Who takes no more may have said why.
  Result<Done> say(ToPartner kind, Bytes head) {
    auto sent = pipe_.send(static_cast<std::uint8_t>(kind), head);
    if (sent) return sent;
    const auto answer = hear();
    return answer ? sent : Result<Done>(answer.error());
  }

  Result<FromPartner> hear() {
    for (;;) {
      auto frame = pipe_.next();
      if (!frame) return frame.error();
      if (*frame) return answer(**frame);
      pollfd wait{pipe_.in(), POLLIN, 0};
      (void)retry([&] { return ::poll(&wait, 1, -1); });
      if (auto filled = pipe_.fill(); !filled) {
        const std::string end = shell_.end(now() + shell_goodbye);
        return Error{Errc::lost, end.empty() ? filled.error().message : "the remote shell " + end};
      }
    }
  }

  static Result<FromPartner> answer(const wire::Frame& frame) {
    const auto kind = static_cast<FromPartner>(frame.kind);
    if (kind != FromPartner::failed) return kind;
    return Error{Errc::failed,
                 std::string(reinterpret_cast<const char*>(frame.head.data()), frame.head.size())};
  }

  RemoteShell shell_;
  FramePipe pipe_;
};

/// All that the shell's other end writes, until it ends.
std::string read_all(const RemoteShell& shell) {
  std::string text;
  for (std::array<char, 512> room; text.size() < partner_answer_bytes_max;) {
    pollfd wait{shell.channel(), POLLIN, 0};
    (void)retry([&] { return ::poll(&wait, 1, -1); });
    const ssize_t count = ::read(shell.channel(), room.data(), room.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count <= 0) break;
    text.append(room.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::vector<std::string> PartnerWay::command(const std::string& what,
                                             const std::vector<std::string>& more) const {
  std::vector<std::string> words = shell;
  words.insert(words.end(), {program, "ckpt", "partner", what});
  for (const std::string& word : place.words()) words.push_back(word);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> send_command(const std::string& program, const std::string& parts,
                                      const std::string& manifest, ImageId in_store,
                                      const PartnerWay& way) {
  std::vector<std::string> words = {program,
                                    "ckpt",
                                    "send",
                                    parts,
                                    manifest,
                                    std::to_string(::getpid()),
                                    std::to_string(in_store)};
  for (std::string& word : way.command("receive")) words.push_back(std::move(word));
  return words;
}

int run_send(const std::vector<std::string>& words) {
  constexpr std::size_t own = 4;
  if (words.size() <= own || !end_with_keeper(words[2])) return 2;
  ::signal(SIGPIPE, SIG_IGN);
  const auto send = [&]() -> Result<Done> {
    const auto manifest = read_manifest(words[1]);
    if (!manifest) return manifest.error();
    const auto in_store = parse_number<ImageId>(words[3]);
    if (!in_store) return Error{Errc::usage, "want the number of an image"};
    auto shell = RemoteShell::start({words.begin() + own, words.end()});
    if (!shell) return shell.error();
    return Sender(*std::move(shell)).send(words[0], *manifest, *in_store);
  };
  const auto sent = send();
  if (!sent) std::printf("%s\n", sent.error().message.c_str());
  return sent ? 0 : 1;
}

Result<ImageId> ask_to_bring(const PartnerWay& way, ImageId newest, const JobDirectory& store) {
  auto shell = RemoteShell::start(way.command("bring", {std::to_string(newest), store.path()}));
  if (!shell) return Error{Errc::lost, shell.error().message};
  shell->hang_up();
  const std::string text = read_all(*shell);
  const std::string end = shell->end(now() + shell_goodbye);
  const std::string line = text.substr(0, text.find('\n'));
  if (line == "+") return ImageId{0};
  if (line.starts_with("-")) return Error{Errc::failed, line.substr(1)};
  if (const auto image = parse_number<ImageId>(line.substr(std::min<std::size_t>(1, line.size())));
      line.starts_with("+") && image) {
    return *image;
  }
  return Error{Errc::lost, end.empty() ? "it says nothing" : "the remote shell " + end};
}

}  // namespace piracema::ckpt
