#pragma once

#include <piracema/error.h>

/// TCP between processes of one capsule travels by its loopback, and the kernel goes on with it
/// while they are frozen: what it delivers after an end of the connection was saved is in no image,
/// and what it delivers before the other end is restored breaks the connection. So nothing travels
/// there while criu works. What is dropped TCP sends again.
namespace piracema::ckpt {

/// In the caller's network namespace, by a rule of nf_tables that lets through what criu itself
/// sends. Any number of times. Errc::config naming nf_tables if the kernel cannot.
Result<Done> hold_loopback();
/// Any number of times, held or not.
Result<Done> release_loopback();

}  // namespace piracema::ckpt
