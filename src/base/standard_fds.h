#pragma once

namespace piracema {

/// Opens /dev/null in the place of standard input, output and error where they are closed. Else
/// the next file that is opened would get that number, and what is written to standard error
/// would end up in it. Before other threads start.
void fill_standard_fds();

}  // namespace piracema
