# The smallest bot in Python: says again what it reads. Needs nothing but Python 3.
import json, os, time, urllib.error, urllib.request

base = os.environ.get("BASE_URL", "http://127.0.0.1:8700") + "/bot/v1"
with open(os.environ["BOT_TOKEN_FILE"]) as file:
    headers = {"Authorization": "Bearer " + file.read().strip(), "Content-Type": "application/json"}


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(base + path, data, headers)) as answer:
                return json.load(answer)["result"]
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            time.sleep(int(error.headers.get("Retry-After", 1)))


offset = 0
while True:
    for update in call(f"/updates?timeout=50&offset={offset}"):
        offset = update["updateId"] + 1
        message = update.get("message") or {}
        if message.get("text"):
            text = "you said: " + message["text"]
            call("/messages", {"chatId": message["chat"]["id"], "text": text, "replyTo": message["id"]})
