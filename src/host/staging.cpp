#include "host/staging.h"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "base/fd.h"
#include "base/parse.h"
#include "base/text.h"

namespace piracema::cluster {

namespace {

// All of it stands in braces, so that the shell has read it before it does anything.
constexpr std::string_view beginning = R"sh({
umask 077
say() { printf 'piracema: %s\n' "$*"; }
fail() { say "failed $*"; exit 97; }
say here
dir=$(mktemp -d "${TMPDIR:-/tmp}/piracema-XXXXXX") || fail "mktemp in ${TMPDIR:-/tmp}"
trap 'rm -rf "$dir"' EXIT
trap 'exit 97' HUP INT TERM
is() { [ "$(sha256sum <"$1")" = "$2  -" ]; }
get() {
  got=$4
  [ -x "$got" ] && is "$got" "$3" && return
  got=$dir/$1-${4##*/}
  say "want $1"
  head -c "$2" >"$got.part" && is "$got.part" "$3" || fail "$4 did not arrive whole"
  chmod 700 "$got.part" && mv "$got.part" "$got" || fail "$4 could not be stored"
}
)sh";

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

Result<StagedFile> describe_file(const std::string& name) {
  std::error_code failed;
  const std::string path = std::filesystem::canonical(name, failed);
  if (failed) return Error{Errc::config, concat("'", name, "': ", failed.message())};
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error{Errc::config, with_errno(concat("'", path, "'"))};
  StagedFile described{.path = path};
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  std::vector<unsigned char> some(std::size_t{1} << 20);
  ssize_t count = 0;
  while ((count = ::read(file.get(), some.data(), some.size())) > 0) {
    described.bytes += static_cast<std::uint64_t>(count);
    crypto_hash_sha256_update(&state, some.data(), static_cast<unsigned long long>(count));
  }
  if (count < 0) return Error{Errc::config, with_errno(concat("reading '", path, "'"))};
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256_final(&state, digest);
  char digits[2 * sizeof digest + 1];
  sodium_bin2hex(digits, sizeof digits, digest, sizeof digest);
  described.digest = digits;
  return described;
}

std::string Staging::script() const {
  std::string script(beginning);
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const StagedFile& file = files_[i];
    script += concat("get ", i, " ", file.bytes, " ", file.digest, " ", shell_quoted(file.path),
                     "; f", i, "=$got\n");
  }
  const std::string directory = shell_quoted(directory_);
  script += concat("cd ", directory, " 2>/dev/null || ",
                   command_.wants_directory ? concat("fail 'want the directory' ", directory)
                                            : std::string("cd \"$dir\""),
                   "\n");
  for (const std::string& variable : command_.environment) {
    script += concat("export ", shell_quoted(variable), "\n");
  }
  script += "\"$f0\"";
  for (std::size_t i = 0; i < command_.words.size(); ++i) {
    const bool ours = i == command_.program && files_.size() > 1;
    script += concat(" ", ours ? std::string("\"$f1\"") : shell_quoted(command_.words[i]));
  }
  return concat(script, "\nexit $?\n}\n");
}

Result<std::optional<Staging::Next>> Staging::line(std::string_view line) const {
  constexpr std::string_view ours = "piracema: ", wants = "want ", failed = "failed ";
  if (!line.starts_with(ours)) return std::optional<Next>{};
  line.remove_prefix(ours.size());
  if (line == "here") return std::optional(Next{Next::here});
  if (line == started_says.substr(ours.size())) return std::optional(Next{Next::started});
  if (line.starts_with(failed)) {
    return Error{Errc::config, std::string(line.substr(failed.size()))};
  }
  if (line.starts_with(wants)) {
    line.remove_prefix(wants.size());
    if (const auto number = parse_number<std::size_t>(line); number && *number < files_.size()) {
      return std::optional(Next{Next::file, *number});
    }
  }
  return Error{Errc::corrupt, concat("it says '", line, "', which nobody asked for")};
}

}  // namespace piracema::cluster
