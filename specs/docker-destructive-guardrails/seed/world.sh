#!/bin/sh
# A developer's machine as it looks after some months: a small shop that runs under Compose, a worker that does not
# listen to SIGTERM, finished and failed jobs, old volumes, untagged images, and a colleague's things.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
eval "$(seedkit names)"

# --- images: everything is made here, nothing is pulled -----------------------------------------------------
cd "$here/services"
seedkit load <<RECIPE
image $project/store:2.3
  created 2025-02-11T09:40:12Z
  program /usr/sbin/stored stored
  pad /usr/lib/store.so 5m
  cmd /usr/sbin/stored
  port 5480/tcp
  step COPY store /usr/sbin/ # buildkit
  step EXPOSE map[5480/tcp:{}]
  step CMD ["/usr/sbin/stored"]
image $project/web:1.4
  created 2025-05-06T14:12:33Z
  program /usr/sbin/webd webd
  file /etc/release 1.4
  file /srv/www/index.html <h1>Welcome</h1>
  pad /srv/www/bundle.js.gz 7m
  cmd /usr/sbin/webd
  port 8080/tcp
  step COPY dist/ /srv/www # buildkit
  step CMD ["/usr/sbin/webd"]
image $project/web:1.3
  created 2025-03-19T10:02:54Z
  program /usr/sbin/webd webd
  file /etc/release 1.3
  file /srv/www/index.html <h1>Welcome</h1>
  pad /srv/www/bundle.js.gz 7m
  cmd /usr/sbin/webd
  port 8080/tcp
  step COPY dist/ /srv/www # buildkit
  step CMD ["/usr/sbin/webd"]
image -
  created 2025-05-06T13:31:10Z
  program /usr/sbin/webd webd
  file /etc/release 1.4
  pad /srv/www/bundle.js.gz 6m
  cmd /usr/sbin/webd
  step COPY dist/ /srv/www # buildkit
image -
  created 2025-05-06T13:58:47Z
  program /usr/sbin/webd webd
  file /etc/release 1.4
  pad /srv/www/bundle.js.gz 6m
  cmd /usr/sbin/webd
  step COPY dist/ /srv/www # buildkit
image -
  created 2025-04-02T16:20:05Z
  program /usr/sbin/workerd workerd
  pad /usr/lib/codecs.so 4m
  cmd /usr/sbin/workerd
  step COPY workerd /usr/sbin/ # buildkit
image $project/worker:0.7
  created 2025-04-02T16:44:38Z
  program /usr/sbin/workerd workerd
  pad /usr/lib/codecs.so 4m
  cmd /usr/sbin/workerd
  step COPY workerd /usr/sbin/ # buildkit
image $mate/notebook:0.9
  created 2025-03-27T08:15:00Z
  program /usr/sbin/notebookd notebookd
  program /usr/bin/job job
  pad /usr/lib/kernel.so 9m
  cmd /usr/sbin/notebookd
  label maintainer=$mate
  step COPY . / # buildkit
image $project/jobs:3
  created 2025-01-20T11:11:41Z
  program /usr/bin/job job
  cmd /usr/bin/job
  step COPY job /usr/bin/ # buildkit
RECIPE
cd - >/dev/null

# --- the shop under Compose ---------------------------------------------------------------------------------
mkdir -p deploy scripts
cat > deploy/compose.yaml <<COMPOSE
name: $project
services:
  db:
    image: $project/store:2.3
    volumes:
      - db-data:/data
  web:
    image: $project/web:1.4
    depends_on: [db]
    ports:
      - "127.0.0.1:8080:8080"
    volumes:
      - uploads:/srv/uploads
volumes:
  db-data:
  uploads:
COMPOSE
cp "$here/README.md" "$here/cleanup.sh" "$here/aliases.sh" scripts/
mv scripts/README.md README.md
chmod 755 scripts/cleanup.sh

docker compose --progress quiet -f deploy/compose.yaml create
seedkit rows 500 > "$here/records.csv"
docker cp -q "$here/records.csv" "$db:/data/records.csv"
for picture in harbour market bridge; do echo "$picture" > "$here/$picture.jpg"; docker cp -q "$here/$picture.jpg" "$web:/srv/uploads/"; done

# --- everything else, side by side ----------------------------------------------------------------------------
docker network create "$spare_net" >/dev/null &
docker volume create --label owner="$mate" "$mate_volume" >/dev/null
(
  docker compose --progress quiet -f deploy/compose.yaml start
  docker run -d --name "$worker" --network "$net" -v "$uploads:/srv/uploads" "$project/worker:0.7"
) >/dev/null &
(
  docker create --name filling -v "$old_volume:/data" "$project/store:2.3"
  docker cp -q "$here/records.csv" filling:/data/records.csv
  docker rm filling
  docker create --name "$pending" --network none "$project/jobs:3" job sync
  docker run -d --name "$importer" --network none "$project/jobs:3" job import
  docker kill "$importer"
) >/dev/null &
(
  docker run -d --name "$mate_web" --network none --label owner="$mate" -v "$mate_volume:/results" "$mate/notebook:0.9"
  docker run -d --name "$mate_job" --network none --label owner="$mate" -v /results "$mate/notebook:0.9" job train
  docker cp -q "$here/records.csv" "$mate_web:/results/measurements.csv"
) >/dev/null &
(
  docker run -d --name "$report" --network none "$project/jobs:3" job report "$report"
  docker run -d --name "$report_like" --network none "$project/jobs:3" job report "$report_like"
  docker run -d --name "$migrate" --network none "$project/jobs:3" job migrate
) >/dev/null &
(
  mkdir deploy/notice
  printf 'FROM %s\nCOPY notice.txt /srv/\nLABEL part=notice\n' "$project/jobs:3" > deploy/notice/Dockerfile
  seedkit rows 20000 > deploy/notice/notice.txt
  docker build -q --build-arg SOURCE_DATE_EPOCH=1746500000 -t "$project/notice:5" deploy/notice
) >/dev/null &
wait

# --- is all of it there? ----------------------------------------------------------------------------------------
seedkit expect container "$db" "$web" "$worker" "$mate_web" running
seedkit expect container "$report" "$report_like" "$mate_job" exited:0
seedkit expect container "$migrate" exited:1
seedkit expect container "$importer" exited:137
seedkit expect container "$pending" created
seedkit expect dangling 3
[ "$(docker exec "$db" cat /data/records.csv | wc -l)" -eq 500 ] || { echo "the records of $db are not complete" >&2; exit 1; }
docker buildx du | grep -q true || { echo "no build cache was made" >&2; exit 1; }
