"""Arrays of JAX whose rows are sharded over devices: what of them is in this process, and results sharded alike.

The devices of a process share its memory. So a process is one rank, whatever the number of its devices: its shards, joined
in the order of their rows, are the points of one call of kith, and the answers are cut and put onto the devices of these
rows. Over several processes (`jax.distributed`) that call is made with `comm=`. No point goes to another process but those
that kith's ranks ask for. Cost: that of the call, one copy of the rows and one of the results.

While a function is traced it is not known where the values will be. `whole` refuses rows that turn out to be sharded when
XLA compiles, since its custom calls would gather all points on every device, and repeat the search there.
"""

import importlib

import jax
import numpy
from jax.custom_batching import custom_vmap
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec

_ADVICE = ("Call kith.jax.knn, fof, fof_catalog or reduce_neighbors on the sharded arrays themselves, outside of jax.jit and "
           "jax.shard_map; for searches that are independent of each other use jax.vmap")


def is_sharded(array):
    """Whether the values are known, and on several devices that do not all have all of them."""
    return (isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer)
            and len(array.sharding.device_set) > 1 and not array.sharding.is_fully_replicated)


def whole(array, what, is_searched=True):
    """The array, for a custom call on each device that needs all its rows; refuses one whose rows are sharded.

    Rows of a traced array are refused here if its type tells, else when it is compiled. Each device of a `jax.shard_map`
    may have queries of its own, but not points that `is_searched` says are searched.
    """
    if not isinstance(array, jax.core.Tracer):
        return array
    kind = jax.typeof(array)
    manual = getattr(jax.sharding.get_abstract_mesh(), "manual_axes", ())
    has_types = not manual or _axes_of(jax.typeof(jax.lax.axis_index(manual[0])))  # not with check_vma=False
    if is_searched and manual and (_axes_of(kind) or not has_types):
        raise TypeError(f"{what} may be other rows on each device along the axes {manual} of this jax.shard_map, and kith "
                        f"would search these alone. {_ADVICE}")
    if any(axis is not None for axis in kind.sharding.spec[-2:]):
        raise TypeError(f"{what} is sharded over devices, {kind}, where it is traced. {_ADVICE}")
    return _whole_with_slope(array)


@jax.custom_jvp
def _whole_with_slope(array):
    return _whole(array)


@_whole_with_slope.defjvp
def _slope_of_whole(primals, tangents):
    return _whole_with_slope(*primals), *tangents


def _axes_of(kind):
    """The manual axes of a mesh along which values of this type vary."""
    return kind.manual_axis_type.varying if hasattr(kind, "manual_axis_type") else getattr(kind, "vma", frozenset())


@custom_vmap
def _whole(array):
    return _one_of_each_device(array)


@_whole.def_vmap
def _whole_batch(_, is_batched, array):
    return _whole(array), is_batched[0]


@custom_partitioning
def _one_of_each_device(array):
    return array


def _refuse_shards(mesh, arguments, _):
    shape, sharding = arguments[0].shape, arguments[0].sharding
    if sharding.shard_shape(shape)[-2:] != shape[-2:]:
        raise TypeError(f"an array of shape {shape} is sharded over devices, as {sharding}, where it is traced. {_ADVICE}")
    return mesh, lambda array: array, sharding, (sharding,)


_one_of_each_device.def_partition(_refuse_shards, infer_sharding_from_operands=lambda _, arguments, __: arguments[0].sharding,
                                  sharding_rule="... i j -> ... i j")


class Shards:
    """The rows of an array that are on devices of this process.

    Its devices divide the rows into equal parts; some may have copies of one.

    Attributes
    ----------
    total, parts : int
        Rows of the whole array, and their parts.
    first, count : int
        The first of the rows here, and their number.
    first_part, own_parts : int
        The first of the parts here, and their number.
    comm
        The communicator given: a rank for each process that has rows; None if there is one process.
    device
        One of this process.

    Raises
    ------
    ValueError
        For another sharding than over the first axis; for a comm whose ranks do not have these rows in their order.
    NotImplementedError
        For shards in the memory of a GPU.
    """

    def __init__(self, array, what, comm=None):
        self._array, self._sharding = array, _by_rows(array, what)
        self._part_of = _parts_of(self._sharding)
        self._of_process = {}
        for device, part in self._part_of.items():
            self._of_process.setdefault(device.process_index, set()).add(part)
        self.comm = self._ranks(comm, what)
        if jax.process_index() not in self._of_process:
            raise ValueError(f"{what} has no rows on devices of this process; its sharding is {self._sharding}")
        own = self._of_process[jax.process_index()]
        self.parts = 1 + max(self._part_of.values())
        self.first_part, self.own_parts = min(own), len(own)
        self.total = array.shape[0]
        self.first, self.count = (number * self.total // self.parts for number in (self.first_part, self.own_parts))
        self.device = next(device for device in self._part_of if self._is_here(device))

    def _is_here(self, device):
        return device.process_index == jax.process_index()

    def _ranks(self, comm, what):
        order = sorted(self._of_process, key=lambda process: min(self._of_process[process]))
        if len(order) == 1 and comm is None:
            return None
        in_order = [part for process in order for part in sorted(self._of_process[process])]
        if in_order != list(range(len(in_order))):
            raise ValueError(f"{what} is sharded as {self._sharding}; the rows of each process must be consecutive, and "
                             "those of no other")
        if comm is None:
            raise ValueError(f"{what} is sharded over {len(order)} processes; give comm, a communicator of mpi4py that has "
                             f"them in the order of their rows: {order}")
        mpi = importlib.import_module("kith.mpi")
        comm = comm if isinstance(comm, mpi.Ranks) else mpi.Ranks(comm)
        if comm.ids is not None:
            raise ValueError("comm has ids, but indices of kith.jax are rows; leave the ids out")
        if (found := comm.comm.allgather(jax.process_index())) != order:
            raise ValueError(f"comm has the processes {found}; it must have those of {what} in the order of their rows: "
                             f"{order}")
        return comm

    @property
    def most(self):
        """The largest number of rows of a process."""
        return max(map(len, self._of_process.values())) * self.total // self.parts

    def joined(self):
        """The rows of this process, in the host's memory."""
        found = {self._part_of[shard.device]: shard.data for shard in self._array.addressable_shards}
        return numpy.concatenate([numpy.asarray(found[part]) for part in sorted(found)])

    def rows_of(self, array, what):
        """The same rows of another array, however it is sharded within this process, in the host's memory."""
        if array.shape[:1] != (self.total,):
            raise ValueError(f"{what} is of shape {array.shape}; it must have a row for each of {self.total} points")
        if array.is_fully_addressable or array.is_fully_replicated:
            return numpy.asarray(array)[self.first:self.first + self.count]
        own = Shards(array, what, self.comm)
        if (own.first, own.count) != (self.first, self.count):
            raise ValueError(f"{what} is sharded as {array.sharding}, the points as {self._sharding}; each process must have "
                             "the same rows of both")
        return own.joined()

    def put(self, rows):
        """As many rows for each part of this process, one after another, as an array that is sharded alike."""
        of_part = len(rows) // self.own_parts
        arrays = [jax.device_put(rows[first:first + of_part], device) for device, part in self._part_of.items()
                  if self._is_here(device) for first in [(part - self.first_part) * of_part]]
        return jax.make_array_from_single_device_arrays((self.parts * of_part, *rows.shape[1:]), self._sharding, arrays)


def _parts_of(sharding):
    """Which part of all rows a device has, in the order of rows."""
    rows = len(sharding.device_set)  # as many, so that the order shows without any points, too
    begins = {device: index[0].indices(rows)[0] for device, index in sharding.devices_indices_map((rows,)).items()}
    order = sorted(set(begins.values()))
    return {device: order.index(begin) for device, begin in begins.items()}


def _by_rows(array, what):
    """The sharding of the first axis, as one of arrays with any further axes."""
    sharding = array.sharding
    gpu = next((device for device in sharding.device_set if device.platform != "cpu"), None)
    if gpu is not None:
        raise NotImplementedError(f"{what} is sharded over devices such as {gpu}; kith joins shards in the host's memory. "
                                  f"Bring it to one device, jax.device_put({what}, jax.devices()[0]), or to devices of "
                                  "jax.devices('cpu')")
    if array.sharding.shard_shape(array.shape)[1:] != array.shape[1:]:
        raise ValueError(f"{what} is sharded along another axis than the first, as {sharding}; all coordinates of a point "
                         "must be on one device: give a sharding over the first axis")
    if isinstance(sharding, NamedSharding):
        return NamedSharding(sharding.mesh, PartitionSpec(*sharding.spec[:1]))
    of_row, rows = {}, len(sharding.device_set)
    for device, index in sharding.devices_indices_map((rows, *array.shape[1:])).items():
        of_row.setdefault(index[0].indices(rows), []).append(device)
    devices = numpy.array([of_row[bounds] for bounds in sorted(of_row)])
    return NamedSharding(Mesh(devices, ("rows", "copies")), PartitionSpec("rows"))
