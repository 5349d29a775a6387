"""Arrays of every layout, type and library: what is taken as it lies, what is copied, what is refused."""

import numpy
import pytest

import kith
from kith import _arrays, _core

POINTS = numpy.random.default_rng(3).random((200, 3))
EXPECTED = kith.knn(POINTS, 4)


def address_seen(array):
    return _core.describe(_arrays.as_real(array, "points"))[0]


def structured(dtype, aligned):
    table = numpy.zeros(200, dtype=numpy.dtype([("id", "i1"), ("x", dtype, 3)], align=aligned))
    table["x"] = POINTS
    return table["x"]


AS_THEY_LIE = {
    "row-major": POINTS,
    "Fortran order": numpy.asfortranarray(POINTS),
    "every other row": numpy.repeat(POINTS, 2, axis=0)[::2],
    "some columns": numpy.concatenate((POINTS, POINTS), axis=1)[:, :3],
    "backwards": POINTS[::-1].copy()[::-1],
    "columns backwards": POINTS[:, ::-1].copy()[:, ::-1],
    "read only": numpy.frombuffer(POINTS.tobytes()).reshape(-1, 3),
    "field of aligned records": structured("f8", True),
    "subclass": POINTS.view(type("Sub", (numpy.ndarray,), {})),
}


@pytest.mark.parametrize("name", AS_THEY_LIE)
def test_taken_as_they_lie(name):
    array = AS_THEY_LIE[name]
    assert address_seen(array) == array.__array_interface__["data"][0]
    for row, expected in zip(kith.knn(array, 4), EXPECTED):
        assert (row == expected).all()


COPIED = {
    "big-endian": POINTS.astype(">f8"),
    "field of packed records": structured("f8", False),
    "unaligned": numpy.frombuffer(b"\0" + POINTS.tobytes(), dtype=numpy.float64, offset=1).reshape(-1, 3),
    "list": POINTS.tolist(),
    "tuple of arrays": tuple(POINTS),
}


@pytest.mark.parametrize("name", COPIED)
def test_copied(name):
    for row, expected in zip(kith.knn(COPIED[name], 4), EXPECTED):
        assert (row == expected).all() and row.dtype == expected.dtype


def test_a_zero_stride():
    same = numpy.broadcast_to(POINTS[0], (50, 3))
    distances, indices = kith.knn(same, 2)
    assert (distances == 0).all() and indices[:, 0].max() <= 1


@pytest.mark.parametrize("dtype, becomes", [("i4", "f8"), ("u1", "f8"), ("i8", "f8"), ("f2", "f4"), (">f4", "f4")])
def test_types_that_change(dtype, becomes):
    points = numpy.random.default_rng(1).integers(0, 50, (100, 2)).astype(dtype)
    distances, indices = kith.knn(points, 3)
    assert distances.dtype == numpy.dtype(becomes)
    assert (indices == kith.knn(points.astype("f8"), 3)[1]).all()


@pytest.mark.parametrize("dtype", ["c16", "O", "U3", "?", "M8[s]", numpy.longdouble])
def test_types_that_are_refused(dtype):
    with pytest.raises(TypeError, match="points is of type"):
        kith.knn(numpy.zeros((3, 2), dtype=dtype), 1)


def test_numbers_without_a_type_take_that_of_the_points():
    points = POINTS.astype(numpy.float32)
    distances, _ = kith.knn(points, 1, [[0.5, 0.5, 0.5], [0, 0, 1]])
    assert distances.dtype == numpy.float32
    assert kith.Tree(points).query([[0, 0, 1]], 1)[0].dtype == numpy.float32


def test_empty_lists_are_refused_and_empty_arrays_are_not():
    with pytest.raises(ValueError, match="n x d"):
        kith.knn([], 1)
    assert kith.knn(numpy.empty((0, 2)), 1)[0].shape == (0, 1)


class Foreign:
    """An array of a library that nobody has heard of."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_any_library_that_speaks_dlpack():
    array = Foreign(POINTS)
    assert address_seen(array) == POINTS.__array_interface__["data"][0]
    distances, indices = kith.knn(array, 4)
    assert isinstance(distances, numpy.ndarray) and (indices == EXPECTED[1]).all()
    assert (kith.Tree(array).query(array, 4)[1] == EXPECTED[1]).all()
    assert (kith.fof(array, b=0.5) == kith.fof(POINTS, b=0.5)).all()


class WithGaps(Foreign):
    """One that results cannot be written to as it is, though its shape and type fit."""

    def __init__(self, array):
        super().__init__(array)
        self.shape, self.dtype = array.shape, array.dtype


def test_gaps_in_results_of_any_library_are_refused():
    gaps = WithGaps(numpy.empty((200, 8), numpy.int32)[:, :4])
    dense = WithGaps(numpy.empty((200, 4), numpy.int32))
    with pytest.raises(ValueError, match="row-major without gaps"):
        kith.knn(POINTS, 4, return_distances=False, out=gaps)
    assert kith.knn(POINTS, 4, return_distances=False, out=dense) is dense
    assert (dense.array == EXPECTED[1]).all()


def test_columns_with_gaps_of_known_libraries():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    labels, halos = kith.fof(torch.from_numpy(POINTS), 0.2, return_catalogue=True,
                             masses=torch.from_numpy(POINTS)[:, 0])
    assert halos.mass.tolist() == kith.fof(POINTS, 0.2, return_catalogue=True, masses=POINTS[:, 0])[1].mass.tolist()


def test_tables():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(POINTS, columns=list("xyz"))
    assert (kith.knn(frame, 4)[1] == EXPECTED[1]).all()


def test_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = torch.from_numpy(POINTS)
    assert address_seen(tensor) == tensor.data_ptr()
    distances, indices = kith.knn(tensor, 4)
    assert isinstance(distances, torch.Tensor) and distances.dtype == torch.float64
    assert (indices.numpy() == EXPECTED[1]).all()
    labels = kith.fof(tensor, b=0.5, min_members=2)
    assert isinstance(labels, torch.Tensor) and labels.min() == -1
    assert isinstance(kith.Tree(tensor).query(k=2)[1], torch.Tensor)


def test_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    array = jax.numpy.asarray(POINTS.astype(numpy.float32))
    distances, indices = kith.knn(array, 4)
    assert isinstance(distances, jax.Array) and isinstance(indices, jax.Array)
    assert (numpy.asarray(indices) == kith.knn(POINTS.astype(numpy.float32), 4)[1]).all()
    assert isinstance(kith.fof(array, b=0.5, min_members=2), jax.Array)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_arrays_of_a_gpu_stay_there(library):
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    try:
        array = module.asarray(POINTS, device="cuda") if library == "torch" else module.asarray(POINTS)
    except Exception as reason:
        pytest.skip(f"no GPU for {library}: {reason}")
    distances, indices = kith.knn(array, 4)
    assert type(distances) is type(array) and distances.device == array.device
    assert (indices.get() if library == "cupy" else indices.cpu().numpy()).tolist() == EXPECTED[1].tolist()
