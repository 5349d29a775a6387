"""A catalog in memory of a GPU."""

from __future__ import annotations

from typing import Any

from kith import _arrays
from kith._catalog import _COLUMNS, Catalog


class DeviceCatalog:
    """The catalog of points in memory of a GPU: a `kith.Catalog` whose columns stay there.

    Columns are attributes and items, as those of `kith.Catalog`, with the same bits: `halos.mass`, `halos["mass"]`.
    They are arrays of the library of the points. `len(halos)` is the number of groups.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns.
    members : int32
        Rows of the points, group after group: those of group g are `offset[g]` to `offset[g] + count[g] - 1`.
    offset : int64, shape (g,)
        Where each group begins in `members`.
    """

    def __init__(self, core, like, to_host, has_velocities, velocity_factor):
        self._core, self._like, self._to_host, self._velocity_factor = core, like, to_host, velocity_factor
        self.columns = tuple(name for name, column in _COLUMNS.items() if has_velocities or not column.needs)

    def to_host(self) -> Catalog:
        """A copy in the host's memory, which can be sliced, drawn, written and turned into tables."""
        return self._to_host(self._core.to_host())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name == "members":
            return _arrays.from_device(self._like, self._core.members)
        if name != "offset" and name not in self.columns:
            raise AttributeError(f"there is no column {name!r}; there are {', '.join(self.columns)}. What else a "
                                 "kith.Catalog has, to_host() gives", name=name, obj=self)
        array = _arrays.from_device(self._like, self._core.column(name))
        is_velocity = name in _COLUMNS and _COLUMNS[name].kind == "velocity"
        return array * self._velocity_factor if is_velocity and self._velocity_factor != 1 else array

    def __getitem__(self, column: str) -> Any:
        if column not in self.columns:
            raise KeyError(f"there is no column {column!r}; there are {', '.join(self.columns)}")
        return getattr(self, column)

    def __contains__(self, column) -> bool:
        return column in self.columns

    def __len__(self) -> int:
        return self._core.groups

    def __repr__(self) -> str:
        return f"<kith.DeviceCatalog of {len(self)} groups of {self._core.min_members} and more>"
