"""Snapshots and catalogs in files."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Sequence
from typing import Union

import numpy

from kith import _arrays, _core, _frames
from kith._arrays import AnyArray
from kith._catalog import Catalog
from kith._device_catalog import DeviceCatalog
from kith._snapshot import Snapshot
from kith._warnings import warn

Path = Union[str, "os.PathLike[str]"]

_TIPSY_INTEGERS = (".grp", ".iord", ".igasorder")  # names of arrays of whole numbers: of groups, and of particles


def read(path: Path | Sequence[Path], types: int | Sequence[int] | str | None = None, *, velocities: bool = True, masses: bool = True,
         ids: bool = True, internal_energies: bool = True, columns: str | Sequence[str | int] | None = None, sample: int | None = None,
         seed: int = 1) -> Snapshot:
    """Reads a snapshot. The format is found from the file's content.

    Parameters
    ----------
    path : str or path, or a list of them
        A snapshot in several files is given by any of them, by its stem, or by a list of all, as `glob.glob` makes it.
        Any n x d dataset of an HDF5 file is `"halo.h5:/Coordinates"`, and any such array of a .npz archive is
        `"points.npz:positions"`; the only one of an archive needs no name. Records with the fields x, y and z (an HDF5
        table, a structured array) are points, too.
    types : int, sequence of ints, or "all", optional
        Particle types to read. By default type 1, dark matter, if there is any, or else all; a warning says which.
    velocities, masses, ids, internal_energies : bool
        False leaves out what is not needed. Internal energies are those of gas in HDF5 files.
    columns : sequence of names or numbers, or "all", optional
        Columns of a text table that are the coordinates: `["ra", "dec"]`, or `[2, 3, 4]`, numbered from 1. By default x,
        y and z by name, or all of two or three without names; of more, they must be chosen. `"mass=w"` among them chooses
        the column of the masses.
    sample : int, optional
        The number of these particles to keep. They are drawn at random and stay in order; `kith fof --sample` draws the
        same. The header's counts remain those of the file.
    seed : int
        Of the sample, from 0 to 2^63 - 1. The same seed draws the same particles.

    Returns
    -------
    Snapshot

    Raises
    ------
    FileNotFoundError, OSError
        If there is no such file, it is too short or of no known format; the message says where.
    ValueError
        If there are no particles of these types, or no such columns; the message lists those that there are. For a
        sample of less than 1.

    Examples
    --------
    >>> import kith
    >>> kith.read("missing.hdf5")
    Traceback (most recent call last):
      ...
    FileNotFoundError: ...
    """
    path = _whole(path)
    wanted = (_arrays.flag(velocities, "velocities"), _arrays.flag(masses, "masses"), _arrays.flag(ids, "ids"),
              _arrays.flag(internal_energies, "internal_energies"))
    chosen = _columns(columns)
    drawn = None if sample is None else _from(1, sample, "sample"), _from(0, seed, "seed")
    snapshot = Snapshot(_opened(path, lambda name: _core.read_snapshot(name, types, *wanted, chosen, *drawn)),
                        _name_of(path))
    for warning in snapshot.header.warnings:
        warn(warning)
    return snapshot


def read_header(path: Path | Sequence[Path], *, columns: str | Sequence[str | int] | None = None) -> _core.SnapshotHeader:
    """What a file says about itself: format, counts of each type, box, time, parameters. Reads no particles.

    `columns` are those of a text table that are the coordinates, as in `kith.read`.
    """
    chosen = _columns(columns)
    return _opened(_whole(path), lambda name: _core.read_header(name, chosen))


def read_catalog(path: Path, *, members: bool = True) -> Catalog:
    """Reads a halo catalog in HDF5: one of kith's, whole, or one of Gadget-4 or AREPO, as far as its columns go.

    Parameters
    ----------
    path : str or path
        Of a catalog in several files, any of them or their stem.
    members : bool
        False leaves out the rows and ids of the members.

    Returns
    -------
    Catalog
        With the members, ids, time, redshift, parameters and provenance as far as the file has them. Positions,
        velocities and radii are stored as wide as in the snapshot, and so rounded. `velocity` is a times the peculiar
        velocity in all of them (see `kith.Catalog`); in catalogs of other codes, `center` is GroupCM or else GroupPos. Its
        `halos` are the bound halos, of files of `kith halos`, and those of SUBFIND as far as their columns go.

    Raises
    ------
    FileNotFoundError, OSError
        If there is no such file, it is damaged, or no catalog; the message says where.

    Examples
    --------
    >>> import kith
    >>> labels, halos = kith.fof([[0, 0], [5, 5], [0, 1]], 1, min_members=2, return_catalog=True)
    >>> kith.write_catalog("halos.hdf5", halos)
    >>> kith.read_catalog("halos.hdf5").members_of(0).tolist()
    [0, 2]
    """
    members = _arrays.flag(members, "members")
    core = _opened(path, lambda name: _core.read_catalog(name, members))
    for warning in core.warnings:
        warn(warning)
    return Catalog._of_file(core, _name_of(path))


def read_tipsy_array(path: Path, integers: bool | None = None) -> numpy.ndarray:
    """Reads a Tipsy auxiliary array (.grp, .iord, .den, ...): a value for each particle of a snapshot, in its order.

    Parameters
    ----------
    path : str or path
        ASCII, or binary of either byte order.
    integers : bool, optional
        Whether the numbers are whole, which binary files do not say. By default they are if the name ends in .grp, .iord
        or .igasorder, or if as floats they would all be subnormal (below 1.2e-38), as small whole numbers are.

    Returns
    -------
    array of int64, float32 or float64, shape (n,), or (n, 3) for vectors
        Those of `snapshot` are `array[snapshot.file_rows]`.

    Raises
    ------
    FileNotFoundError, OSError
        If there is no such file, or its content does not fit its count.
    """
    if integers is not None:
        integers = _arrays.flag(integers, "integers")
        return _opened(path, lambda name: _core.read_tipsy_array(name, integers))
    if _name_of(path).lower().endswith(_TIPSY_INTEGERS):
        return _opened(path, lambda name: _core.read_tipsy_array(name, True))
    values = _opened(path, lambda name: _core.read_tipsy_array(name, False))
    if values.dtype == numpy.float32 and values.ndim == 1:
        # Whole numbers of less than 2^23 are subnormal if read as floats, or, if negative, NaN.
        whole = values.view(numpy.int32)
        if whole.any() and (abs(whole.astype(numpy.int64)) < 2**23).all():
            return _opened(path, lambda name: _core.read_tipsy_array(name, True))
    return values


def write_tipsy(path: Path, snapshot: Snapshot) -> None:
    """Writes a snapshot as Tipsy binary (std: big-endian), such as a sample of a large one.

    Parameters
    ----------
    path : str or path
        Nothing is left there if writing fails.
    snapshot : Snapshot
        Of gas, dark matter and stars (types 0, 1 and 4), or without types, in 3 dimensions. Positions and velocities
        keep their type; masses become float32. The format has no box, ids or units, and what a snapshot lacks is 0.

    Raises
    ------
    ValueError
        For particles of other types, and other dimensions.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import numpy, kith
    >>> numpy.save("points.npy", numpy.random.default_rng(1).random((1000, 3)))
    >>> kith.write_tipsy("sample.std", kith.read("points.npy", sample=100, seed=7))
    >>> kith.read("sample.std").header
    <kith.SnapshotHeader: Tipsy (std, big-endian), 100 of type 1, time 0.0>
    """
    if not isinstance(snapshot, Snapshot):
        raise TypeError(f"snapshot is of type {type(snapshot).__name__}; it must be a kith.Snapshot")
    name = _name_of(path)
    if os.path.exists(name) and any(os.path.samefile(name, file) for file in snapshot.header.files):
        raise ValueError(f"'{name}' is a file of the snapshot itself; name another")
    _core.write_tipsy(os.fsencode(name), snapshot._core)


def _from(least, number, what):
    number = _arrays.as_whole(number, what)
    if not least <= number < 2**63:
        raise ValueError(f"{what} is {number}; it must be from {least} to 2^63 - 1")
    return number


def _columns(columns):
    """As texts: names, or numbers from 1."""
    if columns is None:
        return []
    if isinstance(columns, str):
        columns = columns.split(",")
    try:
        wanted = list(columns)
    except TypeError:
        raise TypeError(f"columns is of type {type(columns).__name__}; give a list of names, or of numbers from 1") from None
    if not wanted:
        raise ValueError("columns is empty; give names or numbers of columns, or leave it out")
    for column in wanted:
        if isinstance(column, bool) or not isinstance(column, (str, int, numpy.integer)):
            raise TypeError(f"columns holds {column!r} of type {type(column).__name__}; give names, or numbers from 1")
    return [str(column) for column in wanted]


def _whole(path):
    """The one path that stands for the files of a list."""
    if not isinstance(path, (list, tuple)):
        return path
    whole = _core.one_snapshot([os.fsencode(_name_of(file)) for file in path])
    if whole is None:
        raise ValueError(f"these {len(path)} files are not those of one snapshot, which is what is read at once; read each: "
                         "[kith.read(path) for path in paths]")
    return os.fsdecode(whole)


def _name_of(path):
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise TypeError(f"path is of type {type(path).__name__}; it must be the name of a file") from None
    if "\0" in name:
        raise ValueError(f"{name!r} cannot be the name of a file")
    return name


def _opened(path, function):
    name = _name_of(path)
    try:
        return function(os.fsencode(name))
    except OSError as error:
        stem = name
        while ":" in stem and not os.path.lexists(stem):  # a table's name follows the file's
            stem = stem.rpartition(":")[0]
        if not os.path.lexists(stem) and not glob.glob(glob.escape(name) + ".*"):  # the stem of several files
            raise FileNotFoundError(str(error)) from None
        raise


def write_catalog(path: Path, catalog: Catalog | DeviceCatalog, snapshot: Snapshot | None = None, *,
                  ids: AnyArray | None = None, command: str | None = None) -> None:
    """Writes a catalog as HDF5 in the fof_subhalo_tab convention (.hdf5, .h5), or as Tipsy groups (.gtp).

    Parameters
    ----------
    path : str or path
        Nothing is left there if writing fails.
    catalog : Catalog or DeviceCatalog
        One that was read from a file can be written as .gtp; for HDF5, copy the file.
    snapshot : Snapshot, optional
        Whose particles were grouped: its ids, rows and header go into the file. Without it the units that the catalog
        carries do, by name and as factors to cgs units.
    ids : whole numbers, shape (n,), optional
        Of the points, where there is no snapshot. For HDF5 alone.
    command : str, optional
        How the catalog came to be, for the record; by default the program's command line.
    """
    if isinstance(catalog, DeviceCatalog):
        catalog = catalog.to_host()
    if not isinstance(catalog, Catalog):
        raise TypeError(f"catalog is of type {type(catalog).__name__}; it must be a kith.Catalog")
    if catalog._is_part:
        raise TypeError("catalog is the part that one process describes, and not all groups; the program writes all: "
                        "mpirun kith fof")
    if snapshot is not None and not isinstance(snapshot, Snapshot):
        raise TypeError(f"snapshot is of type {type(snapshot).__name__}; it must be a kith.Snapshot, or left out")
    if snapshot is not None and ids is not None:
        raise TypeError("give a snapshot, which has its own ids, or ids")
    if command is not None and not isinstance(command, str):
        raise TypeError(f"command is of type {type(command).__name__}; it must be a text")
    name = _name_of(path)
    if catalog.path is not None:
        _write_again(name, catalog, snapshot, ids)
        return
    units = {column: unit for column, unit in catalog.units.items() if not isinstance(unit, str)}
    if snapshot is not None:
        if units:
            column, unit = next(iter(units.items()))
            raise ValueError(f"columns of the catalog carry units ({column}: {unit}), but the file would state those of the "
                             "snapshot; group plain numbers in its units, or give ids=snapshot.ids instead of the snapshot")
        if len(snapshot) != catalog._rows:
            raise ValueError(f"the catalog is of {catalog._rows} points, but the snapshot has {len(snapshot)} "
                             "particles; give the one whose particles were grouped")
        if os.path.exists(name) and any(os.path.samefile(name, file) for file in snapshot.header.files):
            raise ValueError(f"'{name}' is a file of the snapshot itself; name another")
        members = catalog._core.members
        if (catalog.ids is not None and snapshot.ids is not None and (snapshot.ids[members] != catalog.ids).any()) or (
                catalog._frame is not None and _frames.of_points(snapshot) != catalog._frame):
            raise ValueError("the catalog is of another snapshot, whose particles have other ids, or velocities and lengths "
                             "another frame; give the one whose particles were grouped")
        if "velocity" in catalog and not catalog._velocities_are_own and (
                _frames.catalog_factor(_frames.of_points(snapshot)) != 1):
            raise ValueError("the velocities of the catalog were given as an array, but the file would state them as those that "
                             "the snapshot stores, in its frame; group the snapshot without velocities=, or give "
                             "ids=snapshot.ids instead of the snapshot")
    elif catalog._velocity_factor != 1:
        raise ValueError("the velocities of the catalog are those of a snapshot that states their frame, which its file "
                         "needs, too; give the snapshot: write_catalog(path, catalog, snapshot)")
    if ids is not None and numpy.ndim(ids) == 0:
        raise TypeError("ids must be an array with a whole number for each point")
    if ids is not None and len(ids) != catalog._rows:
        raise ValueError(f"ids has {len(ids)} rows for {catalog._rows} points")
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".gtp":
        if ids is not None:
            raise ValueError(f"'{name}' has no place for ids; name an HDF5 file, or leave them out")
        time = snapshot.header.time if snapshot is not None else None
        _core.write_gtp(os.fsencode(name), catalog._core, 0.0 if time is None else time)
        return
    if suffix not in (".hdf5", ".h5"):
        raise ValueError(f"'{name}' is to hold a catalog; its name must end in .hdf5, .h5 or .gtp")
    if snapshot is None:
        core = _core.snapshot_of(catalog._core, catalog._rows, catalog._is_float64, catalog._has_masses, _to_cgs(units),
                                 None if ids is None else _arrays.as_integers(ids, numpy.uint64, "ids"))
    else:
        core = snapshot._core
    length, psi = (getattr(each, "value", each) for each in (catalog.linking_length, catalog.psi))
    parameters = {"linking_length": repr(float(length)), "min_members": str(catalog._core.min_members)}
    if psi != numpy.inf:  # of peculiar velocities, as kith fof writes it, or of an array as it was given
        parameters["psi" if catalog._velocities_are_own else "psi_as_stored"] = repr(float(psi))
    if units:
        parameters["units"] = ", ".join(f"{column}: {unit}" for column, unit in sorted(units.items()))
    _core.write_catalog(os.fsencode(name), catalog._core, core, catalog.box,
                          _shown(" ".join(sys.argv) if command is None else command),
                          "" if snapshot is None else _shown(_short_name(snapshot)), parameters)


def _to_cgs(units):
    """Factors of lengths, masses and velocities, None for those without unit; None if one is none of these, as h^-1 kpc."""
    given = [units.get(column) for column in ("center", "mass", "velocity")]
    try:
        factors = tuple(None if unit is None else float(unit.to(cgs)) for unit, cgs in zip(given, ("cm", "g", "cm / s")))
    except (TypeError, ValueError):
        return None
    return factors if any(factors) else None


def _short_name(snapshot):
    """The name that it was read by, without the folder."""
    return os.path.relpath(snapshot.path, os.path.dirname(snapshot.header.files[0]) or ".")


def _write_again(name, catalog, snapshot, ids):
    """A catalog that was read from a file."""
    if os.path.splitext(name)[1].lower() != ".gtp":
        raise ValueError(f"the catalog was read from '{catalog.path}'; copy that file, or name a .gtp file")
    if snapshot is not None or ids is not None:
        raise ValueError(f"the catalog was read from '{catalog.path}'; leave snapshot and ids out")
    missing = [column for column in ("mass", "center", "max_radius") if column not in catalog]
    if missing:
        raise ValueError(f"the catalog of '{catalog.path}' has no {' and no '.join(missing)}, which a .gtp file needs")
    if os.path.exists(name) and os.path.samefile(name, catalog.path):
        raise ValueError(f"'{name}' is the file of the catalog itself; name another")
    _core.write_gtp(os.fsencode(name), catalog._core, 0.0 if catalog.time is None else catalog.time)


def _shown(text):
    """A text that UTF-8 can hold."""
    return os.fsencode(text).decode(errors="backslashreplace")
