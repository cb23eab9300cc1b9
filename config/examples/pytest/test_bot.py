from bot import Bot
from conftest import play


def vote(bot, person):
    person.write("/vote")
    bot.poll()
    return person.phone["inbox"][-1]


def test_explains_itself(bot, person):
    person.write("hello")
    bot.poll()
    assert person.phone["inbox"][-1]["text"] == "Write /vote to vote."


def test_counts_a_vote_and_tells_the_phone_that_pressed(bot, person):
    question = vote(bot, person)
    assert question["text"] == "Shall we?"
    person.press(question["messageId"], "yes")
    bot.poll()
    assert bot.votes == {"yes": 1}
    assert person.phone["answers"][-1]["text"] == "yes: 1"


def test_counts_a_vote_that_it_answers_too_late(bot, person, sandbox):
    question = vote(bot, person)
    person.press(question["messageId"], "no")
    sandbox.control("advance", ms=61_000)
    bot.poll()
    assert bot.votes == {"no": 1}
    assert person.phone["answers"] == []


def test_answers_an_update_once_that_comes_twice(bot, person, sandbox, world):
    person.write("hello")
    bot.poll()
    sandbox.control("fault", name="keep-confirmed", botId=world[1], times=1)
    bot.poll(timeout=0)
    answers = [shown for shown in person.phone["inbox"] if shown["fromId"] == world[1]]
    assert len(answers) == 1


def test_is_sealed_and_signed_through_the_sidecar(sidecar, sandbox, world):
    token, _, person = world
    bot = Bot(sidecar, token)
    sandbox.control("clearTranscript")
    shown = vote(bot, person)
    assert (shown["text"], shown["verdict"]) == ("Shall we?", "verified")
    assert sandbox.control("search", words="Shall we?") == []  # the service saw none of it


def test_does_what_a_chat_expects_that_was_saved_on_the_page(sandbox):
    world = sandbox.control("addWorld")
    bot = Bot(world["url"], world["bots"][0]["token"])
    play("vote.json", bot, world["controlUrl"])
