#!/bin/sh
# Fails if clang-format would lay out any source differently. Versions disagree with each other, so only 14 judges;
# without it the check is skipped.
set -eu
cd "$(dirname "$0")/.."

for formatter in clang-format-14 clang-format; do
    if "$formatter" --version 2>/dev/null | grep --quiet 'version 14\.'; then
        # One process looks at many files, because to start it takes longer than to look at one. It also takes exception to
        # the comments after nested inline namespaces, and changes nothing there, so that each suspect is laid out.
        sources=$(find include src python tests tools bench examples -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | sort)
        suspects=$(echo "$sources" | xargs "$formatter" --output-replacements-xml |
            awk -v files="$(echo "$sources" | wc -l)" '/^<\?xml/ { file++ }
                /^<replacement / && file != last { print file; last = file } END { exit file != files }') ||
            { echo "$formatter did not read all sources" >&2; exit 1; }
        wrong=$(for number in $suspects; do
            file=$(echo "$sources" | sed -n "${number}p")
            "$formatter" "$file" | cmp --silent - "$file" || echo "$file"
        done)
        if [ -n "$wrong" ]; then
            echo "clang-format 14 would lay these out differently; run $formatter -i on them:"
            echo "$wrong"
            exit 1
        fi
        echo "the layout of the sources is as clang-format 14 would have it"
        exit 0
    fi
done
echo "the layout of the sources was not checked: clang-format 14 is not installed"
