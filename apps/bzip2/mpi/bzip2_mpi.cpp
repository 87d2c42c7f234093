// Compresses a file with plain MPI: the twin that ../bzip2.cpp is measured against.
//
// Rank 0 reads blocks, the ranks between compress them, the last rank writes them in order. A
// block goes to the worker that asks for one. Every worker has two requests on the way, so that
// its next block arrives while it compresses, and nobody waits for a send to end before the
// buffer is wanted again. Nothing here survives the loss of a process.
#include <bzlib.h>
#include <mpi.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../../common/times.h"

namespace {

constexpr std::size_t block_bytes = 900'000;
// What bzip2 promises not to exceed (its manual, section 3.5.1).
constexpr std::size_t packed_bytes_max = block_bytes + block_bytes / 100 + 600;
// A message is the number of a block and its bytes. To a worker nothing at all is the end; from a
// worker it is a number alone, of the blocks that it has compressed.
constexpr std::size_t header_bytes = sizeof(std::uint64_t);
constexpr int requests_per_worker = 2;
enum Tag { request_tag, block_tag, packed_tag };

using Message = std::vector<char>;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bzip2_mpi: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void set_number(Message& message, std::uint64_t number) {
  std::memcpy(message.data(), &number, sizeof number);
}
std::uint64_t number_of(const Message& message) {
  std::uint64_t number = 0;
  std::memcpy(&number, message.data(), sizeof number);
  return number;
}

void read_and_send(std::FILE* in, int workers) {
  // Twice as many as can be on the way, so that reading is ahead of the requests.
  std::vector<Message> buffers(2 * requests_per_worker * static_cast<std::size_t>(workers),
                               Message(header_bytes + block_bytes));
  std::vector<MPI_Request> sends(buffers.size(), MPI_REQUEST_NULL);
  int ends_to_send = requests_per_worker * workers;
  apps::started();
  for (std::uint64_t number = 0; ends_to_send > 0; ++number) {
    const std::size_t slot = number % buffers.size();
    MPI_Wait(&sends[slot], MPI_STATUS_IGNORE);
    const std::size_t count = std::fread(buffers[slot].data() + header_bytes, 1, block_bytes, in);
    if (std::ferror(in) != 0) fail(std::string("input cannot be read: ") + std::strerror(errno));
    // An empty file, too, has one block: a .bz2 file is at least one stream.
    const bool is_end = count == 0 && number > 0;
    set_number(buffers[slot], number);

    MPI_Status asked;
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, request_tag, MPI_COMM_WORLD, &asked);
    const std::size_t bytes = is_end ? 0 : header_bytes + count;
    MPI_Isend(buffers[slot].data(), static_cast<int>(bytes), MPI_BYTE, asked.MPI_SOURCE, block_tag,
              MPI_COMM_WORLD, &sends[slot]);
    if (is_end) ends_to_send -= 1;
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

void compress_blocks(int sink) {
  Message blocks[requests_per_worker], packed[requests_per_worker];
  MPI_Request receives[requests_per_worker], sends[requests_per_worker];
  const auto ask_for = [&](int slot) {
    MPI_Irecv(blocks[slot].data(), static_cast<int>(blocks[slot].size()), MPI_BYTE, 0, block_tag,
              MPI_COMM_WORLD, &receives[slot]);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, request_tag, MPI_COMM_WORLD);
  };
  for (int slot = 0; slot < requests_per_worker; ++slot) {
    blocks[slot].resize(header_bytes + block_bytes);
    packed[slot].resize(header_bytes + packed_bytes_max);
    sends[slot] = MPI_REQUEST_NULL;
    ask_for(slot);
  }
  std::uint64_t count = 0;
  // Blocks come in the order in which they were asked for, and so do the ends, after them.
  for (int slot = 0;; slot = (slot + 1) % requests_per_worker) {
    MPI_Status status;
    MPI_Wait(&receives[slot], &status);
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes == 0) {
      MPI_Wait(&receives[(slot + 1) % requests_per_worker], MPI_STATUS_IGNORE);
      break;
    }
    MPI_Wait(&sends[slot], MPI_STATUS_IGNORE);
    set_number(packed[slot], number_of(blocks[slot]));
    auto packed_bytes = static_cast<unsigned>(packed_bytes_max);
    const int code = BZ2_bzBuffToBuffCompress(
        packed[slot].data() + header_bytes, &packed_bytes, blocks[slot].data() + header_bytes,
        static_cast<unsigned>(bytes) - static_cast<unsigned>(header_bytes), 9, 0, 0);
    if (code != BZ_OK) fail("bzip2 failed with code " + std::to_string(code));
    MPI_Isend(packed[slot].data(), static_cast<int>(header_bytes + packed_bytes), MPI_BYTE, sink,
              packed_tag, MPI_COMM_WORLD, &sends[slot]);
    count += 1;
    ask_for(slot);
  }
  MPI_Waitall(requests_per_worker, sends, MPI_STATUSES_IGNORE);
  MPI_Send(&count, sizeof count, MPI_BYTE, sink, packed_tag, MPI_COMM_WORLD);
}

void write_in_order(std::FILE* out, int workers) {
  struct Packed {
    Message message;
    std::size_t bytes;
  };
  const auto write = [out](const Packed& packed) {
    const std::size_t count = packed.bytes - header_bytes;
    if (std::fwrite(packed.message.data() + header_bytes, 1, count, out) != count) {
      fail(std::string("output cannot be written: ") + std::strerror(errno));
    }
  };
  std::vector<Message> buffers(static_cast<std::size_t>(workers) + 1,
                               Message(header_bytes + packed_bytes_max));
  std::vector<MPI_Request> receives(buffers.size());
  const auto receive = [&](std::size_t slot) {
    MPI_Irecv(buffers[slot].data(), static_cast<int>(buffers[slot].size()), MPI_BYTE,
              MPI_ANY_SOURCE, packed_tag, MPI_COMM_WORLD, &receives[slot]);
  };
  for (std::size_t slot = 0; slot < buffers.size(); ++slot) receive(slot);

  std::map<std::uint64_t, Packed> early;
  std::uint64_t next = 0, received = 0, sent = 0;
  // Of several receives that are done Waitany tells in any order, so that the end of a worker may be
  // seen before its last blocks.
  for (int ended = 0; ended < workers || received < sent;) {
    int index = 0, bytes = 0;
    MPI_Status status;
    MPI_Waitany(static_cast<int>(receives.size()), receives.data(), &index, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const auto slot = static_cast<std::size_t>(index);
    if (static_cast<std::size_t>(bytes) == header_bytes) {
      ended += 1;
      sent += number_of(buffers[slot]);
    } else {
      received += 1;
      Packed packed{std::move(buffers[slot]), static_cast<std::size_t>(bytes)};
      const std::uint64_t number = number_of(packed.message);
      if (number == next) {
        write(packed);
        next += 1;
        buffers[slot] = std::move(packed.message);
      } else {
        early.emplace(number, std::move(packed));
        buffers[slot].resize(header_bytes + packed_bytes_max);
      }
      for (auto at = early.find(next); at != early.end(); at = early.find(++next)) {
        write(at->second);
        early.erase(at);
      }
    }
    receive(slot);
  }
  for (MPI_Request& request : receives) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (!early.empty())
    fail("blocks are missing before block " + std::to_string(early.begin()->first));
  if (std::fclose(out) != 0) fail(std::string("output cannot be written: ") + std::strerror(errno));
  apps::ended(next);
}

int run(int rank, int ranks, int argc, char** argv) {
  const int sink = ranks - 1;
  std::string wrong;
  std::FILE* file = nullptr;
  if (argc != 3) {
    if (rank == 0) wrong = "want: mpirun -n WORKERS+2 bzip2_mpi IN OUT";
  } else if (ranks < 3) {
    if (rank == 0) wrong = "want at least 3 ranks, found " + std::to_string(ranks);
  } else if (rank == 0 || rank == sink) {
    const char* path = argv[rank == 0 ? 1 : 2];
    file = std::fopen(path, rank == 0 ? "rb" : "wbx");
    if (file == nullptr) wrong = std::string("'") + path + "': " + std::strerror(errno);
    if (file != nullptr) std::setvbuf(file, nullptr, _IONBF, 0);
  }
  if (!wrong.empty()) std::fprintf(stderr, "bzip2_mpi: %s\n", wrong.c_str());
  int is_wrong = wrong.empty() ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &is_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (is_wrong != 0) {
    if (file != nullptr && rank == sink) std::remove(argv[2]);
    return 2;
  }
  if (rank == 0) {
    read_and_send(file, ranks - 2);
    std::fclose(file);
  } else if (rank == sink) {
    write_in_order(file, ranks - 2);
  } else {
    compress_blocks(sink);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int code = run(rank, ranks, argc, argv);
  MPI_Finalize();
  return code;
}
