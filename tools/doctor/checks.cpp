#include "tools/doctor/checks.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::tools {

namespace {

constexpr unsigned compiler_least = 11;
/// What a container gets if nobody says more is less.
constexpr std::uint64_t shm_least = 128'000'000;
constexpr std::uint64_t files_least = 1'024;
/// A line that a product prints is longer only by mistake.
constexpr std::size_t findings_max = 100, text_max = 1'000;

/// The major version in "g++ (Debian 12.2.0-14) 12.2.0" or "Debian clang version 14.0.6": of the
/// last word that begins with a number; 0 if there is none.
unsigned major_version(const std::string& line) {
  std::istringstream words(line);
  unsigned found = 0;
  for (std::string word; words >> word;) {
    const auto dot = word.find('.');
    if (dot == word.npos) continue;
    if (const auto number = parse_number<unsigned>(std::string_view(word).substr(0, dot)))
      found = *number;
  }
  return found;
}

Finding compiler(const Machine& machine) {
  Finding finding{.part = "streams", .what = "compiler", .needed = true};
  finding.ok = major_version(machine.compiler) >= compiler_least;
  finding.text = machine.compiler;
  if (machine.compiler.empty()) finding.text = "no c++, so programs cannot be built here";
  if (finding.ok) return finding;
  if (!machine.compiler.empty())
    finding.text += concat("; want ", compiler_least, " or later, for C++20");
  finding.fix = "sudo apt install g++";
  return finding;
}

Finding shared_memory(const Machine& machine) {
  Finding finding{.part = "streams", .what = "/dev/shm"};
  finding.ok = machine.shm_free && *machine.shm_free >= shm_least;
  finding.text = machine.shm_free
                     ? concat(human_bytes(static_cast<double>(*machine.shm_free)), " free")
                     : std::string("not there");
  if (finding.ok) return finding;
  finding.text += "; processes of this host talk by TCP, which is slower";
  finding.fix = machine.shm_free ? "sudo mount -o remount,size=1G /dev/shm"
                                 : "sudo mount -t tmpfs -o size=1G tmpfs /dev/shm";
  return finding;
}

Finding files(const Machine& machine) {
  Finding finding{.part = "machine", .what = "open files"};
  finding.ok = machine.files >= files_least;
  finding.text = concat(machine.files, " a process, at most ", machine.files_most);
  if (!finding.ok) {
    finding.fix =
        concat(machine.files_most < files_least ? "sudo prlimit --pid $$ --nofile=" : "ulimit -n ",
               files_least);
  }
  return finding;
}

Finding clock(const Machine& machine) {
  Finding finding{.part = "machine", .what = "clock"};
  finding.ok = machine.clock_follows.value_or(false);
  finding.text = !machine.clock_follows ? "the kernel does not say whether it is synchronized"
                 : finding.ok           ? "synchronized"
                              : "not synchronized: logs of several hosts do not compare, and "
                                "windows of lent machines close at another time";
  if (!finding.ok) finding.fix = "sudo apt install chrony";
  return finding;
}

Finding congestion(const Machine& machine) {
  Finding finding{.part = "machine", .what = "congestion"};
  const std::string& choices = machine.congestion_choices;
  finding.ok = choices.find("reno") != choices.npos;
  finding.text = machine.congestion.empty() ? "the kernel does not say which control TCP has"
                                            : machine.congestion + " between hosts";
  if (finding.ok) {
    finding.text += ", reno within this one";
  } else {
    finding.text += "; connections within this host want reno";
    finding.fix = "sudo modprobe tcp_reno";
  }
  return finding;
}

Finding remote(const Machine& machine) {
  Finding finding{.part = "machine", .what = "ssh", .ok = !machine.ssh.empty()};
  finding.text = finding.ok ? machine.ssh : "not there: --hosts wants it, or another --rsh";
  if (!finding.ok) finding.fix = "sudo apt install openssh-client";
  return finding;
}

Finding library(const Library& one) {
  Finding finding{.part = "streams", .what = one.name, .ok = one.there};
  finding.text = concat(one.there ? "for " : "not there: wanted by ", one.wanted_by);
  if (!one.there) finding.fix = concat("sudo apt install ", one.package);
  return finding;
}

/// What mends what the products say without a command.
std::string known_fix(const std::string& part, const std::string& what) {
  if (part != "ckpt") return "";
  if (what == "privilege") return "sudo piracema doctor";
  if (what == "zstd" || what == "tar") return "sudo apt install " + what;
  if (what == "MPI") return "sudo apt install openmpi-bin";
  return "";
}

}  // namespace

std::vector<Finding> judge(const Machine& machine) {
  std::vector<Finding> findings = {
      {.part = "machine", .what = "cores", .ok = true, .text = std::to_string(machine.cores)},
      {.part = "machine",
       .what = "user",
       .ok = true,
       .text = machine.root ? "root" : "not root; only piracema ckpt asks for that"},
      files(machine),
      clock(machine),
      congestion(machine),
      remote(machine),
      // Nobody installs a Slurm because of us.
      {.part = "machine",
       .what = "Slurm",
       .ok = true,
       .text = machine.slurm.empty() ? "none; --hosts and ssh do without" : machine.slurm},
      compiler(machine),
      shared_memory(machine),
  };
  for (const Library& one : machine.libraries) findings.push_back(library(one));
  return findings;
}

Result<std::vector<Finding>> read_findings(const std::string& part, const std::string& json) {
  const Error wrong{Errc::corrupt,
                    concat("piracema ", part, " doctor --json: want a list of findings, found '",
                           json.substr(0, 60), "'")};
  const auto lines = nlohmann::json::parse(json, nullptr, false);
  if (!lines.is_array() || lines.size() > findings_max) return wrong;
  const auto text_of = [](const nlohmann::json& line,
                          const char* key) -> std::optional<std::string> {
    const auto at = line.find(key);
    if (at == line.end() || !at->is_string()) return std::nullopt;
    return at->get<std::string>().substr(0, text_max);
  };
  const auto flag_of = [](const nlohmann::json& line, const char* key) -> std::optional<bool> {
    const auto at = line.find(key);
    if (at == line.end() || !at->is_boolean()) return std::nullopt;
    return at->get<bool>();
  };
  std::vector<Finding> findings;
  for (const auto& line : lines) {
    if (!line.is_object()) return wrong;
    const auto what = text_of(line, "what"), text = text_of(line, "text");
    const auto ok = flag_of(line, "ok"), needed = flag_of(line, "needed");
    if (!what || !text || !ok || !needed) return wrong;
    Finding finding{part, *what, *ok, *needed, *text, ""};
    if (!*ok) finding.fix = text_of(line, "fix").value_or(known_fix(part, *what));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<std::string> parts_that_lack(std::span<const Finding> findings) {
  std::vector<std::string> parts;
  for (const Finding& one : findings) {
    if (one.ok || !one.needed || std::ranges::count(parts, one.part) != 0) continue;
    parts.push_back(one.part);
  }
  return parts;
}

}  // namespace piracema::tools
