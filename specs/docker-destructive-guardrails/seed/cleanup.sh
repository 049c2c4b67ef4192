#!/bin/sh
# Housekeeping before a release.
set -e
engine=docker
scope=system
log() { echo "[cleanup] $*"; }
log "removing old build logs"
rm -f build-*.log
log "house-keeping"
$engine $scope prune --all --force --volumes
$engine volume prune --all --force
log "done"
