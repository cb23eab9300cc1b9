# A small bot with a webhook: nobody polls, Postern calls. Needs nothing but Python 3.
import hmac, http.client, http.server, json, os, secrets, signal, sys, time, urllib.error, urllib.request

api = os.environ.get("BASE_URL", "http://127.0.0.1:8700") + "/bot/v1"
secret = secrets.token_urlsafe(32)


class Refused(Exception):
    """The service refuses what was sent (4xx), and would refuse it again."""


class TryAgain(Exception):
    """There was no answer, or one that may be another later."""


def log(line):
    print(line, file=sys.stderr, flush=True)


def call_once(method, path, body=None):
    # The token is read each time, since it may have been replaced.
    with open(os.environ["BOT_TOKEN_FILE"]) as file:
        headers = {"Authorization": "Bearer " + file.read().strip(), "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(api + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=8) as answer:
            return json.load(answer)["result"]
    except urllib.error.HTTPError as error:
        code = code_of(error)
        # A token can be replaced, and a pause can end.
        if 400 <= error.code < 500 and error.code not in (401, 429) and code != "bot_paused":
            raise Refused(code) from None
        raise TryAgain(code) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise TryAgain(str(error)) from None


def code_of(error):
    try:
        return json.load(error)["error"]["code"]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return f"HTTP {error.code}"


def call(method, path, body=None):
    """Calls until there is an answer."""
    seconds = 1
    while True:
        try:
            return call_once(method, path, body)
        except TryAgain as error:
            log(f"{error}: trying again in {seconds} s")
        time.sleep(seconds)
        seconds = min(seconds * 2, 30)


def handle(update):
    message = update.get("message") or {}
    if message.get("text"):
        call_once("POST", "/messages", {
            "chatId": message["chat"]["id"],
            "text": "you said: " + message["text"],
            "replyTo": message["id"],
            # The same for the same update, so that the answer is given once, however often it is sent.
            "sendId": f"00000000-0000-4000-8000-{update['updateId']:012x}",
        })


class Updates(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        # 2xx says that the update is dealt with; after anything else it comes again
        self.send_response(self.answer())
        self.end_headers()

    def answer(self):
        shown = self.headers.get("X-Service-Bot-Api-Secret-Token", "")
        if not hmac.compare_digest(shown.encode(), secret.encode()):
            return 403
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            handle(json.loads(body))
        except TryAgain as error:
            log(f"{error}: the update comes again")
            return 503
        except Exception as error:
            log(f"an update is skipped: {error!r}")
        return 204

    def log_message(self, *_):
        pass


signal.signal(signal.SIGTERM, lambda *_: sys.exit())
server = http.server.HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Updates)
log(f"running as @{call('GET', '/me')['username']}")
try:
    url = f"http://127.0.0.1:{server.server_port}/updates"
    call("POST", "/webhook", {"url": url, "secret": secret})
    server.serve_forever()
except KeyboardInterrupt:
    pass
finally:
    # From here on, updates wait for whoever polls or sets the next webhook.
    try:
        call_once("DELETE", "/webhook")
        log("the webhook is removed")
    except TryAgain as error:
        sys.exit(f"the webhook is not removed: {error}")
