#pragma once

namespace piracema {

/// A write that the limit on the size of files refuses (ulimit -f) is an error of that write from
/// now on, which can name the file, in place of a signal that ends the process without a word.
/// Whoever handles SIGXFSZ keeps it. Children inherit it unless it is undone.
void refuse_large_writes();

/// The same for what is written to a pipe that nobody reads any more.
void refuse_writes_to_nobody();

}  // namespace piracema
