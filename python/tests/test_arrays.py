"""Arrays of every layout, type and library: what is taken as it lies, what is copied, what is refused."""

import ctypes

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


def test_overlap_of_any_library_is_refused():
    points = POINTS.copy()
    indices = numpy.empty((200, 3), numpy.int32)
    for out in ((points, indices), (WithGaps(points), WithGaps(indices))):
        with pytest.raises(ValueError, match="must not overlap"):
            kith.knn(Foreign(points), 3, out=out)
        with pytest.raises(ValueError, match="must not overlap"):
            kith.Tree(POINTS).query(Foreign(points), 3, out=out)
    assert (points == POINTS).all()


class Elsewhere:
    """An array that says by DLPack that it is in another device's memory. Whoever believes it does not touch it."""

    class Managed(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("axes", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                    ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                    ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

    def __init__(self, array, device=2):
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim
        longs = ctypes.c_int64 * array.ndim
        code = {"i": 0, "u": 1, "f": 2, "b": 6}[array.dtype.kind]
        self.tensor = self.Managed(array.ctypes.data, (device, 0), array.ndim, code, 8 * array.itemsize, 1,
                                   longs(*array.shape), longs(*(step // array.itemsize for step in array.strides)))
        self.kept = array

    def __len__(self):
        return self.shape[0]

    def __dlpack_device__(self):
        return tuple(self.tensor.device)

    def __dlpack__(self, **_):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


@pytest.mark.parametrize("device, error, says", [(2, ValueError, "memory of GPU 0, but the call runs on the CPU"),
                                                 (10, NotImplementedError, "device of DLPack's type 10")])
def test_memory_out_of_reach_is_refused(device, error, says):
    for place in range(2):
        out = [numpy.zeros((200, 4)), numpy.zeros((200, 4), numpy.int32)]
        out[place] = Elsewhere(out[place], device)
        with pytest.raises(error, match=says):
            kith.knn(POINTS, 4, out=out)
        with pytest.raises(error, match=says):
            kith.Tree(POINTS).query(k=4, out=out)
        assert (out[place].kept == 0).all()
    columns = {"masses": numpy.ones(200), "types": numpy.ones(200, numpy.uint8)}
    for name, column in columns.items():
        there = Elsewhere(column, device)
        labels, halos = kith.fof(POINTS, 0.2, return_catalog=True, min_members=2)
        call = _core.Call(POINTS, None, None, None, None)
        summary = _core.find_groups(call, labels, (0.2, False), None)
        arguments = dict(masses=None, types=None) | {name: there}
        with pytest.raises(error, match=says):
            _core.describe_groups(call, labels, summary, None, arguments["masses"], 1.0, arguments["types"], 2)
    with pytest.raises(error, match=says):
        kith.write_catalog("never.hdf5", halos, ids=Elsewhere(numpy.arange(200, dtype=numpy.uint64), device))


@pytest.mark.parametrize("place, error, says", [
    (0, ValueError, "points are in the memory of GPU 0"), (1, ValueError, "queries are in the memory of GPU 0"),
    (2, NotImplementedError, "r is in the memory of GPU 0, but the host reads the radii; copy")])
def test_radius_search_on_the_cpu_refuses_the_memory_of_a_gpu(place, error, says):
    arguments = [POINTS, POINTS[:5], numpy.ones(5)]
    arguments[place] = Elsewhere(arguments[place])
    for source in (arguments[0], kith.Tree(POINTS)._core)[:2 if place > 0 else 1]:
        call = _core.Call(source, None, "cpu", None, None)
        with pytest.raises(error, match=says):
            _core.count_within(call, *arguments[1:], False)
        with pytest.raises(error, match=says):
            _core.search_within(call, *arguments[1:], False, False, False, False, 0)


def test_dbscan_on_the_cpu_refuses_the_memory_of_a_gpu():
    labels, is_core = numpy.empty(len(POINTS), numpy.int32), numpy.empty(len(POINTS), bool)
    with pytest.raises(ValueError, match="points are in the memory of GPU 0"):
        _core.find_clusters(_core.Call(Elsewhere(POINTS), None, "cpu", None, None), labels, is_core, 0.1, 5, False)
    with pytest.raises(ValueError, match="core flags lies in the memory of GPU 0, but the call runs on the CPU"):
        _core.find_clusters(_core.Call(POINTS, None, "cpu", None, None), labels, Elsewhere(is_core), 0.1, 5, False)


def test_mst_on_the_cpu_refuses_the_memory_of_a_gpu():
    with pytest.raises(ValueError, match="points are in the memory of GPU 0"):
        _core.span(_core.Call(Elsewhere(POINTS), None, "cpu", None, None), (0.0, False), None)


@pytest.mark.parametrize("integers, dtype", [(2**24 + 1, numpy.float32), (-2**53 - 1, numpy.float64)])
def test_integers_that_would_be_rounded_are_refused(integers, dtype):
    points = numpy.zeros((4, 2), dtype)
    with pytest.raises(ValueError, match=f"queries holds {integers}, which {dtype.__name__} cannot hold"):
        kith.knn(points, 1, numpy.array([[integers, 0]]))
    exact = numpy.array([[2 * integers - 2 * integers % 4, 0]])  # as many digits, but zeros at the end
    assert kith.knn(points, 1, exact)[0][0, 0] == abs(float(exact[0, 0]))


def test_queries_take_the_type_of_the_points():
    pandas = pytest.importorskip("pandas")
    single, queries = POINTS.astype(numpy.float32), numpy.random.default_rng(9).random((20, 3))
    expected = kith.knn(single, 3, queries.astype(numpy.float32))
    for given in (queries, queries.tolist(), pandas.DataFrame(queries)):
        for found in (kith.knn(single, 3, given), kith.Tree(single).query(given, 3)):
            assert found[0].dtype == numpy.float32
            assert (found[0] == expected[0]).all() and (found[1] == expected[1]).all()
        assert (kith.radius_count(single, 0.2, given) == kith.radius_count(single, 0.2, queries.astype(numpy.float32))).all()
    wider = kith.knn(POINTS, 3, queries.astype(numpy.float32))
    assert (wider[0] == kith.knn(POINTS, 3, queries.astype(numpy.float32).astype(numpy.float64))[0]).all()
    with pytest.raises(ValueError, match="queries holds 1e\\+300, which float32, the type of the points, cannot hold"):
        kith.knn(single, 1, numpy.array([[1e300, 0, 0]]))


def test_nullable_columns_of_pandas():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(POINTS, columns=list("xyz"))
    assert (kith.knn(table.convert_dtypes(), 4)[1] == EXPECTED[1]).all()
    assert kith.knn(table.astype("Float32"), 4)[0].dtype == numpy.float32
    assert kith.knn(table.astype({"x": "Float32"}), 4)[0].dtype == numpy.float64
    whole = pandas.DataFrame(numpy.arange(20).reshape(-1, 2)).astype("Int64")
    assert (kith.knn(whole, 2)[1] == kith.knn(numpy.arange(20).reshape(-1, 2), 2)[1]).all()
    masses, types = pandas.Series(POINTS[:, 0]).astype("Float64"), pandas.Series([1] * len(POINTS)).astype("Int8")
    halos = kith.fof(POINTS, 0.2, return_catalog=True, masses=masses, types=types)[1]
    assert (halos.mass == kith.fof(POINTS, 0.2, return_catalog=True, masses=POINTS[:, 0])[1].mass).all()
    whole.iloc[3, 1] = pandas.NA
    with pytest.raises(ValueError, match="points has 1 missing number; leave those rows out"):
        kith.knn(whole, 2)
    with pytest.raises(TypeError, match="not all numbers"):
        kith.knn(table.assign(name=pandas.Series(["a"] * len(table), dtype="string")), 2)


def test_columns_of_arrow():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = pandas.DataFrame(POINTS, columns=list("xyz"))
    assert (kith.knn(table.convert_dtypes(dtype_backend="pyarrow"), 4)[1] == EXPECTED[1]).all()
    assert (kith.knn(arrow.Table.from_pandas(table), 4)[1] == EXPECTED[1]).all()
    rows = arrow.FixedSizeListArray.from_arrays(arrow.array(POINTS.ravel()), 3)
    for given in (rows, arrow.chunked_array([rows.slice(0, 7), rows.slice(7)])):
        assert (kith.knn(given, 4)[1] == EXPECTED[1]).all()
    assert (kith.knn(POINTS, 4, rows.slice(5, 3))[1] == EXPECTED[1][5:8]).all()
    for missing in (arrow.array([[0.0, 1.0], None], arrow.list_(arrow.float64(), 2)),
                    arrow.array([[0.0, 1.0], [None, 2.0]], arrow.list_(arrow.float64(), 2))):
        with pytest.raises(ValueError, match="points has 1 missing number"):
            kith.knn(missing, 1)


def test_columns_with_gaps_of_known_libraries():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    labels, halos = kith.fof(torch.from_numpy(POINTS), 0.2, return_catalog=True,
                             masses=torch.from_numpy(POINTS)[:, 0])
    assert halos.mass.tolist() == kith.fof(POINTS, 0.2, return_catalog=True, masses=POINTS[:, 0])[1].mass.tolist()


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
    for queries in ([[0.5, 0.5, 0.5]], POINTS[:3], tensor[:3]):  # results are of the points' library
        assert isinstance(kith.knn(tensor, 2, queries)[1], torch.Tensor)
        assert isinstance(kith.Tree(tensor).query(queries, 2)[1], torch.Tensor)
    assert isinstance(kith.knn(POINTS, 2, tensor[:3])[1], torch.Tensor)
    for found in (kith.radius_search(tensor, tensor[:, 0].contiguous()), kith.Tree(tensor).radius_search(0.1, tensor[:3]),
                  kith.radius_search(POINTS, 0.1, tensor[:3])):
        assert isinstance(found.distances, torch.Tensor) and isinstance(found[0][1], torch.Tensor)
    for wrong in (torch.zeros((5, 3)).to_sparse(), torch.zeros((5, 3), device="meta")):
        with pytest.raises(TypeError, match="points is of type torch.Tensor and does not say by DLPack"):
            kith.knn(wrong, 1)


def test_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    array = jax.device_put(POINTS.astype(numpy.float32), jax.devices("cpu")[0])
    distances, indices = kith.knn(array, 4)
    assert isinstance(distances, jax.Array) and isinstance(indices, jax.Array)
    assert distances.devices() == indices.devices() == array.devices()
    assert (numpy.asarray(indices) == kith.knn(POINTS.astype(numpy.float32), 4)[1]).all()
    assert isinstance(kith.fof(array, b=0.5, min_members=2), jax.Array)
    found = kith.radius_search(array, 0.2)
    assert isinstance(found.distances, jax.Array) and isinstance(found.indices, jax.Array)
    assert (numpy.asarray(found.indices) == kith.radius_search(POINTS.astype(numpy.float32), 0.2).indices).all()
    assert (kith.Tree(array).radius_count(0.2) == found.counts).all()
    if not jax.config.jax_enable_x64:
        with pytest.raises(ValueError, match="JAX has no int64"):
            kith.radius_search(array, 0.2, index_dtype=numpy.int64)


def test_whole_and_half_numbers_of_pytorch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    whole = numpy.random.default_rng(2).integers(0, 1000, (100, 3))
    expected = kith.knn(whole, 3)
    for dtype in (torch.int64, torch.int32, torch.int16):
        distances, indices = kith.knn(torch.from_numpy(whole).to(dtype), 3)
        assert distances.dtype == torch.float64 and (indices.numpy() == expected[1]).all()
    for dtype in (torch.float16, torch.bfloat16):
        half = torch.from_numpy(POINTS).to(dtype)
        distances, indices = kith.knn(half, 3)
        assert distances.dtype == torch.float32 and (indices == kith.knn(half.to(torch.float32), 3)[1]).all()
    assert (kith.knn(POINTS.astype(numpy.float32), 3, torch.from_numpy(POINTS))[1].numpy()
            == kith.knn(POINTS.astype(numpy.float32), 3, POINTS)[1]).all()
    with pytest.raises(ValueError, match="points holds 9007199254740993"):
        kith.knn(torch.tensor([[2**53 + 1, 0]]), 1)


def test_gradients_of_pytorch_are_not_dropped():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    tensor = torch.from_numpy(POINTS).requires_grad_()
    for call in (lambda: kith.knn(tensor, 2), lambda: kith.Tree(tensor), lambda: kith.fof(tensor, 0.1)):
        with pytest.raises(TypeError, match="points requires a gradient.*points.detach.*kith.jax"):
            call()
    with pytest.raises(TypeError, match="queries requires a gradient"):
        kith.knn(POINTS, 2, tensor)
    with torch.no_grad():
        assert (kith.knn(tensor, 4)[1].numpy() == EXPECTED[1]).all()
    assert (kith.knn(tensor.detach(), 4)[1].numpy() == EXPECTED[1]).all()


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
    labels, is_core = kith.dbscan(array, 0.1, 4, return_core=True)
    for found, expected in zip((labels, is_core), kith.dbscan(POINTS, 0.1, 4, return_core=True)):
        assert type(found) is type(array) and found.device == array.device
        assert found.tolist() == expected.tolist()
    assert kith.mst(array).edges.tolist() == kith.mst(POINTS).edges.tolist()
    near = kith.radius_search(array, 0.2)  # on the GPU; the rows come to the host
    assert near.engine == "tree"
    assert numpy.asarray(near.indices).tolist() == kith.radius_search(POINTS, 0.2).indices.tolist()
