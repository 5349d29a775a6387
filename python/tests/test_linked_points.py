"""Points that join groups of others, and mean separations in the box and in the universe."""

import numpy
import pytest

import kith

RANDOM = numpy.random.default_rng(8)
POINTS = RANDOM.random((400, 3))
TYPES = RANDOM.integers(0, 3, 400).astype(numpy.uint8)


def by_brute_force(length, min_members):
    """Points of types 0 and 2 join groups of type 1."""
    away = POINTS[:, None] - POINTS[TYPES == 1]
    away -= numpy.round(away)
    distances = numpy.sqrt((away**2).sum(axis=2))
    primaries = kith.fof(POINTS[TYPES == 1], length, box=1)
    nearest = distances.argmin(axis=1)
    groups = numpy.where(distances[numpy.arange(400), nearest] <= length, primaries[nearest], -1)
    kept = [group for group in range(primaries.max() + 1) if (groups[TYPES == 1] == group).sum() >= min_members]
    kept.sort(key=lambda group: (-(groups == group).sum(), numpy.flatnonzero(groups == group)[0]))
    labels = numpy.full(400, -1)
    for label, group in enumerate(kept):
        labels[groups == group] = label
    return labels


@pytest.mark.parametrize("min_members", [1, 3])
def test_secondary_points_join_the_group_of_their_nearest_primary(min_members):
    labels, catalog = kith.fof(POINTS, 0.1, box=1, types=TYPES, secondary_types=[0, 2], min_members=min_members,
                               return_catalog=True)
    expected = by_brute_force(0.1, min_members)
    assert (labels == expected).all() and len(catalog) == expected.max() + 1 > 3
    assert (catalog.count == numpy.bincount(expected[expected >= 0])).all()
    assert (catalog.count_by_type[:, 1] >= min_members).all()
    found = kith.halos(POINTS, 0.1, box=1, types=TYPES, secondary_types=[0, 2], min_members=min_members, unbind=False,
                       G=1.0, overdensities=())
    assert (found.labels == expected).all() and (found.count == catalog.count).all()


def test_secondary_points_are_refused_where_they_do_not_join():
    arguments = {"types": TYPES, "secondary_types": [0]}
    with pytest.raises(NotImplementedError, match="secondary_types and psi are given"):
        kith.fof(POINTS, 0.1, velocities=POINTS, psi=1.0, **arguments)
    with pytest.raises(NotImplementedError, match="secondary_types and a tree are given"):
        kith.fof(kith.Tree(POINTS), 0.1, **arguments)
    with pytest.raises(TypeError, match="the points have no types"):
        kith.fof(POINTS, 0.1, secondary_types=[0])
    with pytest.raises(TypeError, match="labels are given, and secondary_types, too"):
        kith.halos(POINTS, labels=kith.fof(POINTS, 0.1), unbind=False, G=1.0, **arguments)


def test_mean_separations():
    mock = kith.datasets.halos(4000, 25, seed=3)
    in_box = 25 / 4000 ** (1 / 3)
    density = mock.cosmology.mean_density
    assert (mock.uniform_mass / density) ** (1 / 3) == pytest.approx(in_box)
    lengths = [kith.fof(mock, b=0.25, mean_separation=which, return_catalog=True)[1].linking_length
               for which in ("box", "cosmology")]
    assert lengths == pytest.approx([0.25 * in_box] * 2, rel=2e-3)  # the unit of the mock's mass is rounded
    assert kith.halos(mock, b=0.25, mean_separation="cosmology").linking_length == pytest.approx(lengths[1])
    with pytest.warns(UserWarning, match="is 2 times that which their mean mass has in the universe"):
        kith.fof(mock, b=0.1, box=50)
    with pytest.raises(ValueError, match="mean_separation is 'cosmology', but only a kith.Snapshot states"):
        kith.fof(POINTS, b=0.2, mean_separation="cosmology")
    with pytest.raises(TypeError, match="but b is not given"):
        kith.fof(mock, 0.1, mean_separation="cosmology")
