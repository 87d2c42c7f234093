#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "observe/http/guard.h"
#include "observe/http/request.h"

namespace piracema::observe {

/// What an HttpServer serves: who may ask is looked at first, and no other site gets at anything.
/// Has no socket and no clock of its own. Safe from any thread.
class WebSite {
 public:
  explicit WebSite(Guard guard) : guard_(std::move(guard)) {}
  virtual ~WebSite() = default;

  const Guard& guard() const { return guard_; }
  Response answer(const Request& request, Time now) const;

  static Response text(int code, std::string body);
  static Response json(std::string body, int code = 200);
  /// /api/v1/all: of what kind it is, and other resources by their names.
  static Response all(std::string_view kind,
                      std::initializer_list<std::pair<std::string_view, std::string>> resources);
  static Response script(std::string_view text);
  /// Another method than `wanted`.
  static Response not_allowed(const std::string& wanted);

 protected:
  /// A page, for a browser that may come with the token in the address: it does not stay there.
  Response page(const Request& request, std::string_view html) const;

 private:
  /// Of what is not the same for all sites: style, icon and the scripts that they share are.
  virtual Response get(const Request& request, Time now) const = 0;
  virtual Response post(const Request& request) const = 0;
  /// The methods that are understood.
  virtual const char* methods() const = 0;

  const Guard guard_;
};

}  // namespace piracema::observe
