"""A bot that counts votes. Needs nothing but Python 3."""
import json
import os
import urllib.error
import urllib.request


class Bot:
    def __init__(self, base_url: str, token: str) -> None:
        self.api = base_url + "/bot/v1"
        self.token = token
        self.offset = 0
        self.votes: dict[str, int] = {}

    def call(self, path: str, body: dict | None = None):
        request = urllib.request.Request(self.api + path)
        request.add_header("Authorization", "Bearer " + self.token)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["result"]

    def poll(self, timeout: int = 50) -> None:
        """Waits for updates and handles them."""
        for update in self.call(f"/updates?timeout={timeout}&offset={self.offset}"):
            if update["updateId"] < self.offset:
                continue  # an update may come more than once
            self.handle(update)
            self.offset = update["updateId"] + 1

    def handle(self, update: dict) -> None:
        if update["kind"] == "message":
            self.on_message(update["message"])
        elif "callbackQuery" in update:
            self.on_press(update["callbackQuery"])

    def on_message(self, message: dict) -> None:
        chat_id = message["chat"]["id"]
        if message.get("text") == "/vote":
            buttons = [[{"text": word, "callbackData": word} for word in ("yes", "no")]]
            markup = {"inlineKeyboard": buttons}
            self.call("/messages", {"chatId": chat_id, "text": "Shall we?", "markup": markup})
        elif message.get("text"):
            self.call("/messages", {"chatId": chat_id, "text": "Write /vote to vote."})

    def on_press(self, press: dict) -> None:
        word = press["data"]
        self.votes[word] = self.votes.get(word, 0) + 1
        answer = {"text": f"{word}: {self.votes[word]}"}
        try:
            self.call(f"/callbacks/{press['id']}/answer", answer)
        except urllib.error.HTTPError as error:
            if error.code != 410:  # too late to answer: the vote counts all the same
                raise


if __name__ == "__main__":
    with open(os.environ["BOT_TOKEN_FILE"]) as file:
        bot = Bot(os.environ.get("BASE_URL", "http://127.0.0.1:8700"), file.read().strip())
    while True:  # ../bots/echo.py goes on in trouble, too
        bot.poll()
