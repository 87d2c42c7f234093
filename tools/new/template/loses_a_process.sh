#!/bin/sh
# Kills a process of the job when half of the input is read, and holds the output to that of a run
# without a loss.
#
#   loses_a_process.sh PROGRAM PIRACEMA
set -eu

program=$1
piracema=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seq 1 1000000 >"$work/in"
"$program" "$work/in" "$work/wanted"

"$piracema" run -n 4 --snapshots "$work/snapshots" --every 50ms --kill work.1@50 \
  "$program" "$work/in" "$work/found" 2>"$work/log" || { cat "$work/log"; exit 1; }
cat "$work/log"
if ! grep -q 'is lost' "$work/log"; then
  echo "no process was lost, so this shows nothing" >&2
  exit 1
fi
cmp "$work/wanted" "$work/found"
