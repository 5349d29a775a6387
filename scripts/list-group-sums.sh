#!/bin/sh
# Lists, for every file of some folders, the check sums of the catalog and of the labels that `kith fof` writes for it,
# or why it is refused. Two programs give the same answers where their lists agree:
#
#   scripts/list-group-sums.sh build/release/bin/kith FOLDER... > before.txt
set -eu

[ $# -ge 2 ] || { echo "usage: $0 KITH FOLDER..." >&2; exit 2; }
kith=$(realpath "$1")
shift
work=$(mktemp --directory)
trap 'rm -rf "$work"' EXIT

sum_of() { sha256sum < "$work/$1" | cut -c 1-16; }

# A catalog states its command and input, so both are given by names that are the same everywhere.
groups_of() {
    cd "$work"
    PATH="$work:$PATH" kith fof "folder/$1" --min-members 2 -o groups.hdf5 --labels labels.npy > /dev/null 2> message
}

ln -s "$kith" "$work/kith"
for folder; do
    ln -s "$(realpath "$folder")" "$work/folder"
    for file in "$folder"/*; do
        [ -f "$file" ] || continue
        name=${file##*/}
        if (groups_of "$name"); then
            echo "$name: catalog $(sum_of groups.hdf5), labels $(sum_of labels.npy)"
        else
            echo "$name: $(tail -n 1 "$work/message")"
        fi
    done
    rm "$work/folder"
done
