! A Fortran program that checks a few collectives, by the older interface (FIRST defined) or mpi_f08.
program collectives
#ifdef FIRST
  use mpi
  implicit none
  integer :: world, whole, total, request
#else
  use mpi_f08
  implicit none
  type(MPI_Comm) :: world
  type(MPI_Datatype) :: whole
  type(MPI_Op) :: total
  type(MPI_Request) :: request
#endif
  integer :: me, ranks, error, turn, wrong, i, level
  integer :: values(5), summed(5), one(1)
  integer, allocatable :: all(:)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, error)
  world = MPI_COMM_WORLD
  whole = MPI_INTEGER
  total = MPI_SUM
  call MPI_Comm_rank(world, me, error)
  call MPI_Comm_size(world, ranks, error)
  allocate(all(ranks))
  wrong = 0
  do turn = 1, 40
    values = -1
    if (me == mod(turn, ranks)) values = turn * 3
    call MPI_Bcast(values, 5, whole, mod(turn, ranks), world, error)
    if (any(values /= turn * 3)) wrong = wrong + 1
    values = me + turn
    call MPI_Allreduce(values, summed, 5, whole, total, world, error)
    if (any(summed /= ranks * turn + ranks * (ranks - 1) / 2)) wrong = wrong + 1
    call MPI_Allreduce(MPI_IN_PLACE, values, 5, whole, total, world, error)
    if (any(values /= summed)) wrong = wrong + 1
    one = me * 7
    call MPI_Gather(one, 1, whole, all, 1, whole, 0, world, error)
    if (me == 0) then
      if (any(all /= [(i * 7, i = 0, ranks - 1)])) wrong = wrong + 1
    end if
    values = -1
    if (me == mod(turn, ranks)) values = turn * 5
    call MPI_Ibcast(values, 5, whole, mod(turn, ranks), world, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    if (any(values /= turn * 5)) wrong = wrong + 1
    call MPI_Barrier(world, error)
  end do
  one = wrong
  call MPI_Allreduce(MPI_IN_PLACE, one, 1, whole, total, world, error)
  if (me == 0) print '(i0,a)', one(1), ' wrong'
  call MPI_Finalize(error)
end program collectives
