#pragma once

#include <string>

namespace piracema::jobs {

/// What an image of a process, or a program of MPI with processes on several machines, wants to
/// find again: the processor's features, the C library and the MPI libraries. For people, too:
///
///     x86_64 cpu-5b21e0c4 glibc-2.36 libmpi.so.40.30.4 libmpich.so.12.1.8
///
/// Two machines with the same text are alike (Node::kind). Libraries are those that lie beside the
/// C library; what is installed elsewhere is not known.
std::string machine_kind();

/// Of the text of /proc/cpuinfo: a number for all that its first processor can do, in whatever
/// order that is listed; empty if it lists nothing.
std::string processor_kind(const std::string& cpuinfo);

}  // namespace piracema::jobs
