#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace piracema::jobs {

/// What a user may ask for; each role may do what those before it may.
enum class Role : std::uint8_t {
  look,        ///< See nodes, jobs, and what those have said.
  submit,      ///< Have jobs of their own run, and cancel them.
  administer,  ///< Drain and dismiss nodes, cancel jobs of others, say who the users are.
};
const char* name_of(Role role);

/// Whoever asks a cluster for something, by a key of the group.
struct User {
  std::string name;
  /// The client of the group that has the key.
  std::uint64_t client = 0;
  Role role = Role::submit;
  /// The account of nodes' machines that the jobs run as; empty: the node's own, unless that is
  /// root's.
  std::string account;
  auto fields() { return std::tie(name, client, role, account); }
  bool operator==(const User&) const = default;
};

/// Whoever has made the cluster: administers it, and cannot be removed. Its jobs run as the nodes
/// do.
constexpr const char* first_user = "admin";
constexpr std::uint64_t first_client = 1;
constexpr std::size_t account_bytes_max = 32;

/// Whose a job is.
struct Owner {
  std::string user = first_user;
  /// As that of the user was when the job was asked for.
  std::string account;
  auto fields() { return std::tie(user, account); }
  bool operator==(const Owner&) const = default;
};

/// The users of a cluster. A name and a key belong together for as long as the user is one. Pure.
class Users {
 public:
  static constexpr std::size_t users_max = 1'000;

  Users();

  /// By their names.
  const std::map<std::string, User>& all() const { return users_; }
  /// Null: that client is no user.
  const User* of_client(std::uint64_t client) const;
  /// A new one, or another role or account. Errc::refused says why not.
  Result<Done> put(const User& user);
  /// Its jobs stay. One that is not known: nothing is to be done. Errc::refused.
  Result<Done> drop(const std::string& name);
  /// Takes the place of all; false, and nothing has changed, if they cannot be.
  bool replace(const std::vector<User>& users);

 private:
  std::map<std::string, User> users_;
};

}  // namespace piracema::jobs
