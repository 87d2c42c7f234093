#include "observe/http/server.h"

#include <utility>

#include "base/no_signals.h"
#include "base/text.h"
#include "observe/http/server_options.h"
#include "observe/http/site.h"

#ifdef PIRACEMA_MICROHTTPD
#include <dlfcn.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <cstring>

#include "base/fd.h"
#include "base/log.h"
#include "observe/http/address_file.h"
#endif

namespace piracema::observe {

#ifdef PIRACEMA_MICROHTTPD

namespace {

constexpr unsigned connections_max = 64, silent_seconds_max = 15;
constexpr std::size_t connection_bytes_max = 32 << 10, body_bytes_max = 64 << 10;
constexpr int waiting_max = 64;

/// Linked at its first use and not with every program: it brings a dozen libraries with it, and a
/// process that takes the place of a lost one would wait for those.
struct Microhttpd {
  decltype(&MHD_start_daemon) start_daemon = nullptr;
  decltype(&MHD_stop_daemon) stop_daemon = nullptr;
  decltype(&MHD_lookup_connection_value) lookup = nullptr;
  decltype(&MHD_create_response_from_buffer) create_response = nullptr;
  decltype(&MHD_add_response_header) add_header = nullptr;
  decltype(&MHD_queue_response) queue_response = nullptr;
  decltype(&MHD_destroy_response) destroy_response = nullptr;

  static Result<const Microhttpd*> load() {
    static Microhttpd library;
    if (library.start_daemon != nullptr) return &library;
    void* handle = ::dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return Error{Errc::config, "libmicrohttpd.so.12 is missing: install libmicrohttpd12"};
    }
    bool found = true;
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
      found = found && function != nullptr;
    };
    find(library.stop_daemon, "MHD_stop_daemon");
    find(library.lookup, "MHD_lookup_connection_value");
    find(library.create_response, "MHD_create_response_from_buffer");
    find(library.add_header, "MHD_add_response_header");
    find(library.queue_response, "MHD_queue_response");
    find(library.destroy_response, "MHD_destroy_response");
    find(library.start_daemon, "MHD_start_daemon");
    if (found) return &library;
    library.start_daemon = nullptr;
    return Error{Errc::config, "libmicrohttpd.so.12 is not the library of that name"};
  }
};

Result<Fd> listen_at(net::Address& address) {
  const auto failed = [&] {
    return Error{Errc::io, with_errno(concat("cannot listen on ", address.text()))};
  };
  Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return failed();
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), address.data(), address.size()) != 0) return failed();
  if (::listen(socket.get(), waiting_max) != 0) return failed();
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) return failed();
  address = net::Address(bound);
  return socket;
}

class MicrohttpdServer : public HttpServer {
 public:
  MicrohttpdServer(const Microhttpd& library, const net::Address& address,
                   std::unique_ptr<WebSite> site)
      : library_(library), address_(address), site_(std::move(site)) {}
  ~MicrohttpdServer() override {
    if (daemon_ != nullptr) library_.stop_daemon(daemon_);
  }

  Result<Done> begin(Fd socket, const std::string& address_file) {
    const NoSignals no_signals;
    daemon_ = library_.start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL | MHD_USE_ITC, 0, nullptr, nullptr,
        &MicrohttpdServer::handle, this, MHD_OPTION_LISTEN_SOCKET, socket.get(),
        MHD_OPTION_CONNECTION_LIMIT, connections_max, MHD_OPTION_CONNECTION_TIMEOUT,
        silent_seconds_max, MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes_max,
        MHD_OPTION_NOTIFY_COMPLETED, &MicrohttpdServer::completed, nullptr, MHD_OPTION_END);
    if (daemon_ == nullptr) return Error{Errc::io, "libmicrohttpd could not begin to serve"};
    [[maybe_unused]] const int its_own = socket.release();
    if (address_file.empty()) return Done{};
    auto written = AddressFile::write(address_file, entrance());
    if (!written) return written.error();
    address_file_ = *std::move(written);
    return Done{};
  }

  net::Address address() const override { return address_; }
  std::string entrance() const override { return site_->guard().entrance(); }

 private:
  /// Of a request whose body is still being read.
  struct Reading {
    std::size_t bytes = 0;
  };

  static MHD_Result handle(void* self, MHD_Connection* connection, const char* url,
                           const char* method, const char*, const char*, std::size_t* size,
                           void** state) {
    const auto& server = *static_cast<MicrohttpdServer*>(self);
    if (*state == nullptr) {
      *state = new Reading;
      return MHD_YES;  // The header is there; the body, if any, follows.
    }
    auto& reading = *static_cast<Reading*>(*state);
    if (*size != 0) {
      reading.bytes += *size;
      *size = 0;
      // Nobody has anything to say in a body.
      return reading.bytes > body_bytes_max ? MHD_NO : MHD_YES;
    }
    return server.reply(connection,
                        server.site_->answer(server.read(connection, url, method), now()));
  }

  static void completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
    delete static_cast<Reading*>(std::exchange(*state, nullptr));
  }

  Request read(MHD_Connection* connection, const char* url, const char* method) const {
    const auto value = [&](MHD_ValueKind kind, const std::string& name) -> std::string {
      const char* found = library_.lookup(connection, kind, name.c_str());
      return found == nullptr ? "" : found;
    };
    return {.method = method,
            .path = url,
            .host = value(MHD_HEADER_KIND, "Host"),
            .origin = value(MHD_HEADER_KIND, "Origin"),
            .authorization = value(MHD_HEADER_KIND, "Authorization"),
            .accept = value(MHD_HEADER_KIND, "Accept"),
            .mark = value(MHD_HEADER_KIND, "X-Piracema"),
            .cookie_token = value(MHD_COOKIE_KIND, site_->guard().cookie_name()),
            .argument_token = value(MHD_GET_ARGUMENT_KIND, "token"),
            .node = value(MHD_GET_ARGUMENT_KIND, "node"),
            .from = value(MHD_GET_ARGUMENT_KIND, "from"),
            .replicas = value(MHD_GET_ARGUMENT_KIND, "replicas"),
            .workers = value(MHD_GET_ARGUMENT_KIND, "workers"),
            .job = value(MHD_GET_ARGUMENT_KIND, "job"),
            .name = value(MHD_GET_ARGUMENT_KIND, "name")};
  }

  MHD_Result reply(MHD_Connection* connection, const Response& response) const {
    MHD_Response* out = library_.create_response(
        response.body.size(), const_cast<char*>(response.body.data()), MHD_RESPMEM_MUST_COPY);
    if (out == nullptr) return MHD_NO;
    library_.add_header(out, "Content-Type", response.type.c_str());
    for (const auto& [name, value] : response.headers) {
      library_.add_header(out, name.c_str(), value.c_str());
    }
    const MHD_Result queued =
        library_.queue_response(connection, static_cast<unsigned>(response.code), out);
    library_.destroy_response(out);
    return queued;
  }

  const Microhttpd& library_;
  const net::Address address_;
  const std::unique_ptr<WebSite> site_;
  MHD_Daemon* daemon_ = nullptr;
  std::unique_ptr<AddressFile> address_file_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      const MakeSite& make) {
  auto address = http_address(options.address);
  if (!address) return address.error();
  auto token = http_token(options, *address);
  if (!token) return token.error();
  const auto library = Microhttpd::load();
  if (!library) return library.error();
  auto socket = listen_at(*address);
  if (!socket) return socket.error();
  // Whoever gives a token wants it to be asked for.
  const bool is_asked_for = !options.token_file.empty() || options.is_for_runner;
  const auto readers = is_asked_for ? Guard::Readers::with_token : Guard::Readers::all;
  auto server = std::make_unique<MicrohttpdServer>(**library, *address,
                                                   make(Guard(*address, *token, readers)));
  if (auto begun = server->begin(std::move(*socket), options.address_file); !begun) {
    return begun.error();
  }
  return std::unique_ptr<HttpServer>(std::move(server));
}

#else

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options, const MakeSite&) {
  auto address = http_address(options.address);
  if (!address) return address.error();
  if (auto token = http_token(options, *address); !token) return token.error();
  return Error{Errc::config,
               "this build has no HTTP: install libmicrohttpd-dev (scripts/setup --with-http) and "
               "build again"};
}

#endif

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options,
                                                      std::shared_ptr<Pages> pages) {
  return start(options, [&](Guard guard) {
    return std::make_unique<Site>(std::move(pages), std::move(guard));
  });
}

}  // namespace piracema::observe
