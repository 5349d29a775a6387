# mpirun -n 4 python mpi_groups.py
import kith
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
points = numpy.random.default_rng(comm.rank).random((1000, 3), dtype=numpy.float32)  # points of this process
labels = kith.fof(points, b=0.8, box=1, comm=comm)  # groups of the points of all processes
if comm.rank == 0:
    print("my first point is in group", labels[0])
