#!/bin/sh
# A remote shell to hosts that are network namespaces: netns_rsh.sh HOST COMMAND...
# The words of the command are put together and read by a shell there, as ssh does.
# $PIRACEMA_TEST_HOSTS/HOST holds the number of a process that lives there. As with ssh, what runs
# there does not die with this process, but finds its standard input ended.
host=$1
shift
pid=$(cat "$PIRACEMA_TEST_HOSTS/$host" 2>/dev/null) || {
  echo "netns_rsh: no route to $host" >&2
  exit 255
}
# What processes of that host have in their environment, where a test says so.
environment=$PIRACEMA_TEST_HOSTS/environment-$host
[ ! -e "$environment" ] || . "$environment"
export TMPDIR="$PIRACEMA_TEST_HOSTS/tmp-$host"
exec setsid --wait nsenter --target "$pid" --net --mount --uts sh -c "$*"
