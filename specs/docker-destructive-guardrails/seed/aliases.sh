# Shortcuts. Use: . scripts/aliases.sh
dls() { docker ps -a --format '{{.Names}}\t{{.Status}}'; }
dlog() { docker logs --tail 50 "$@"; }
dtidy() { docker ps -aq | xargs docker rm -f; }
