#!/bin/sh
# The key agent without systemd, by bubblewrap: no network, its own folders, and nothing else to write.
# It runs as the user who starts it, who must not be the sidecar's: that user could read its memory.
#
#   POSTERN_KEY_PASSPHRASE_FILE=/etc/postern-agent/passphrase ./bwrap.sh /var/lib/postern-agent /run/postern-agent
set -eu
data=$1
run=$2
exec bwrap --unshare-all --die-with-parent --new-session --cap-drop ALL \
  --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin \
  --ro-bind "${INSTALLED_IN:-/opt/postern}" "${INSTALLED_IN:-/opt/postern}" \
  --ro-bind "$POSTERN_KEY_PASSPHRASE_FILE" "$POSTERN_KEY_PASSPHRASE_FILE" \
  --proc /proc --dev /dev --tmpfs /tmp --bind "$data" "$data" --bind "$run" "$run" \
  --setenv POSTERN_DATA_DIR "$data" --setenv HOME "$data" \
  "${NODE:-/usr/bin/node}" --disable-sigusr1 \
  "${INSTALLED_IN:-/opt/postern}/node_modules/postern/bin/postern.cjs" agent run --socket "$run/agent.sock"
