/** What the specification says, sentence by sentence; headings are its own. */
export const OVERVIEW = {
  'What the service does': {
    'base-path': 'All paths are relative to {base_url}/bot/v1.',
    'success-envelope': 'Every answer is JSON. Success: {ok: true, result: <value>}.',
    'failure-envelope':
      'Failure: {ok: false, error: {status, code, message}} with the same status on the HTTP line.',
    'code-stable': '`code` is stable and is what clients branch on; `message` is for a human.',
    'no-session': 'The bot has no session, wallet, calls or devices: it has this API only.',
    'readable-text': 'In a readable chat the bot sends and receives `text`.',
    'encrypted-armored': 'In an encrypted chat it sends and receives `armored`.',
    'wrong-kind':
      'The wrong kind is refused with `wrong_body_kind`, whose `expected` names the right one.',
    'bot-protected':
      'A bot that has published a key is protected: its private chats are encrypted and phones seal to that key.',
    'bot-open': 'A bot without a key is open: its private chats are readable.',
    'group-mode': 'A group with open history is readable; any other group is encrypted.',
    'two-ways-of-updates':
      'The bot fetches updates by long polling or has them POSTed to a webhook.',
    'private-everything': 'In a private chat the bot receives everything the person writes.',
    'group-addressed':
      'In a group it receives a command (with or without its name), a mention, or a reply to one of its messages.',
    'privacy-off': 'Unless the owner switched privacy mode off; then the whole room is delivered.',
    'privacy-shown': 'Members can see in the app that the whole room is delivered.',
    'phone-applies':
      'In an encrypted group the sender’s phone applies the rule and seals to the bot; the server cannot read it.',
    unavailable:
      'Not available to bots: files, secret messages, payments, wallets, calls, devices, push, phone numbers, ' +
      'inline mode, web apps, games, login buttons, reply keyboards, scheduled sends.',
    'no-joining': 'A bot does not join a chat by itself: an administrator adds it.',
    'no-history': 'A bot does not read history from before it arrived.',
    'no-searching': 'No searching for people: only resolving a typed public handle; no listing.',
  },
} as const
