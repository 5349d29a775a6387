"""The points of a call of kith.jax, or a tree of them that is kept, and their z-order.

On the CPU the index of a tree is kept by the C++ library (python/bindings/jax_trees.hpp), which knows it by its points. On a
GPU it is an array, written by a custom call of its own where the tree is made. That array is no leaf of the tree: one could
be changed, or mapped over, without the points.
"""

from kith._jax_search import _jax, is_sharded, jax, jnp, real, space_of


@jax.tree_util.register_pytree_node_class
class Tree:
    """Points whose index is kept: on the CPU the first call that needs it builds it, on a GPU it is built at once.

    `knn`, `fof`, `fof_catalog`, `sum_neighbors`, `density`, `z_order` and `reduce_neighbors` take it in place of the points
    and their box, under `jax.jit` or not, and give the same results.

    Parameters
    ----------
    points : array, shape (n, d)
        float32, or float64 where JAX has it switched on.
    box
        As for `kith.knn`; an ordinary Python value.

    Attributes
    ----------
    points
        The points: the only array of this tree as JAX sees it, so that a `Tree` can be an argument or a result of
        functions under `jax.jit`, `jax.grad` and `jax.vmap`, and be made within them.

    Notes
    -----
    kith keeps the indices of the process that were used last, 1 GiB of them and at least one, and compares the points
    with those of an index, bit for bit, before it takes it: a tree whose points were changed is indexed anew. That
    comparison reads all points in each call, a millisecond for a million of them. `release_trees` frees the memory.

    On a GPU the index is an array that belongs to this object, about 19 bytes a point in 3-D float32: it is made on the
    stream when the tree is, and freed with it. `knn` and `fof` search it, also in functions that use the tree without
    getting it as an argument, and never wait for it. A tree that is an argument or a result of such a function is of its
    points alone: calls on it build an index each, and so do all on a tree whose `points` were replaced; make the tree from
    the points within the function, and it is built once. The other functions build theirs in each call, so that for them
    alone the points are better. Points that were replaced stay in memory with their index as long as this object.

    Examples
    --------
    >>> import jax, kith.jax
    >>> tree = kith.jax.Tree(jax.numpy.array([[0.25, 0.25], [0.875, 0.875]]), box=1)
    >>> search = jax.jit(lambda tree, queries: kith.jax.knn(tree, 1, queries)[1])
    >>> search(tree, jax.numpy.array([[0.0, 0.0]])).tolist()
    [[1]]
    """

    def __init__(self, points, *, box=None):
        self.points = real(points, "points")
        self._space = space_of(box, self.points.shape[1], is_kept=True)
        self._indexed = _indexed(self.points, self._space)

    def tree_flatten(self):
        return (self.points,), self._space

    @classmethod
    def tree_unflatten(cls, space, leaves):  # leaves may be anything: JAX puts its own there
        self = object.__new__(cls)
        self._space, (self.points,) = space, leaves
        self._indexed = None
        return self


def z_order(points, *, box=None):
    """Indices of the points along the z-order curve, int32, shape (n,).

    `points[z_order(points)]` are in the order in which kith sorts points: neighbors in space are near each other in
    memory. Points with equal coordinates are in the order of their indices.

    >>> import jax, kith.jax
    >>> jax.jit(kith.jax.z_order)(jax.numpy.array([[3.0, 3], [0, 1], [0, 0]])).tolist()
    [2, 1, 0]
    """
    points, space = points_of(points, box)
    call = jax.ffi.ffi_call("kith_order", jax.ShapeDtypeStruct(points.shape[:1], jnp.int32), vmap_method="expand_dims")
    return call(jax.lax.stop_gradient(points), **space.attributes())


def tree_of(space, points):
    """Of points that one call searches."""
    return Tree.tree_unflatten(space, (points,))


def indexed_tree_of(space, points):
    """Of points that several calls search."""
    tree = tree_of(space._replace(is_kept=True), points)
    tree._indexed = _indexed(points, tree._space)
    return tree


def index_of(points):
    """The index of a tree on a GPU; None for other points."""
    if not isinstance(points, Tree) or points._indexed is None or points._indexed[0] is not points.points:
        return None
    return points._indexed[1]


def _indexed(points, space):
    """Points that are, or will be, on a GPU, and their index there; None for others."""
    if not _is_on_gpu(points):
        return None
    size = _jax.index_bytes(points.dtype == jnp.float64, points.shape[1], points.shape[0])
    call = jax.ffi.ffi_call("kith_index", jax.ShapeDtypeStruct((size,), jnp.uint8), vmap_method="expand_dims")
    return points, call(jax.lax.stop_gradient(points), **space.attributes())


def _is_on_gpu(points):
    if is_sharded(points):
        return False
    platforms = ({jax.default_backend()} if isinstance(points, jax.core.Tracer)
                 else {device.platform for device in points.devices()})
    return platforms == {"gpu"} and ("kith_index", "CUDA") in _jax.handlers()


def points_of(points, box):
    """The array of points, and where they are."""
    if not isinstance(points, Tree):
        points = real(points, "points")
        return points, space_of(box, points.shape[1])
    if box is not None:
        raise ValueError("box is given for a Tree, which has its own; leave it out")
    return real(points.points, "points"), points._space
