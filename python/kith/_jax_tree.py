"""The points of a call of kith.jax, or a tree of them that is kept, and their z-order."""

from kith._jax_search import jax, jnp, real, space_of


@jax.tree_util.register_pytree_node_class
class Tree:
    """Points whose index is kept: the first call that needs it builds it, later ones find it.

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
    comparison reads all points in each call, a millisecond for a million of them. `release_trees` frees the memory. On a
    GPU no index is kept: each call builds its own.

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

    def tree_flatten(self):
        return (self.points,), self._space

    @classmethod
    def tree_unflatten(cls, space, leaves):  # leaves may be anything: JAX puts its own there
        self = object.__new__(cls)
        self._space, (self.points,) = space, leaves
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
    return Tree.tree_unflatten(space, (points,))


def points_of(points, box):
    """The array of points, and where they are."""
    if not isinstance(points, Tree):
        points = real(points, "points")
        return points, space_of(box, points.shape[1])
    if box is not None:
        raise ValueError("box is given for a Tree, which has its own; leave it out")
    return real(points.points, "points"), points._space
