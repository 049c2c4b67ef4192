#!/bin/sh
# The same machine with a disk that is nearly full, and a site whose build needs a little more than there is.
# It fills what there is, so the spec must limit the disk of a case that uses it.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
eval "$(seedkit names)"
left=10                                     # MB to leave; the build needs 16

"$here/world.sh"
mkdir -p deploy/site/dist
cat > deploy/site/Dockerfile <<DOCKERFILE
FROM $project/web:1.4
COPY dist/ /srv/www/
RUN dd if=/dev/zero of=/srv/www/search.idx bs=1M count=16
DOCKERFILE
echo '<h1>Coming soon</h1>' > deploy/site/dist/index.html

free() { df -Pm "$(docker info -f '{{.DockerRootDir}}')" | awk 'NR == 2 { print $4 }'; }
before=$(free)
if [ "$before" -gt 1000 ]; then
  echo "the disk has $before MB free, too many to fill: limit the disk in the spec" >&2
  exit 1
fi
docker run --rm --network none -v "$old_volume:/data" "$project/jobs:3" \
  dd if=/dev/zero of=/data/records.dump bs=1M count=$((before - left)) 2>/dev/null
after=$(free)
[ "$after" -le $((left + 2)) ] || { echo "the disk still has $after MB free" >&2; exit 1; }
