#!/usr/bin/env bash
# The smallest bot in shell: says again what it reads. Needs curl and jq.
set -euo pipefail
base=${BASE_URL:-http://127.0.0.1:8700}/bot/v1
authorization="Authorization: Bearer $(cat "$BOT_TOKEN_FILE")"

# The token goes in by standard input: arguments can be read by every user of the machine.
call() {
  curl -fsS --retry 10 -H @- -H 'Content-Type: application/json' "$@" <<<"$authorization"
}

offset=0
while true; do
  updates=$(call "$base/updates?timeout=50&offset=$offset" | jq -c '.result[]')
  while read -r update; do
    [ -n "$update" ] || continue
    offset=$(jq '.updateId + 1' <<<"$update")
    answer=$(jq -c '.message | select(.text) |
      {chatId: .chat.id, text: ("you said: " + .text), replyTo: .id}' <<<"$update")
    [ -z "$answer" ] || call "$base/messages" --data-raw "$answer" >/dev/null
  done <<<"$updates"
done
