#!/bin/sh
# Makes a backup of a running DuskDB, tries to restore it, and keeps the newest ones:
#
#   DUSKDB_URI=mongodb://backup:…@127.0.0.1:27017 backup.sh /var/backups/duskdb 14
#
# It runs on the server's machine, since the server writes the directory: let the server's
# user own it. The user of the URI needs the role hostManager. Any failure ends the script
# with an error and leaves the older backups as they are.
set -eu

fail() { echo "backup.sh: $1" >&2; exit 1; }

PATH=$PATH:/usr/local/bin # which cron leaves out
[ $# -ge 1 ] || fail "name the directory of the backups"
backups=$1 keep=${2:-14}
command -v duskdb >/dev/null || fail "duskdb is not on the PATH, $PATH"
[ -d "$backups" ] || fail "there is no directory $backups: make it, and let the user of the server own it"
name=$backups/duskdb-$(date -u +%Y%m%dT%H%M%SZ)

duskdb backup --out "$name"

# The drill: a backup that was never restored is a hope. The copy is read as a whole, then
# a server starts on it, which removes nothing of it, and answers.
trial=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$trial"' EXIT
duskdb restore "$name" --dbpath "$trial/data" >"$trial/report"
engine=$(sed -n 's/^storage engine \([a-z]*\):.*/\1/p' "$trial/report")
duskdb --dbpath "$trial/data" --storageEngine "$engine" --port 0 --setParameter ttlMonitorEnabled=false >"$trial/out" 2>"$trial/log" &
server=$!
for _ in $(seq 600); do
    grep -q '^duskdb listening on ' "$trial/out" && break
    kill -0 "$server" 2>/dev/null || { cat "$trial/log" >&2; exit 1; }
    sleep 0.1
done
uri=$(sed -n 's/^duskdb listening on //p' "$trial/out")
duskdb ping "$uri" --timeout 10s
kill "$server"
wait "$server"
server=
tail -n 2 "$trial/report"

# Retention: the newest ones stay.
find "$backups" -maxdepth 1 -name 'duskdb-*Z' -type d | sort -r | tail -n "+$((keep + 1))" | while read -r old; do
    rm -rf "$old"
done
echo "$name is a good backup"
