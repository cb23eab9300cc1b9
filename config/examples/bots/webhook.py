# The smallest bot with a webhook: nobody polls, Postern calls. Needs nothing but Python 3.
import hmac, http.server, json, os, secrets, urllib.request

base = os.environ.get("BASE_URL", "http://127.0.0.1:8700") + "/bot/v1"
with open(os.environ["BOT_TOKEN_FILE"]) as file:
    headers = {"Authorization": "Bearer " + file.read().strip(), "Content-Type": "application/json"}
secret = secrets.token_urlsafe(32)


def call(path, body):
    request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["result"]


class Updates(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        shown = self.headers.get("X-Service-Bot-Api-Secret-Token", "")
        update = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = hmac.compare_digest(shown, secret)
        message = update.get("message") or {}
        if known and message.get("text"):
            text = "you said: " + message["text"]
            call("/messages", {"chatId": message["chat"]["id"], "text": text, "replyTo": message["id"]})
        # 2xx says that the update is dealt with; anything else, and it comes again
        self.send_response(204 if known else 403)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Updates)
call("/webhook", {"url": f"http://127.0.0.1:{server.server_port}/updates", "secret": secret})
server.serve_forever()
