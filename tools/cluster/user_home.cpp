#include "tools/cluster/user_home.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/text.h"
#include "jobs/protocol/users.h"
#include "store/disk/files.h"

namespace piracema::tools {

namespace {

constexpr std::uint64_t user_bytes_max = std::uint64_t{1} << 16;

std::string user_file_of(const std::string& home) { return home + "/user.json"; }

}  // namespace

Result<UserHome> UserHome::read(const std::string& directory) {
  UserHome home{
      .name = jobs::first_user, .client = jobs::first_client, .key_file = directory + "/user.key"};
  const std::string file = user_file_of(directory);
  std::error_code failed;
  if (!std::filesystem::exists(file, failed) && !failed) return home;
  const auto bytes = store::read_file(file, user_bytes_max);
  if (!bytes) return bytes.error();
  try {
    const auto json = nlohmann::json::parse(as_text(*bytes));
    home.name = json.at("name").get<std::string>();
    home.client = json.at("client").get<std::uint64_t>();
  } catch (const nlohmann::json::exception& wrong) {
    return Error{Errc::config, concat(file, ": ", wrong.what())};
  }
  return home;
}

std::string UserHome::of(const std::string& cluster, const std::string& name) {
  return concat(cluster, "/users/", name);
}

Result<NewClient> UserHome::prepare(const std::string& cluster, const std::string& name) {
  const std::string home = of(cluster, name);
  if (std::filesystem::exists(user_file_of(home))) {
    return Error{Errc::config, concat(home, ": there is a user of that name already")};
  }
  const auto file = ClusterFile::read(cluster);
  if (!file) return file.error();
  for (const std::string& folder : {cluster + "/users", home}) {
    if (auto made = make_folder(folder); !made) return made.error();
  }
  return file->draw(home + "/user.key");
}

Result<Done> UserHome::add(const std::string& cluster, const std::string& name,
                           const NewClient& added) {
  auto file = ClusterFile::read(cluster);
  if (!file) return file.error();
  const std::string home = of(cluster, name);
  if (auto done = file->add(added); !done) return done;
  if (auto done = file->copy_to(home); !done) return done;
  const nlohmann::ordered_json json{{"name", name}, {"client", added.client}};
  return write_file(user_file_of(home), json.dump(2) + "\n");
}

Result<Done> UserHome::remove(const std::string& cluster, const UserHome& user) {
  auto file = ClusterFile::read(cluster);
  if (!file) return file.error();
  if (auto done = file->remove(user.client); !done) return done;
  const std::string home = of(cluster, user.name);
  std::error_code failed;
  std::filesystem::remove_all(home, failed);
  if (failed) return Error{Errc::io, concat(home, ": ", failed.message())};
  return Done{};
}

}  // namespace piracema::tools
