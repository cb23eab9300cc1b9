"""Uses the generated clients against a running sandbox; prints what it saw."""
import json
import sys

import bot_api
import control_api

control_url, service_url = sys.argv[1:]
control = control_api.Client(control_url)
made = control.add_bot(username="python_bot")
person = control.add_person(username="python_person", first_name="Pia")
chat = control.add_private_chat(user_id=person["id"], bot_id=made["id"])
control.give_phone(user_id=person["id"])
control.write(user_id=person["id"], chat_id=chat["id"], text="hello")

bot = bot_api.Client(service_url, made["token"])
updates = bot.get_updates(limit=10)
message = updates[0]["message"]
keyboard = {"inlineKeyboard": [[{"text": "Go", "callbackData": "go"}]]}
sent = bot.send_message(chat_id=chat["id"], text="hi", reply_to=message["id"], markup=keyboard)
pressed = control.press(user_id=person["id"], chat_id=chat["id"], message_id=sent["id"])
bot.answer_callback(callback_id=pressed["callbackId"], text="went")
stored = control.add_media(base64="aGVsbG8=")
refusals = []
for attempt in (
    lambda: bot.get_chat(chat_id=999_999),
    lambda: control.advance(ms=-1),
    lambda: bot_api.Client(service_url, "wrong").get_me(),
):
    try:
        attempt()
    except (bot_api.ApiError, control_api.ApiError) as error:
        refusals.append([error.status, error.code])
shown = control.inbox(user_id=person["id"])
print(
    json.dumps(
        {
            "name": bot.get_me()["username"],
            "read": message["text"],
            "shown": [one["text"] for one in shown["inbox"]],
            "answer": shown["answers"][0]["text"],
            "file": bot.get_media(id=stored["mediaId"]).decode(),
            "refusals": refusals,
        }
    )
)
