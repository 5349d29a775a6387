#!/bin/sh
# The main job, end to end: simulate a small universe, find its halos, draw them, measure the density around every
# particle. Usage: demo.sh PROGRAM FOLDER. A snapshot that is already there is used again.
set -eu
here=$(dirname "$0")
kith=$1
folder=$2
python=${PYTHON:-/usr/bin/python3} # the one that the distribution's numpy and h5py belong to
mkdir -p "$folder"

snapshot=$folder/cosmic_box.hdf5
if [ ! -e "$snapshot" ]; then
    echo "== A universe of 262,144 particles: 64 Mpc/h wide, from redshift 49 to today (about half a minute)"
    "$python" "$here/cosmic_box.py" --n 64 "$snapshot"
fi

echo
echo "== What the file holds: kith info"
"$kith" info "$snapshot"

echo
echo "== Its halos: kith fof, linking length 0.2 mean separations, at least 20 particles"
"$kith" fof "$snapshot" -b 0.2 --min-members 20 -o "$folder/halos.hdf5" --labels "$folder/labels.npy" \
    --map "$folder/map.png"

echo
echo "== The 16 nearest neighbors of every particle: kith knn"
"$kith" knn "$snapshot" -k 16 -o "$folder/neighbors.npz"

"$python" - "$folder" <<'END'
import sys
import h5py
import numpy

folder = sys.argv[1]
# Sixteen particles, itself included, within the distance to the farthest of them: the density around each particle.
radius = numpy.load(folder + "/neighbors.npz")["distances"][:, -1].astype(float)
with h5py.File(folder + "/cosmic_box.hdf5") as snapshot:
    mean = len(radius) / float(snapshot["Header"].attrs["BoxSize"]) ** 3
density = 16 / (4 / 3 * numpy.pi * radius**3) / mean
labels = numpy.load(folder + "/labels.npy")
low, median, high = numpy.percentile(density, (10, 50, 90))
print(f"""
== Density around a particle, in units of the mean
all particles  median {median:.1f}; a tenth below {low:.2f}, a tenth above {high:.0f}
in halos       median {numpy.median(density[labels >= 0]):.0f} ({numpy.mean(labels >= 0):.0%} of the particles)
elsewhere      median {numpy.median(density[labels < 0]):.2f}""")
END

cat <<END

The results are in $folder/:
  cosmic_box.hdf5  the snapshot: positions (Mpc/h), velocities, ids, as Gadget-4 writes them
  map.png          the projected density, with the largest halos circled
  halos.hdf5       the catalog: Group/GroupLen, GroupMass (1e10 Msun/h), GroupPos, GroupVel, and each halo's members
  labels.npy       the halo of every particle: 0 is the largest, -1 is none
  neighbors.npz    indices and distances of the 16 nearest particles of each, nearest first
END
