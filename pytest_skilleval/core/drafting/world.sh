#!/bin/sh
# Builds the Docker state in which the cases begin, inside the sandbox and without a network, and verifies that it did.
# Fill in: make this the world that your cases need, and keep `makes` in spec.yaml in step with it. The page "Seeds" of
# the documentation explains `seedkit` and what a seed may rely on. Look at the result: skilleval seed SPEC CASE
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cd "$here"

# --- programs of the images ---------------------------------------------------------------------------------
cat > webd <<'PROGRAM'
#!/bin/sh
trap 'echo "stopping"; exit 0' TERM INT
echo "listening on :8080"
while :; do sleep 3600 & wait $!; done
PROGRAM
cat > job <<'PROGRAM'
#!/bin/sh
echo "collecting figures"
echo "wrote /data/figures.csv"
PROGRAM

# --- images: everything is made here, nothing is pulled -----------------------------------------------------
seedkit load <<'RECIPE'
image shop/web:1.4
  created 2025-05-06T14:12:33Z
  program /usr/sbin/webd webd
  program /usr/bin/job job
  pad /srv/www/bundle.js.gz 3m
  cmd /usr/sbin/webd
  port 8080/tcp
  step COPY dist/ /srv/www # buildkit
image -
  created 2025-04-28T09:40:12Z
  program /usr/sbin/webd webd
  pad /srv/www/bundle.js.gz 2m
  cmd /usr/sbin/webd
  step COPY dist/ /srv/www # buildkit
RECIPE

# --- containers, volumes, networks --------------------------------------------------------------------------
docker network create shop_default >/dev/null
docker volume create shop_data >/dev/null
docker run -d --name shop-web-1 --network shop_default -v shop_data:/data shop/web:1.4 >/dev/null &
docker run -d --name shop-figures-1 --network none shop/web:1.4 job >/dev/null &
wait
seedkit rows 200 > orders.csv
docker cp -q orders.csv shop-web-1:/data/orders.csv

# --- is all of it there? ------------------------------------------------------------------------------------
seedkit expect container shop-web-1 running
seedkit expect container shop-figures-1 exited:0
seedkit expect volume shop_data
seedkit expect network shop_default
seedkit expect dangling 1
