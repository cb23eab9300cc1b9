/** A scene as a test for pytest, with nothing but Python's own library. */
import { variableOf, withVariables } from './variables.js'

/** @typedef {import('./scene.js').Scene} Scene */

const PRELUDE = String.raw`import json
import os
import time
import urllib.parse
import urllib.request

_control = urllib.parse.urlsplit(os.environ.get("POSTERN_SANDBOX_CONTROL") or CONTROL)
_base = f"{_control.scheme}://{_control.netloc.rpartition('@')[2]}{_control.path.rstrip('/')}"
_headers = {"content-type": "application/json"}
if _control.password:
    _headers["authorization"] = f"Bearer {urllib.parse.unquote(_control.password)}"


def call(operation, **given):
    body = json.dumps({name: value for name, value in given.items() if value is not None})
    request = urllib.request.Request(f"{_base}/{operation}", body.encode(), _headers)
    try:
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer).get("result")
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{operation}: {error.read().decode()}") from None


def by_handle(listed, handle):
    return next((one["id"] for one in call(listed) if one["username"] == handle), None)


def person(username, first_name):
    known = by_handle("people", username)
    found = known or call("addPerson", username=username, firstName=first_name)["id"]
    call("givePhone", userId=found)
    return found


def bot(username):
    found = by_handle("bots", username)
    assert found is not None, f"there is no bot @{username} in this sandbox"
    return found


def room(title, kind, members, history_visible):
    known = next((one for one in call("chats") if one["title"] == title), None)
    return known or call(
        "addRoom", kind=kind, title=title, members=members, historyVisible=history_visible
    )


def begin(chat):
    """A chat, and what is known of it: what follows is new."""
    seen = {one["id"] for one in call("messages", chatId=chat["id"])}
    return {"id": chat["id"], "seen": seen}


def say(user, chat, text, reply_to=None):
    sent = call("write", userId=user, chatId=chat["id"], text=text, replyTo=reply_to)
    return sent["messageId"]


def attach(user, chat, base64, text=None):
    return call("sendMedia", userId=user, chatId=chat["id"], base64=base64, text=text)["messageId"]


def expects(user, chat, sender, text):
    """Waits until the phone shows what the bot said."""
    end = time.monotonic() + 15
    while True:
        shown = call("screen", userId=user, chatId=chat["id"])["messages"]
        fresh = [
            one for one in shown if one["fromId"] == sender and one["messageId"] not in chat["seen"]
        ]
        for one in fresh:
            if one["text"] == text:
                chat["seen"].add(one["messageId"])
                return one["messageId"]
        assert time.monotonic() < end, f"{text!r} did not come, but {[one['text'] for one in fresh]}"
        time.sleep(0.2)


def press(user, chat, data, answer=None):
    def has(message):
        rows = (message.get("markup") or {}).get("inlineKeyboard", [])
        return any(button.get("callbackData") == data for row in rows for button in row)

    shown = call("screen", userId=user, chatId=chat["id"])["messages"]
    message = [one["messageId"] for one in shown if has(one)][-1]
    last = call("inbox", userId=user, after=10**9)["last"]
    call("press", userId=user, chatId=chat["id"], messageId=message, data=data)
    if answer is not None:
        came = call("inbox", userId=user, kinds=["answer"], after=last, wait=15000)["answers"]
        assert answer in [one["text"] for one in came]


def fault(chat=None, user=None, certificate_of=None, **how):
    certificate = call("certificate", userId=certificate_of) if certificate_of else {}
    call("fault", chatId=chat and chat["id"], userId=user, **how, **certificate)
`

/** @param {Scene} scene */
export function pytestOf(scene) {
  const { people, bots, chats, steps, control } = withVariables(scene)
  const lines = [
    ...people.map(
      (one) => `${variableOf(one.handle)} = person(${py(one.handle)}, ${py(one.name)})`,
    ),
    ...bots.map((one) => `${variableOf(one.handle)} = bot(${py(one.handle)})`),
    ...chats.map(({ key, person, bot, title, kind, members, isOpen }) =>
      person === null
        ? `${key} = begin(room(${py(title)}, ${py(kind)}, [${members.join(', ')}], ${py(isOpen)}))`
        : `${key} = begin(call("addPrivateChat", userId=${person}, botId=${bot}))`,
    ),
    'call("clearFaults")',
    ...steps.map((step, index) => lineOf(step, index)),
    'call("clearFaults")',
  ]
  return `# Saved from the page of a Postern sandbox. Start the sandbox with the bot, such as with
# \`postern dev -- …\`, and run: pytest test_saved.py
${PRELUDE.replace('or CONTROL)', `or ${py(control)})`)}

def test_saved():
${lines.map((line) => `    ${line}`).join('\n')}
`
}

/** @param {import('./scene.js').Step} step @param {number} index */
function lineOf(step, index) {
  switch (step.do) {
    case 'say': {
      const reply = step.reply === null ? '' : `, step${step.reply}`
      return `step${index} = say(${step.who}, ${step.chat}, ${py(step.text)}${reply})`
    }
    case 'attach':
      return `step${index} = attach(${step.who}, ${step.chat}, ${py(step.base64)}${step.text === '' ? '' : `, ${py(step.text)}`})`
    case 'expect':
      return `step${index} = expects(${step.who}, ${step.chat}, ${step.from}, ${py(step.text)})`
    case 'press':
      return `press(${step.who}, ${step.chat}, ${py(step.data)}${step.answer === null ? '' : `, ${py(step.answer)}`})`
    case 'clock':
      return `call("advance", ms=${step.ms})`
    case 'clear':
      return 'call("clearFaults")'
    case 'fault':
    default: {
      const fields = Object.entries(step.fault).map(([field, value]) => {
        if (field === 'certificateOf') return `certificate_of=${value}`
        return ['chat', 'user'].includes(field) ? `${field}=${value}` : `${field}=${py(value)}`
      })
      return `fault(${fields.join(', ')})`
    }
  }
}

/** A value as Python writes it. @param {unknown} value @returns {string} */
function py(value) {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map((one) => py(one)).join(', ')}]`
  if (typeof value === 'object') {
    const entries = Object.entries(value).map(([name, one]) => `${py(name)}: ${py(one)}`)
    return `{${entries.join(', ')}}`
  }
  return JSON.stringify(value)
}
