#include "jobs/local/work.h"

#include <sys/mman.h>
#include <unistd.h>

#include <sstream>

#include "base/parse.h"
#include "base/text.h"

namespace piracema::jobs {

namespace {

constexpr const char* same_account = "-";
constexpr std::size_t words_before_command = 7;

// UID:GID:GROUP,GROUP…; the names were looked up by the node, once.
std::string text_of(const std::optional<cluster::Account>& account) {
  if (!account) return same_account;
  std::string groups;
  for (const gid_t group : account->groups) groups += concat(groups.empty() ? "" : ",", group);
  return concat(account->uid, ":", account->gid, ":", groups);
}

// Nothing: it is none, and whoever cannot tell who it is to be must not go on as root.
std::optional<cluster::Account> account_of(const std::string& text) {
  std::istringstream in(text);
  std::string uid, gid, group;
  cluster::Account account;
  std::getline(in, uid, ':');
  std::getline(in, gid, ':');
  const auto user = parse_number<uid_t>(uid);
  const auto first = parse_number<gid_t>(gid);
  if (!user || !first) return std::nullopt;
  account.uid = *user;
  account.gid = *first;
  while (std::getline(in, group, ',')) {
    const auto number = parse_number<gid_t>(group);
    if (!number) return std::nullopt;
    account.groups.push_back(*number);
  }
  return account;
}

std::vector<std::string> all_of(const Fd& environment) {
  std::string text;
  char bytes[4'096];
  ssize_t count = 0;
  while ((count = ::read(environment.get(), bytes, sizeof bytes)) > 0) {
    text.append(bytes, static_cast<std::size_t>(count));
  }
  std::vector<std::string> all;
  for (std::size_t at = 0, end = 0; (end = text.find('\0', at)) != std::string::npos;
       at = end + 1) {
    all.push_back(text.substr(at, end - at));
  }
  return all;
}

}  // namespace

Result<Fd> in_memory(const std::vector<std::string>& environment) {
  Fd file(::memfd_create("environment of a job", MFD_CLOEXEC));
  if (!file) return Error{Errc::io, with_errno("the environment of a job")};
  std::string text;
  for (const std::string& variable : environment) text += variable + '\0';
  if (::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::lseek(file.get(), 0, SEEK_SET) == 0) {
    return file;
  }
  return Error{Errc::io, with_errno("the environment of a job")};
}

std::vector<std::string> words_of(const Work& work, const Fd& environment) {
  std::vector<std::string> words{std::to_string(work.result),
                                 std::to_string(work.input),
                                 std::to_string(environment.get()),
                                 std::to_string(work.until.count()),
                                 std::to_string(work.niceness),
                                 text_of(work.account),
                                 work.directory};
  words.insert(words.end(), work.command.begin(), work.command.end());
  return words;
}

std::optional<Work> work_of(const std::vector<std::string>& words) {
  if (words.size() <= words_before_command) return std::nullopt;
  const auto result = parse_number<int>(words[0]), input = parse_number<int>(words[1]);
  const auto environment = parse_number<int>(words[2]);
  const auto until = parse_number<std::int64_t>(words[3]);
  const auto niceness = parse_number<int>(words[4]);
  if (!result || !input || !environment || !until || !niceness) return std::nullopt;
  Work work{.result = *result,
            .input = *input,
            .until = Time(*until),
            .niceness = *niceness,
            .account = account_of(words[5]),
            .directory = words[6],
            .command = {words.begin() + words_before_command, words.end()},
            .environment = all_of(Fd(*environment))};
  if (!work.account && words[5] != same_account) return std::nullopt;
  return work;
}

}  // namespace piracema::jobs
