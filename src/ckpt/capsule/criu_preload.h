#pragma once

/// A library of ours for the criu that saves an ordinary user's job, by which it finds memory that
/// is mapped from deleted files (criu_preload_library.cpp). It is in this program: nothing is
/// installed.
namespace piracema::ckpt {

/// In a process that is about to become criu: has it loaded. Where that cannot be, criu refuses
/// jobs with such memory.
void preload_into_criu();

/// In what criu starts: what that starts goes without.
void forget_preload();

}  // namespace piracema::ckpt
