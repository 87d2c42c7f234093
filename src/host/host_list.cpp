#include "host/host_list.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "base/parse.h"
#include "base/text.h"
#include "store/disk/files.h"

namespace piracema::cluster {

namespace {

constexpr std::uint32_t places_max = 4096;
constexpr std::size_t names_max = 65'536, file_bytes_max = std::size_t{16} << 20;

Error wrong(const std::string& where, const std::string& want, std::string_view found) {
  return {Errc::config, concat(where, ": want ", want, ", found '", found, "'")};
}

bool is_name(const std::string& text) {
  constexpr std::string_view besides = "._-:@=";
  return !text.empty() && !text.starts_with('-') &&
         std::all_of(text.begin(), text.end(), [&](unsigned char c) {
           return std::isalnum(c) != 0 || besides.find(static_cast<char>(c)) != besides.npos;
         });
}

std::optional<std::uint32_t> places_of(std::string_view text) {
  const auto places = parse_number<std::uint32_t>(text);
  if (!places || *places == 0 || *places > places_max) return std::nullopt;
  return places;
}

// With two colons it is an address of IPv6.
std::optional<HostList::Host> parse_host(std::string_view word) {
  if (!is_name(std::string(word))) return std::nullopt;
  const auto colon = word.find(':');
  if (colon == word.npos || word.find(':', colon + 1) != word.npos) {
    return HostList::Host{{std::string(word), ""}};
  }
  const auto places = places_of(word.substr(colon + 1));
  if (!places || colon == 0) return std::nullopt;
  return HostList::Host{{std::string(word.substr(0, colon)), ""}, *places};
}

void add(HostList& list, HostList::Host host) {
  const auto same = std::find_if(list.hosts.begin(), list.hosts.end(),
                                 [&](const auto& one) { return one.host.name == host.host.name; });
  if (same == list.hosts.end()) {
    list.hosts.push_back(std::move(host));
  } else {
    same->places += host.places;
    if (same->site.empty()) same->site = std::move(host.site);
  }
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  std::istringstream in{std::string(text) + ","};
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

// "1-3,07" is 1, 2, 3, 07; nothing for what is none.
std::vector<std::string> expand_numbers(std::string_view text) {
  std::vector<std::string> numbers;
  for (const std::string& range : split(text)) {
    const auto dash = range.find('-');
    const std::string first = range.substr(0, dash);
    const auto from = parse_number<std::uint32_t>(first);
    const auto to = dash == range.npos
                        ? from
                        : parse_number<std::uint32_t>(std::string_view(range).substr(dash + 1));
    if (!from || !to || *to < *from || *to - *from >= names_max - numbers.size()) return {};
    for (std::uint64_t number = *from; number <= *to; ++number) {
      std::string digits = std::to_string(number);
      if (digits.size() < first.size()) digits.insert(0, first.size() - digits.size(), '0');
      numbers.push_back(std::move(digits));
    }
  }
  return numbers;
}

// "2(x3),1": of three hosts two each, and one of the fourth.
std::optional<std::vector<std::uint32_t>> expand_counts(std::string_view text) {
  std::vector<std::uint32_t> counts;
  for (const std::string& word : split(text)) {
    const auto open = word.find("(x");
    const auto count = places_of(std::string_view(word).substr(0, open));
    std::optional<std::uint32_t> times = 1;
    if (open != word.npos) {
      if (!word.ends_with(')')) return std::nullopt;
      times = parse_number<std::uint32_t>(
          std::string_view(word).substr(open + 2, word.size() - open - 3));
    }
    if (!count || !times || *times > names_max - counts.size()) return std::nullopt;
    counts.insert(counts.end(), *times, *count);
  }
  return counts;
}

Result<HostList> of_slurm(const Variable& variable, const std::string& names) {
  const char* const job = variable("SLURM_JOB_ID");
  HostList list{.hosts = {}, .counted = true, .origin = concat("Slurm job ", job ? job : "?")};
  list.rsh = {"srun", "-N1", "-n1", "--overlap", "-w"};
  const auto expanded = expand_names(names);
  if (!expanded) return Error{Errc::config, "SLURM_JOB_NODELIST: " + expanded.error().message};
  // Without a word about tasks there is one a node, and the processors are what was asked for.
  const char* const tasks = variable("SLURM_NTASKS");
  const char* const source = tasks != nullptr ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE";
  const char* const text = variable(source);
  const auto counts = text ? expand_counts(text) : std::vector<std::uint32_t>(expanded->size(), 1);
  if (!counts || counts->size() != expanded->size()) {
    return wrong(source, concat("a number for each of the hosts of ", names, " (or give --hosts)"),
                 text ? text : "");
  }
  // Who has been started by Slurm knows which of them is this one.
  const char* const own = variable("SLURMD_NODENAME");
  for (std::size_t i = 0; i < expanded->size(); ++i) {
    const std::string& name = (*expanded)[i];
    const auto here = own != nullptr ? std::optional(name == own) : std::nullopt;
    add(list, {{name, list.origin, here}, (*counts)[i]});
  }
  return list;
}

Result<HostList> of_file(const std::string& origin, const std::string& file) {
  auto list = read_hostfile(file);
  if (!list) return Error{Errc::config, concat(origin, ": ", list.error().message)};
  list->limited = false;
  list->origin = origin;
  return list;
}

}  // namespace

std::uint64_t HostList::places() const {
  std::uint64_t all = 0;
  for (const Host& one : hosts) all += one.places;
  return all;
}

std::string HostList::text() const {
  std::string text;
  for (const Host& one : hosts) {
    text += concat(text.empty() ? "" : ", ", one.host.name);
    if (counted) text += concat(" (", one.places, ")");
  }
  return text;
}

Result<HostList> parse_host_list(const std::string& text) {
  HostList list{.hosts = {}, .origin = "--hosts"};
  for (const std::string& word : split(text)) {
    auto host = parse_host(word);
    if (!host) {
      return Error{Errc::usage,
                   concat("want names with commas between them, as a,b or a:2,b:2 with ",
                          "a number of 1 to ", places_max, ", found '", text, "'")};
    }
    list.counted = list.limited = list.counted || host->host.name.size() != word.size();
    host->host.named_at = list.origin;
    list.hosts.push_back(*std::move(host));
  }
  return list;
}

Result<HostList> parse_hostfile(const std::string& file, std::string_view text) {
  HostList list{.hosts = {}, .counted = true, .limited = true, .origin = file};
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string where = concat(file, ":", ++number);
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    auto host = parse_host(word);
    if (!host) return wrong(where, "a host, as a, a:2 or a slots=2", word);
    host->host.named_at = where;
    while (words >> word) {
      const auto equals = word.find('=');
      const std::string name = word.substr(0, equals);
      if (name == "site" && equals != word.npos && equals + 1 != word.size()) {
        host->site = word.substr(equals + 1);
        continue;
      }
      if (name == "max_slots" || name == "max-slots") continue;
      const auto places =
          equals == word.npos ? std::nullopt : places_of(std::string_view(word).substr(equals + 1));
      if (name != "slots" || !places) {
        return wrong(where, concat("slots=N, 1 to ", places_max, ", or site=NAME"), word);
      }
      host->places = *places;
    }
    add(list, *std::move(host));
    if (list.hosts.size() > names_max) return wrong(where, "fewer hosts", word);
  }
  if (list.hosts.empty()) return wrong(file, "a host in each line", "no host");
  return list;
}

Result<HostList> read_hostfile(const std::string& file) {
  const auto text = store::read_file(file, file_bytes_max);
  if (!text) return Error{Errc::config, text.error().message};
  return parse_hostfile(file, as_text(*text));
}

Result<std::vector<std::string>> expand_names(std::string_view text) {
  const Error refused{Errc::config, concat("want names such as n[1-3],login, found '", text, "'")};
  std::vector<std::string> names;
  // All that the name at hand may be so far.
  std::vector<std::string> heads{""};
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find_first_of("[,", at), text.size());
    for (std::string& head : heads) head += text.substr(at, end - at);
    at = end + 1;
    if (end == text.size() || text[end] == ',') {
      if (!std::all_of(heads.begin(), heads.end(), is_name)) return refused;
      names.insert(names.end(), heads.begin(), heads.end());
      heads = {""};
      continue;
    }
    const auto close = text.find(']', at);
    if (close == text.npos) return refused;
    const auto numbers = expand_numbers(text.substr(at, close - at));
    if (numbers.empty() || numbers.size() > (names_max - names.size()) / heads.size())
      return refused;
    std::vector<std::string> longer;
    for (const std::string& head : heads) {
      for (const std::string& number : numbers) longer.push_back(head + number);
    }
    heads = std::move(longer);
    at = close + 1;
  }
  return names;
}

Result<std::optional<HostList>> allocated_hosts(const Variable& variable) {
  const auto some = [](Result<HostList> list) -> Result<std::optional<HostList>> {
    if (!list) return list.error();
    return std::optional(*std::move(list));
  };
  const auto set = [&](const char* name) {
    const char* const value = variable(name);
    return std::string(value != nullptr ? value : "");
  };
  if (const auto names = set("SLURM_JOB_NODELIST"); !names.empty()) {
    // Whom srun has started is where he was meant to be.
    if (variable("SLURM_STEP_ID") != nullptr) return std::optional<HostList>();
    return some(of_slurm(variable, names));
  }
  if (const auto file = set("PBS_NODEFILE"); !file.empty()) {
    return some(of_file(concat("PBS job ", set("PBS_JOBID")), file));
  }
  if (const auto file = set("OAR_NODEFILE"); !file.empty()) {
    auto list = of_file(concat("OAR job ", set("OAR_JOB_ID")), file);
    if (list) list->rsh = {"oarsh"};
    return some(std::move(list));
  }
  return std::optional<HostList>();
}

std::vector<std::uint32_t> numbers_of_sites(const HostList& list) {
  std::map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> sites;
  for (const HostList::Host& one : list.hosts) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    sites.push_back(numbers.try_emplace(one.site, next).first->second);
  }
  return sites;
}

Result<std::vector<std::size_t>> fill(const HostList& list, std::uint32_t processes) {
  std::vector<std::size_t> hosts;
  if (!list.counted) {
    for (std::uint32_t i = 0; i < processes; ++i) hosts.push_back(i % list.hosts.size());
    return hosts;
  }
  if (list.limited && processes > list.places()) {
    return Error{Errc::config, concat(list.origin, ": want at most ", list.places(),
                                      " workers, as many as there are places (", list.text(),
                                      "), found ", processes)};
  }
  for (std::size_t host = 0; hosts.size() < processes; host = (host + 1) % list.hosts.size()) {
    const std::size_t left = processes - hosts.size();
    hosts.insert(hosts.end(), std::min<std::size_t>(list.hosts[host].places, left), host);
  }
  return hosts;
}

}  // namespace piracema::cluster
