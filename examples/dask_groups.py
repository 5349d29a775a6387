# mpirun -n 5 python dask_groups.py: process 0 becomes Dask's scheduler, 1 its client, the others are workers
import dask.array
import dask.distributed
import dask_mpi
import kith
import numpy
from mpi4py import MPI


def label(keys, dask_worker):
    """Labels of the chunks on this worker, which all workers find together. Dask runs it on each of them."""
    workers = MPI.COMM_WORLD.Create_group(MPI.COMM_WORLD.group.Excl([0, 1]))
    mine = [key for key in keys if key in dask_worker.data]
    chunks = [dask_worker.data[key] for key in mine]
    labels = kith.fof(numpy.concatenate([numpy.empty((0, 3)), *chunks]), b=0.3, box=1, comm=workers)
    workers.Free()
    return dict(zip(mine, numpy.split(labels, numpy.cumsum([len(chunk) for chunk in chunks[:-1]]))))


dask_mpi.initialize(nthreads=1)  # goes on in the client alone
with dask.distributed.Client() as client:
    client.wait_for_workers(MPI.COMM_WORLD.size - 2)
    points = client.persist(dask.array.random.default_rng(1).random((8000, 3), chunks=(1000, 3)))
    dask.distributed.wait(points)
    keys = [future.key for future in dask.distributed.futures_of(points)]
    found = {key: labels for of_worker in client.run(label, keys).values() for key, labels in of_worker.items()}
    print(f"{len(found)} chunks, {max(labels.max() for labels in found.values()) + 1} groups")
