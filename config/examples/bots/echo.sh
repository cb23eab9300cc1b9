#!/usr/bin/env bash
# A small bot in shell that keeps running: says again what it reads. Needs curl 7.84 and jq.
set -uo pipefail
api=${BASE_URL:-http://127.0.0.1:8700}/bot/v1
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# Calls until there is an answer, and prints its result. Fails where a message is refused (4xx).
call() {
  local seconds=1 said status after code
  while true; do
    # The token goes in by standard input: arguments can be read by every user of the machine. It is
    # read each time, since it may have been replaced. A poll waits for 50 seconds.
    : >"$answer"
    said=$(curl -sS --max-time 75 -o "$answer" -w '%{http_code} %header{retry-after}' -H @- \
      -H 'Content-Type: application/json' "$@" <<<"Authorization: Bearer $(<"$BOT_TOKEN_FILE")") ||
      said=000
    read -r status after <<<"$said"
    if [[ $status == 2* ]] && jq -ce .result "$answer"; then return; fi
    code=$(jq -r '.error.code // empty' "$answer" 2>/dev/null)
    # Refused for good? A token can be replaced, and a pause can end.
    if [[ $status == 4* && $status != 401 && $status != 429 && $code != bot_paused && $* == *--data* ]]
    then
      echo "$code" >&2
      return 1
    fi
    [[ $after =~ ^[0-9]+$ && $after -gt $seconds ]] || after=$seconds
    echo "${code:-no answer} ($status): trying again in $after s" >&2
    sleep "$after"
    seconds=$((seconds < 16 ? seconds * 2 : 30))
  done
}

handle() {
  local text send_id body
  text=$(jq -r '.message.text // empty' <<<"$1") || return
  [ -n "$text" ] || return 0
  # The same for the same update, so that the answer is given once, however often it is sent.
  send_id=$(printf '00000000-0000-4000-8000-%012x' "$(jq .updateId <<<"$1")")
  body=$(jq -ce --arg sendId "$send_id" '.message |
    {chatId: .chat.id, text: ("you said: " + .text), replyTo: .id, $sendId}' <<<"$1") || return
  call "$api/messages" --data-raw "$body" >/dev/null
}

echo "running as @$(call "$api/me" | jq -r .username)" >&2
offset=0
while true; do
  while read -r update; do
    id=$(jq .updateId <<<"$update")
    handle "$update" || echo "update $id is skipped" >&2
    # Handled or skipped: the next poll confirms it, and it does not come again.
    offset=$((id + 1))
  done < <(call "$api/updates?timeout=50&offset=$offset" | jq -c '.[]')
done
