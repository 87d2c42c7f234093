#include "run/barrier/snapshot_writer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <string>

#include "store/snapshot/memory_store.h"
#include "wire/checksum.h"

using namespace piracema;
using runtime::SnapshotWriter;

TEST_CASE("pieces are written in their order, and each says when its memory is free") {
  store::MemoryStore store;
  std::promise<Result<store::Part>> done;
  std::atomic<int> freed{0};
  std::string all;
  {
    SnapshotWriter writer(store, [&](const SnapshotWriter::Job& job, Result<store::Part> part) {
      CHECK(job.snapshot == 7);
      CHECK(freed == 100);
      done.set_value(std::move(part));
    });
    for (int i = 0; i < 100; ++i) {
      const std::string piece(1'000, static_cast<char>('a' + i % 26));
      all += piece;
      writer.write(SnapshotWriter::Piece{{1, 7, 3}, Buffer(as_bytes(piece)), [&] { freed += 1; }});
    }
    store::PartIndex index{0, wire::checksum(Bytes()), 16, {}};
    index.units.push_back({0, 0, 0, {7, 3}, 0, all.size(), wire::checksum(as_bytes(all))});
    writer.write(SnapshotWriter::Job{1, 7, 3, {Buffer(), std::move(index), all.size()}});
    const auto part = done.get_future().get();
    REQUIRE(part);
    CHECK(as_text(*store.read({7, 3}, 0, all.size())) == all);
    CHECK(store.index(7, *part));
  }
}

TEST_CASE("a store without room fails the part once, at its end, and frees all pieces") {
  store::MemoryStore store({.put = 1});
  std::promise<Result<store::Part>> done;
  std::atomic<int> freed{0};
  SnapshotWriter writer(store, [&](const SnapshotWriter::Job&, Result<store::Part> part) {
    done.set_value(std::move(part));
  });
  for (int i = 0; i < 3; ++i) {
    writer.write(SnapshotWriter::Piece{{1, 7, 3}, Buffer(as_bytes("piece")), [&] { freed += 1; }});
  }
  store::PartIndex index{0, wire::checksum(Bytes()), 16, {}};
  writer.write(SnapshotWriter::Job{1, 7, 3, {Buffer(), std::move(index), 15}});
  const auto part = done.get_future().get();
  REQUIRE_FALSE(part);
  CHECK(part.error().code == Errc::io);
  CHECK(freed == 3);
}
