#include "ckpt/keeper/preparation.h"

#include <doctest/doctest.h>

namespace piracema::ckpt {

using std::chrono::seconds;
using Next = Preparation::Next;

TEST_CASE("an image that nothing is wanted before is saved at once") {
  Preparation preparation({});
  CHECK(preparation.most() == Time{});
  CHECK(preparation.look(seconds(1), true) == Next::save);
  CHECK_FALSE(preparation.leaves_program_out());
}

TEST_CASE("the command comes first, and then the program's word") {
  Preparation preparation({.command = seconds(5), .moment = seconds(30)});
  CHECK(preparation.most() == seconds(35));
  CHECK_FALSE(preparation.is_under_way());
  CHECK(preparation.look(seconds(1), true) == Next::run_command);
  CHECK(preparation.look(seconds(2), true) == Next::wait);
  // Nobody was asked yet.
  preparation.moment_said();
  CHECK(preparation.look(seconds(2), true) == Next::wait);
  preparation.command_ended();
  CHECK(preparation.look(seconds(3), true) == Next::ask_for_moment);
  CHECK(*preparation.until() == seconds(33));
  CHECK(preparation.look(seconds(4), true) == Next::wait);
  preparation.moment_said();
  CHECK(preparation.look(seconds(4), true) == Next::save);
  CHECK_FALSE(preparation.leaves_program_out());
  // One that is tried again is tried at once.
  CHECK(preparation.look(seconds(5), true) == Next::save);
  preparation.end();
  CHECK(preparation.look(seconds(9), true) == Next::run_command);
}

TEST_CASE("a command of which nothing is heard is not waited for beyond its time") {
  Preparation preparation({.command = seconds(5)});
  CHECK(preparation.look(seconds(1), true) == Next::run_command);
  CHECK(preparation.look(*preparation.until(), true) == Next::save);
}

TEST_CASE("a program that says nothing is waited for so long and no longer") {
  Preparation preparation({.moment = seconds(30)});
  CHECK(preparation.look(seconds(1), true) == Next::ask_for_moment);
  CHECK(preparation.look(seconds(30), true) == Next::wait);
  CHECK(preparation.look(seconds(31), true) == Next::save);
  CHECK(preparation.has_asked());
  CHECK(preparation.leaves_program_out());
  CHECK_FALSE(preparation.leaves_program_out());
}

TEST_CASE("who has no patience runs the command and does not wait for the program") {
  Preparation preparation({.command = seconds(5), .moment = seconds(30)});
  CHECK(preparation.look(seconds(1), false) == Next::run_command);
  preparation.command_ended();
  CHECK(preparation.look(seconds(1), false) == Next::save);
  CHECK_FALSE(preparation.has_asked());
}

TEST_CASE("who loses patience waits no more") {
  Preparation preparation({.moment = seconds(30)});
  CHECK(preparation.look(seconds(1), true) == Next::ask_for_moment);
  CHECK(preparation.look(seconds(2), false) == Next::save);
}

}  // namespace piracema::ckpt
