#!/bin/sh
# Two Compose projects on one engine: an inventory with a database, a cache, an external archive and a container that its
# file no longer declares; and the billing of somebody else.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)

cd "$here/services"
seedkit load <<RECIPE
image inventory/store:1.6
  created 2025-02-03T10:11:12Z
  program /usr/sbin/stored stored
  pad /usr/lib/store.so 3m
  cmd /usr/sbin/stored
  step COPY stored /usr/sbin/ # buildkit
image inventory/api:2.2
  created 2025-04-14T15:20:01Z
  program /usr/sbin/apid apid
  pad /srv/app.tar 4m
  cmd /usr/sbin/apid
  port 8000/tcp
  step COPY app/ /srv # buildkit
image billing/api:5.0
  created 2025-05-02T08:01:30Z
  program /usr/sbin/apid apid
  pad /srv/app.tar 5m
  cmd /usr/sbin/apid
  port 8000/tcp
  step COPY app/ /srv # buildkit
RECIPE
cd - >/dev/null

cat > compose.yaml <<COMPOSE
name: inventory
services:
  db:
    image: inventory/store:1.6
    volumes:
      - db-data:/data
  api:
    image: inventory/api:2.2
    depends_on: [db]
    environment:
      LOG_LEVEL: info
    volumes:
      - media:/srv/media
  cache:
    image: inventory/store:1.6
    tmpfs: /data
volumes:
  db-data:
  media:
    name: media-archive
    external: true
COMPOSE
mkdir -p billing
cat > billing/compose.yaml <<COMPOSE
name: billing
services:
  api:
    image: billing/api:5.0
    volumes:
      - ledger:/srv/ledger
volumes:
  ledger:
COMPOSE

# The file once had a service `legacy`; its container has outlived it.
cp compose.yaml "$here/compose.yaml"
sed 's/^  cache:/  legacy:\n    image: inventory\/api:2.2\n&/' "$here/compose.yaml" > compose.yaml
docker volume create media-archive >/dev/null
docker compose --progress quiet create &
docker compose --progress quiet -f billing/compose.yaml create &
wait
seedkit rows 300 > "$here/stock.csv"
docker cp -q "$here/stock.csv" inventory-db-1:/data/stock.csv
docker cp -q "$here/stock.csv" inventory-api-1:/srv/media/labels-2024.csv
docker cp -q "$here/stock.csv" billing-api-1:/srv/ledger/open-items.csv
docker compose --progress quiet start &
docker compose --progress quiet -f billing/compose.yaml start &
wait
cp "$here/compose.yaml" compose.yaml

seedkit expect container inventory-db-1 inventory-api-1 inventory-cache-1 inventory-legacy-1 billing-api-1 running
seedkit expect volume inventory_db-data media-archive billing_ledger
[ "$(docker exec inventory-db-1 cat /data/stock.csv | wc -l)" -eq 300 ] || { echo "the stock file is not complete" >&2; exit 1; }
