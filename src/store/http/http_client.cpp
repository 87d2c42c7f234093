#include "store/http/http_client.h"

#include <utility>

#include "base/text.h"

#ifdef PIRACEMA_CURL
#include <curl/curl.h>
#include <dlfcn.h>
#include <signal.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <type_traits>

#include "base/ensure.h"
#include "base/hex.h"
#endif

namespace piracema::store {

std::string HttpAnswer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

#ifdef PIRACEMA_CURL

namespace {

constexpr std::size_t header_bytes_max = 64 << 10, connections_kept = 16;
constexpr std::uint64_t bytes_a_second_min = 100'000;

/// Linked at its first use and not with every program: it brings two dozen libraries with it, and a
/// process that takes the place of a lost one would wait for those.
struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) init = nullptr;
  decltype(&::curl_easy_reset) reset = nullptr;
  decltype(&::curl_easy_cleanup) cleanup = nullptr;
  decltype(&::curl_easy_setopt) setopt = nullptr;
  decltype(&::curl_easy_perform) perform = nullptr;
  decltype(&::curl_easy_getinfo) getinfo = nullptr;
  decltype(&::curl_easy_strerror) strerror = nullptr;
  decltype(&::curl_slist_append) append = nullptr;
  decltype(&::curl_slist_free_all) free_all = nullptr;
  bool whole = false;

  static Result<const Curl*> load(const std::string& what_for) {
    static std::mutex mutex;
    static Curl library;
    const std::lock_guard lock(mutex);
    if (library.whole) return &library;
    void* handle = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      return Error{Errc::config,
                   concat("snapshots in ", what_for, " want libcurl.so.4: install libcurl4")};
    }
    bool found = true;
    const auto find = [&](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
      found = found && function != nullptr;
    };
    find(library.global_init, "curl_global_init");
    find(library.init, "curl_easy_init");
    find(library.reset, "curl_easy_reset");
    find(library.cleanup, "curl_easy_cleanup");
    find(library.setopt, "curl_easy_setopt");
    find(library.perform, "curl_easy_perform");
    find(library.getinfo, "curl_easy_getinfo");
    find(library.strerror, "curl_easy_strerror");
    find(library.append, "curl_slist_append");
    find(library.free_all, "curl_slist_free_all");
    if (!found || library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
      return Error{Errc::config, "libcurl.so.4 is not the library of that name"};
    }
    library.whole = true;
    return &library;
  }
};

/// What goes and comes while a request is under way.
struct Transfer {
  const HttpRequest& request;
  HttpAnswer answer{};
  std::size_t piece = 0, at = 0, header_bytes = 0;
  bool too_long = false;
  /// The empty line behind the headers has come: libcurl takes an end before it for one.
  bool has_headers = false;

  std::size_t read(char* room, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes && piece < request.body.size()) {
      const Bytes rest = request.body[piece].subspan(at);
      const std::size_t count = std::min(rest.size(), bytes - done);
      std::copy_n(reinterpret_cast<const char*>(rest.data()), count, room + done);
      done += count;
      at += count;
      if (at == request.body[piece].size()) ++piece, at = 0;
    }
    return done;
  }

  bool seek(std::uint64_t offset) {
    for (piece = 0; piece < request.body.size(); ++piece) {
      if (offset < request.body[piece].size()) break;
      offset -= request.body[piece].size();
    }
    at = static_cast<std::size_t>(offset);
    return piece < request.body.size() || offset == 0;
  }

  std::size_t write(const char* bytes, std::size_t count) {
    if (count > request.answer_bytes_max - answer.body.size()) {
      too_long = true;
      return 0;
    }
    answer.body.append(bytes, count);
    return count;
  }

  std::size_t header(std::string_view line) {
    header_bytes += line.size();
    if (header_bytes > header_bytes_max) {
      too_long = true;
      return 0;
    }
    // One that says "go on", or that is said once more, is followed by another one.
    if (line.starts_with("HTTP/")) answer.headers.clear();
    has_headers = line == "\r\n" || line == "\n";
    const std::size_t colon = line.find(':');
    if (colon == line.npos) return line.size();
    std::string name(line.substr(0, colon));
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string_view value = line.substr(colon + 1);
    const auto is_white = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!value.empty() && is_white(value.front())) value.remove_prefix(1);
    while (!value.empty() && is_white(value.back())) value.remove_suffix(1);
    answer.headers[name] = value;
    return line.size();
  }
};

std::size_t on_read(char* room, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->read(room, size * count);
}
int on_seek(void* transfer, curl_off_t offset, int origin) {
  const bool can = origin == SEEK_SET && offset >= 0 &&
                   static_cast<Transfer*>(transfer)->seek(static_cast<std::uint64_t>(offset));
  return can ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}
std::size_t on_write(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->write(bytes, size * count);
}
std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* transfer) {
  return static_cast<Transfer*>(transfer)->header({bytes, size * count});
}

std::uint64_t bytes_of(const std::vector<Bytes>& pieces) {
  std::uint64_t sum = 0;
  for (const Bytes piece : pieces) sum += piece.size();
  return sum;
}

std::string digest_of(const std::vector<Bytes>& pieces) {
  crypto_hash_sha256_state state;
  crypto_hash_sha256_init(&state);
  for (const Bytes piece : pieces) {
    crypto_hash_sha256_update(&state, reinterpret_cast<const unsigned char*>(piece.data()),
                              piece.size());
  }
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest{};
  crypto_hash_sha256_final(&state, digest.data());
  return to_hex(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

/// A peer that is gone is an error and no signal, whatever library writes to it.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pending;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

bool may_succeed_later(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
      return true;
    default:
      return false;
  }
}

class CurlClient final : public HttpClient {
 public:
  CurlClient(const Curl& curl, std::optional<HttpKeys> keys, HttpPatience patience)
      : curl_(curl), keys_(std::move(keys)), patience_(patience) {
    if (keys_) signing_ = concat("aws:amz:", keys_->region, ":s3");
  }

  ~CurlClient() override {
    for (CURL* handle : kept_) curl_.cleanup(handle);
  }

  Result<HttpAnswer> send(const HttpRequest& request) override {
    // The library knows other ways, and an answer may have sent us here.
    if (!request.url.starts_with("http://") && !request.url.starts_with("https://")) {
      return Error{Errc::io, concat("want http:// or https://, found \"", request.url, "\"")};
    }
    CURL* handle = take();
    if (handle == nullptr) return Error{Errc::io, "libcurl has no memory"};
    curl_slist* headers = nullptr;
    const auto add = [&](const std::string& line) {
      curl_slist* longer = curl_.append(headers, line.c_str());
      ENSURE(longer != nullptr);
      headers = longer;
    };
    for (const std::string& line : request.headers) add(line);
    if (keys_) {
      add(concat("x-amz-content-sha256: ", digest_of(request.body)));
      if (!keys_->session_token.empty()) {
        add(concat("x-amz-security-token: ", keys_->session_token));
      }
    }
    // A server that refuses before it is told to go on would look like one that is lost.
    add("Expect:");
    Transfer transfer{request};
    std::string flat;
    prepare(handle, request, transfer, headers, flat);
    char reason[CURL_ERROR_SIZE] = "";
    set(handle, CURLOPT_ERRORBUFFER, static_cast<void*>(reason));
    const CURLcode code = [&] {
      const WithoutSigpipe guard;
      return curl_.perform(handle);
    }();
    if (code == CURLE_OK) curl_.getinfo(handle, CURLINFO_RESPONSE_CODE, &transfer.answer.status);
    set(handle, CURLOPT_ERRORBUFFER, static_cast<void*>(nullptr));
    give_back(handle);
    curl_.free_all(headers);
    if (code == CURLE_OK && transfer.has_headers) return std::move(transfer.answer);
    if (code == CURLE_OK) return Error{Errc::timeout, "the answer is cut off"};
    if (transfer.too_long) {
      return Error{Errc::io, concat("want an answer of at most ", request.answer_bytes_max,
                                    " bytes, found a longer one")};
    }
    return Error{may_succeed_later(code) ? Errc::timeout : Errc::io,
                 reason[0] != '\0' ? reason : curl_.strerror(code)};
  }

 private:
  void set(CURL* handle, CURLoption option, long value) const {
    curl_.setopt(handle, option, value);
  }
  void set(CURL* handle, CURLoption option, const char* value) const {
    curl_.setopt(handle, option, value);
  }
  void set(CURL* handle, CURLoption option, void* value) const {
    curl_.setopt(handle, option, value);
  }
  void set_bytes(CURL* handle, CURLoption option, std::uint64_t bytes) const {
    curl_.setopt(handle, option, static_cast<curl_off_t>(bytes));
  }

  void prepare(CURL* handle, const HttpRequest& request, Transfer& transfer, curl_slist* headers,
               std::string& flat) const {
    const std::uint64_t bytes = bytes_of(request.body);
    const std::string url = concat(request.url, request.query.empty() ? "" : "?", request.query);
    set(handle, CURLOPT_URL, url.c_str());
    set(handle, CURLOPT_NOSIGNAL, 1L);
    if (keys_) {
      set(handle, CURLOPT_AWS_SIGV4, signing_.c_str());
      set(handle, CURLOPT_USERNAME, keys_->key_id.c_str());
      set(handle, CURLOPT_PASSWORD, keys_->secret.c_str());
    }
    set(handle, CURLOPT_HTTPHEADER, static_cast<void*>(headers));
    set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(patience_.connect.count()));
    set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(patience_.silent.count()));
    const std::uint64_t moved = std::max<std::uint64_t>(bytes, request.answer_bytes_max);
    set(handle, CURLOPT_TIMEOUT,
        static_cast<long>(patience_.all.count()) + static_cast<long>(moved / bytes_a_second_min));
    curl_.setopt(handle, CURLOPT_WRITEFUNCTION, &on_write);
    set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
    curl_.setopt(handle, CURLOPT_HEADERFUNCTION, &on_header);
    set(handle, CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
    if (request.method == "PUT") {
      set(handle, CURLOPT_UPLOAD, 1L);
      set_bytes(handle, CURLOPT_INFILESIZE_LARGE, bytes);
      curl_.setopt(handle, CURLOPT_READFUNCTION, &on_read);
      set(handle, CURLOPT_READDATA, static_cast<void*>(&transfer));
      curl_.setopt(handle, CURLOPT_SEEKFUNCTION, &on_seek);
      set(handle, CURLOPT_SEEKDATA, static_cast<void*>(&transfer));
    } else if (request.method == "POST") {
      for (const Bytes piece : request.body) flat += as_text(piece);
      set(handle, CURLOPT_POST, 1L);
      set_bytes(handle, CURLOPT_POSTFIELDSIZE_LARGE, flat.size());
      set(handle, CURLOPT_POSTFIELDS, flat.c_str());
    } else if (request.method == "HEAD") {
      set(handle, CURLOPT_NOBODY, 1L);
    } else if (request.method != "GET") {
      set(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
  }

  CURL* take() {
    {
      const std::lock_guard lock(mutex_);
      if (!kept_.empty()) {
        CURL* handle = kept_.back();
        kept_.pop_back();
        return handle;
      }
    }
    return curl_.init();
  }

  void give_back(CURL* handle) {
    curl_.reset(handle);  // Its connections stay.
    {
      const std::lock_guard lock(mutex_);
      if (kept_.size() < connections_kept) {
        kept_.push_back(handle);
        return;
      }
    }
    curl_.cleanup(handle);
  }

  const Curl& curl_;
  const std::optional<HttpKeys> keys_;
  const HttpPatience patience_;
  std::string signing_;
  std::mutex mutex_;
  std::vector<CURL*> kept_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::make(const std::string& what_for,
                                                     const std::optional<HttpKeys>& keys,
                                                     HttpPatience patience) {
  auto curl = Curl::load(what_for);
  if (!curl) return curl.error();
  return std::unique_ptr<HttpClient>(std::make_unique<CurlClient>(**curl, keys, patience));
}

#else

Result<std::unique_ptr<HttpClient>> HttpClient::make(const std::string& what_for,
                                                     const std::optional<HttpKeys>&, HttpPatience) {
  return Error{Errc::config,
               concat("this program was built without libcurl, which snapshots in ", what_for,
                      " want: install libcurl4-openssl-dev and build it again")};
}

#endif

}  // namespace piracema::store
