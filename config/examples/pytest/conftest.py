"""Starts the sandbox, and a sidecar before it, for the tests of a bot."""
import json
import os
import shlex
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from bot import Bot

POSTERN = shlex.split(os.environ.get("POSTERN", "postern"))
HOW_TO_NAME = "set POSTERN to what starts it: POSTERN='node /path/to/postern/bin/postern.cjs' pytest"


class Sandbox:
    """A running sandbox. What its control can do: GET /openapi.json of `control_url`."""

    def __init__(self, url: str, control_url: str) -> None:
        self.url = url
        self.control_url = control_url

    def control(self, operation: str, **given):
        request = urllib.request.Request(f"{self.control_url}/{operation}")
        request.data = json.dumps(given).encode()
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["result"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["error"]["message"]) from None


class Person:
    """A person who has a phone, and a private chat with the bot."""

    def __init__(self, sandbox: Sandbox, username: str, bot_id: int) -> None:
        self.sandbox = sandbox
        self.id = sandbox.control("addPerson", username=username)["id"]
        sandbox.control("givePhone", userId=self.id)
        self.chat_id = sandbox.control("addPrivateChat", userId=self.id, botId=bot_id)["id"]

    def write(self, text: str) -> None:
        self.sandbox.control("write", userId=self.id, chatId=self.chat_id, text=text)

    def press(self, message_id: int, data: str) -> None:
        where = {"userId": self.id, "chatId": self.chat_id}
        self.sandbox.control("press", **where, messageId=message_id, data=data)

    @property
    def phone(self) -> dict:
        """What the phone showed: `inbox`, `answers`, `keyChanges`."""
        return self.sandbox.control("inbox", userId=self.id)


@pytest.fixture(scope="session")
def sandbox():
    if shutil.which(POSTERN[0]) is None:
        pytest.exit(f"there is no program {POSTERN[0]}; {HOW_TO_NAME}", returncode=4)
    command = [*POSTERN, "sandbox", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        line = process.stdout.readline()
        assert line, f"{shlex.join(command)} ended with {process.wait()}"
        try:
            addresses = json.loads(line)
            yield Sandbox(addresses["url"], addresses["controlUrl"])
        finally:
            process.terminate()


@pytest.fixture
def world(sandbox, request):
    """A bot and a person of this test's own: its token, its id, and the person."""
    name = f"{abs(hash(request.node.nodeid)) % 10**12}"
    made = sandbox.control("addBot", username=f"bot_{name}")
    return made["token"], made["id"], Person(sandbox, f"person_{name}", made["id"])


def play(file: str, bot: Bot, control_url: str) -> None:
    """Plays a scenario file while the bot runs; fails with the step that differs."""
    command = [*POSTERN, "sandbox", "play", file, "--control", control_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            bot.poll(timeout=1)
        assert process.returncode == 0, process.stdout.read()


@pytest.fixture
def bot(sandbox, world):
    token, _, _ = world
    return Bot(sandbox.url, token)


@pytest.fixture
def person(world):
    return world[2]


@pytest.fixture
def sidecar(sandbox, world, tmp_path):
    """Base URL of a sidecar before the bot of this test, which is protected then."""
    token, _, _ = world
    settings = {
        "POSTERN_UPSTREAM_URL": sandbox.url,
        "POSTERN_BOT_TOKEN": token,
        "POSTERN_DATA_DIR": str(tmp_path),
        "POSTERN_KEY_PASSPHRASE": "only for tests",
        "POSTERN_LISTEN_PORT": "0",
        "POSTERN_ADMIN_PORT": "0",
    }
    command = [*POSTERN, "run"]
    environment = {**os.environ, **settings}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True) as process:
        try:
            listening = wait_until_listening(process)
            wait_until_ready(listening["admin"])
            yield listening["bot"]
        finally:
            process.terminate()


def wait_until_listening(process: subprocess.Popen) -> dict:
    said = []
    for line in process.stderr:
        said.append(line)
        if '"msg":"listening"' in line:
            # Its log must not stand still.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return json.loads(line)
    raise AssertionError("the sidecar did not start:\n" + "".join(said))


def wait_until_ready(admin_url: str) -> None:
    for _ in range(300):
        try:
            urllib.request.urlopen(admin_url + "/readyz").close()
            return
        except urllib.error.HTTPError as error:
            reasons = json.load(error)["reasons"]
            time.sleep(0.1)
    raise AssertionError("the sidecar is not ready: " + json.dumps(reasons, indent=2))
