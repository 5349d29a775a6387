"""Snapshots: the particles of a file."""

from __future__ import annotations

from kith import _core


class Snapshot:
    """The particles of a file. `kith.knn` and `kith.fof` take it as it is.

    All arrays are views of its memory and cannot be written to.

    Attributes
    ----------
    positions : float32 or float64, shape (n, d)
    velocities : shape (n, d), or None
    masses : shape (n,), or None if all have the same, or the file has none
    uniform_mass : float or None
    internal_energies : shape (n,), or None
        Per unit of mass, 0 for all but gas; None if gas is not among the types, or has none in the file.
    types : uint8, shape (n,), or None for files without types
    ids : uint64, shape (n,), or None
    file_rows : int64, shape (n,)
        Row of each among all particles of the file, types ascending.
    header : what the file says of itself
        format, counts, box_size, time, redshift, parameters and more.
    """

    def __init__(self, core, path):
        self._core = core
        self.path = path
        self.header = core.header
        self.positions = core.positions
        self.velocities = core.velocities
        self.masses = core.masses
        self.uniform_mass = core.uniform_mass
        self.internal_energies = core.internal_energies
        self.types = core.types if len(core.types) else None
        self.ids = core.ids if len(core.ids) else None
        self.file_rows = core.file_rows

    def __len__(self) -> int:
        return len(self.positions)

    def __repr__(self) -> str:
        return f"<kith.Snapshot of {len(self)} particles, {self.header.format}>"

    @property
    def box(self) -> _core.Box | None:
        """The box that the file states, or None if it names none.

        Raises ValueError if what it states has no meaning.
        """
        if self.header.invalid_box:
            raise ValueError(self.header.invalid_box)
        size = self.header.box_size
        if size is None or not any(length > 0 for length in size):
            return None
        return _core.Box(tuple(size[:self.header.dimension]))
