#!/bin/sh
# Runs a program in as many jobs of OAR as it takes: each saves it before its walltime is over, or when
# OAR wants the nodes back, and the next one goes on.
#
#   oarsub -S "examples/ckpt/oar_job.sh DIRECTORY mpirun -n 8 ./app"
#
# An idempotent job that ends with 99 is put into the queue again by OAR (2.5, if it ran for a minute).
# USR2 is what OAR sends with --checkpoint, and before it kills a besteffort job.
#
#OAR -l /nodes=1,walltime=02:00:00
#OAR -t idempotent
#OAR --checkpoint 60
#OAR --signal 12
set -eu
directory=$1
shift
# OAR's clock runs before this begins, and its epilogue takes time too.
margin=${PIRACEMA_OAR_MARGIN:-15}
left=$((${OAR_JOB_WALLTIME_SECONDS:?want a job of OAR} - margin))
hosts=$(sort -u "$OAR_NODEFILE" | paste -sd , -)
case $hosts in
  *,*) set -- --hosts "$hosts" --rsh "${PIRACEMA_OAR_SHELL:-oarsh}" -- "$@" ;;
  *) set -- -- "$@" ;;
esac
piracema ckpt window --dir "$directory" --for "${left}s" "$@" &
keeper=$!
trap 'kill -TERM "$keeper"' TERM USR2
# A signal ends a wait, not what is waited for.
code=0
wait "$keeper" || code=$?
while kill -0 "$keeper" 2>/dev/null; do
  code=0
  wait "$keeper" || code=$?
done
if [ "$code" -eq 75 ]; then
  code=99
fi
exit "$code"
