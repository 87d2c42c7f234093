#pragma once

// All that a program written with building blocks needs.
#include <piracema/blocks.h>
#include <piracema/directory.h>
#include <piracema/error.h>
#include <piracema/event_time.h>
#include <piracema/files.h>
#include <piracema/groups.h>
#include <piracema/list_state.h>
#include <piracema/map_state.h>
#include <piracema/pipe.h>
#include <piracema/run.h>
#include <piracema/sequence.h>
#include <piracema/socket.h>
#include <piracema/window.h>
