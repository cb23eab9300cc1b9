# An agent that drafts a message, which a person approves before it leaves. Needs nothing but Python 3.
#   python3 agent.py CHAT WORDS...
import json, os, sys, time, urllib.error, urllib.request

base = os.environ.get("BASE_URL", "http://127.0.0.1:8700")


def call(path, body=None):
    with open(os.environ["AGENT_TOKEN_FILE"]) as file:
        headers = {"Authorization": "Bearer " + file.read().strip(), "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, data, headers), timeout=30) as answer:
            return json.load(answer)["result"]
    except urllib.error.HTTPError as error:
        sys.exit("refused: " + json.load(error)["error"]["code"])


chat, words = int(sys.argv[1]), " ".join(sys.argv[2:])
given = call("/bot/v1/messages", {"chatId": chat, "text": words})
entry = given.get("postern", {}).get("outbox")
if entry is None:
    sys.exit("sent at once: no rule of `approve` covers this call")
print(f"{entry['state']}: {entry['id']}", flush=True)
while entry["state"] in ("asked", "waiting"):
    time.sleep(1)
    entry = call("/postern/v1/outbox/" + entry["id"])
print(entry["state"] if entry["code"] is None else f"{entry['state']}: {entry['code']}")
