# A small bot in Python that keeps running: says again what it reads. Needs nothing but Python 3.
import http.client, json, os, sys, time, urllib.error, urllib.request

api = os.environ.get("BASE_URL", "http://127.0.0.1:8700") + "/bot/v1"


def log(line):
    print(line, file=sys.stderr, flush=True)


def call(path, body=None):
    """Calls until there is an answer. Raises where the service refuses what was sent (4xx)."""
    seconds = 1
    while True:
        try:
            with urllib.request.urlopen(request(path, body), timeout=75) as answer:  # a poll waits for 50
                return json.load(answer)["result"]
        except urllib.error.HTTPError as error:
            code = code_of(error)
            if body is not None and is_final(error.code, code):
                raise RuntimeError(code) from None
            after = error.headers.get("Retry-After", "")
            wait = max(seconds, int(after)) if after.isdigit() else seconds
        except (OSError, http.client.HTTPException, ValueError) as error:
            code, wait = str(error), seconds
        log(f"{code}: trying again in {wait} s")
        time.sleep(wait)
        seconds = min(seconds * 2, 30)


def request(path, body):
    # The token is read each time, since it may have been replaced.
    with open(os.environ["BOT_TOKEN_FILE"]) as file:
        headers = {"Authorization": "Bearer " + file.read().strip(), "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    return urllib.request.Request(api + path, data, headers)


def code_of(error):
    try:
        return json.load(error)["error"]["code"]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return f"HTTP {error.code}"


def is_final(status, code):
    """Whether it would be refused again. A token can be replaced, and a pause can end."""
    return 400 <= status < 500 and status not in (401, 429) and code != "bot_paused"


def handle(update):
    message = update.get("message") or {}
    if message.get("text"):
        call("/messages", {
            "chatId": message["chat"]["id"],
            "text": "you said: " + message["text"],
            "replyTo": message["id"],
            # The same for the same update, so that the answer is given once, however often it is sent.
            "sendId": f"00000000-0000-4000-8000-{update['updateId']:012x}",
        })


log(f"running as @{call('/me')['username']}")
offset = 0
while True:
    for update in call(f"/updates?timeout=50&offset={offset}"):
        try:
            handle(update)
        except Exception as error:
            log(f"update {update['updateId']} is skipped: {error!r}")
        # Handled or skipped: the next poll confirms it, and it does not come again.
        offset = update["updateId"] + 1
