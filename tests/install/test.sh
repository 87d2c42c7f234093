#!/usr/bin/env bash
# Installs a build into an empty place and builds a ten-line program against it, as a user does:
# with CMake and with pkg-config. Who makes a package installs below DESTDIR instead.
#
#   tests/install/test.sh BUILD_DIRECTORY CXX
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
build=$1
cxx=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

check() {
  local found
  found=$("$2")
  if [[ $found != $'1\n4\n9\n16\n25' ]]; then
    echo "built with $1: want the squares of 1 to 5, found: $found" >&2
    exit 1
  fi
}

wants_the_library() {
  readelf -d "$1" | grep 'NEEDED.*\[libpiracema\.so\.[0-9]*\.[0-9]*\]' >/dev/null
}

cmake --install "$build" --prefix "$prefix" >"$work/log"
"$prefix/bin/piracema" --version

cmake -S "$here" -B "$work/with-cmake" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_PREFIX_PATH="$prefix" >>"$work/log"
cmake --build "$work/with-cmake" >>"$work/log" || { cat "$work/log"; exit 1; }
check CMake "$work/with-cmake/ten_lines"
check "CMake, shared" "$work/with-cmake/ten_lines_shared"
if cmake -S "$here" -B "$work/with-both" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DWITH_BOTH=ON \
  -DCMAKE_PREFIX_PATH="$prefix" >"$work/refused" 2>&1; then
  echo "CMake took both libraries for one program" >&2
  exit 1
fi
grep -q PIRACEMA_LINKAGE "$work/refused" || { cat "$work/refused"; exit 1; }

# Before 1.0 another minor version is another interface.
for version in 0.0 99.0; do
  mkdir -p "$work/other-$version"
  printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(other LANGUAGES CXX)' \
    "find_package(piracema $version CONFIG REQUIRED)" >"$work/other-$version/CMakeLists.txt"
  if cmake -S "$work/other-$version" -B "$work/other-$version/build" -G Ninja \
    -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" >"$work/refused" 2>&1; then
    echo "CMake took the installed package for version $version" >&2
    exit 1
  fi
  grep -q 'requested version' "$work/refused" || { cat "$work/refused"; exit 1; }
done

DESTDIR=$work/staged cmake --install "$build" --prefix /opt/p >>"$work/log"
if ! diff <(cd "$prefix" && find . | sort) <(cd "$work/staged/opt/p" && find . | sort) >&2; then
  echo "below DESTDIR there is not what was installed without" >&2
  exit 1
fi
[[ $(ls "$work/staged") == opt && $(ls "$work/staged/opt") == p ]] ||
  { echo "want nothing but opt/p below DESTDIR" >&2; exit 1; }

package=$(dirname "$(find "$prefix" -name piracema.pc)")
# Words for a shell: a blank in the name of a directory is quoted.
eval "flags=($(PKG_CONFIG_PATH=$package pkg-config --cflags --libs piracema))"
# shellcheck disable=SC2154
"$cxx" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "$here/ten_lines.cpp" "${flags[@]}" \
  -o "$work/ten_lines"
check pkg-config "$work/ten_lines"
if wants_the_library "$work/ten_lines"; then
  echo "built with pkg-config piracema: want the static library, found the shared one" >&2
  exit 1
fi

eval "flags=($(PKG_CONFIG_PATH=$package pkg-config --cflags --libs piracema-shared))"
"$cxx" -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror "$here/border.cpp" "${flags[@]}" -o "$work/border"
wants_the_library "$work/border" || { echo "built with pkg-config piracema-shared: it is static" >&2; exit 1; }
LD_LIBRARY_PATH=$(dirname "$package")
export LD_LIBRARY_PATH
diff - <("$work/border") <<'END'
an exception of the library
a cast
a store for a thread
no such key
1
4
9
16
25
END
code=0
"$work/border" fail >"$work/said" 2>&1 || code=$?
[[ $code == 1 ]] && grep -q "failed at item 3: process: four is too large" "$work/said" ||
  { echo "an operator that throws: want exit code 1 and what it said, found $code and:" >&2; cat "$work/said" >&2; exit 1; }

# The command runs what was built against its library.
found=$("$prefix/bin/piracema" run --quiet -n 2 "$work/ten_lines" | tr '\n' ' ')
[[ $found == "1 4 9 16 25 " ]] || { echo "under piracema run: found: $found" >&2; exit 1; }

if grep -rIl "$(dirname "$(dirname "$here")")" "$prefix" --include='*.cmake' --include='*.pc'; then
  echo "the installed package names the source tree" >&2
  exit 1
fi
