export const ENDPOINT_RULES = {
  Endpoints: {
    'json-bodies': 'Bodies are JSON (Content-Type: application/json).',
    'error-envelope-always': 'Every error answer is the error envelope.',
  },
  'GET /me': { 'me-while-paused': 'Works while paused.' },
  'GET /updates': {
    'updates-query':
      'offset int >= 0 (optional), limit 1..100 (default 100), timeout 0..50 s (default 0).',
    'updates-order': 'Array of Update, oldest first, at most `limit`.',
    'updates-empty': 'Empty when nothing arrived before `timeout`.',
    'updates-offset': '`offset` confirms: every update with updateId below it is deleted for good.',
    'updates-no-offset': 'Without `offset`, everything still queued is returned.',
    'updates-wait': 'With `timeout` the call waits until an update arrives or time runs out.',
    'updates-one-poll':
      'One poll per bot at a time: a second call ends the first at once with an empty list.',
  },
  'GET /webhook': { 'webhook-while-paused': 'Works while paused.' },
  'POST /webhook': {
    'webhook-url':
      'url: max 1024, absolute https, no credentials, no fragment, must resolve to a public address.',
    'webhook-secret': 'secret: optional, 1..256 of A-Z a-z 0-9 _ -.',
    'webhook-no-other': 'No other fields.',
    'webhook-result': 'Result: {url, hasSecret, pending}.',
  },
  'DELETE /webhook': { 'webhook-delete': 'Result: {url: null, pending}. Works while paused.' },
  'PUT /key': {
    'key-body':
      'publicKey: required, max 65536, an armored public key block; fingerprint: required, 40 or 64 hex.',
    'key-as-given': 'The server takes the fingerprint from the body as given.',
    'key-v6': 'Phones cannot use v6 keys.',
    'key-result': 'Result: {fingerprint, mode: protected}.',
    'key-no-removal': 'There is no operation to remove the key.',
  },
  'GET /commands': {
    'commands-get': 'Without scope, an array of CommandScope; with it, an array of Command.',
  },
  'PUT /commands': {
    'commands-put':
      'scope (default `default`); commands: required, max 100 items. No other fields.',
    'commands-replace': 'Replaces the whole list of that scope.',
    'commands-fold': 'Duplicate names fold to the first.',
    'commands-description':
      'Descriptions have runs of whitespace folded before the 256 limit; control characters are refused.',
    'commands-names': 'Names are trimmed and lower-cased.',
    'commands-private-scopes': 'In a private chat: private, then default.',
    'commands-group-scopes':
      'In a group: chat:<id>, then groupAdmins for administrators, then groups, then default.',
    'commands-empty-scope': 'An empty scope does not hide a wider one.',
    'commands-console': 'The owner may edit the same lists in the console; the last writer wins.',
    'commands-result': 'Result: CommandScope.',
    'commands-chat': '404 for a chat:<id> scope naming a chat the bot is not in.',
  },
  'DELETE /commands': {
    'commands-delete': 'scope (default `default`). Result: CommandScope with no commands.',
  },
  'POST /messages': {
    'send-fields':
      'chatId required; replyTo, markup, silent, sendId optional; one of text/armored.',
    'send-text':
      'text: no control characters except newline and tab; blank after trimming is refused.',
    'send-armored': 'armored: an ASCII-armoured OpenPGP message.',
    'send-reply': 'replyTo: message of the same chat; a wrong id is silently dropped.',
    'send-silent': 'silent: channels only.',
    'send-kind': 'Wrong kind gives 400 wrong_body_kind with `expected`.',
    'send-sealed':
      'For an encrypted chat the message must be sealed to every listed key and to the bot’s own key, and signed.',
    'send-again':
      'A repeated sendId in the same chat answers 200 with the message already written.',
    'send-elsewhere': 'The same sendId used in another chat answers 409 conflict.',
    'send-created': 'Result: SentMessage, status 201.',
  },
  'PATCH /messages/{messageId}': {
    'edit-markup': 'Omit markup to keep buttons; null removes them.',
    'edit-nothing': 'At least one change is required, otherwise 400 bad_request.',
    'edit-kind': 'Body kind follows the same rules as sending.',
    'edit-own':
      'Only the bot’s own ordinary messages, at any age; service notices cannot be edited.',
    'edit-live': 'People in the chat see the edit live.',
    'edit-windows': 'Edits count against the same numbers as sends in windows of their own.',
    'edit-result': 'Result: SentMessage (200).',
  },
  'DELETE /messages/{messageId}': {
    'delete-chat-id': 'chatId in the query or in an optional JSON body.',
    'delete-own': 'The bot’s own messages anywhere.',
    'delete-others':
      'Anybody’s in a group or channel where the bot holds the delete-messages right.',
    'delete-secret': 'Secret messages cannot be deleted by a bot.',
    'delete-notice': 'Service notices cannot be deleted by a bot.',
    'delete-result': 'Result: {deleted: true}: deleted for everyone, for good.',
    'delete-race': 'false in a rare race where the message vanished between lookup and delete.',
    'delete-gone': 'A message already gone answers 404 message_not_found.',
  },
  'POST /callbacks/{callbackId}/answer': {
    'answer-body':
      'text (max 200, one line, no control characters, trimmed), alert (default false), url (max 1024, http or https, no credentials). No other fields.',
    'answer-empty': 'An empty answer stops the spinner.',
    'answer-unchanged': 'The message changes only if edited.',
    'answer-result': 'Result: {answered: true}.',
    'answer-readable': 'Answers are not encrypted.',
  },
  'GET /chats/{chatId}': {
    'chat-not-in': '404 chat_not_found, also when the bot is not in the chat.',
  },
  'GET /chats/{chatId}/keys': {
    'keys-list': 'The public keys of everybody in an encrypted chat (ids and keys only, no names).',
    'keys-omits':
      'Omits the calling bot, other bots that only receive addressed messages, and members with no key yet.',
    'keys-count': 'memberCount is for groups only and counts all members, so it exceeds keys.',
  },
  'GET /chats/{chatId}/members': {
    'members-list': 'Result: {members, memberCount}; memberCount counts the list as returned.',
    'members-hidden': 'Where the roster is hidden a non-admin bot sees administrators only.',
    'members-channel': 'A channel that keeps its administrators private leaves them out.',
    'members-private': '400: a private chat has no members.',
  },
  'GET /chats/{chatId}/members/{userId}': {
    'member-one': 'Result: Member; 400 in a private chat.',
  },
  'POST /chats/{chatId}/leave': {
    'leave-result': 'Result: {left: true}; the room is told.',
    'leave-private': '400: a private chat cannot be left.',
  },
  'POST /chats/{chatId}/typing': {
    'typing-body': 'Optional body: typing (default true; false clears early).',
    'typing-clears': 'The indicator clears after a few seconds or when a message lands.',
    'typing-once': 'At most one goes out per chat every 3 seconds; in between: sent false.',
  },
  'GET /resolve/{username}': {
    'resolve-pattern': '^[A-Za-z0-9_]{3,32}$, no @, case-insensitive.',
    'resolve-pool': 'People, groups and channels share one pool of handles.',
    'resolve-nobody':
      'Chats with no public name, closed accounts and the server’s own account: 404 username_not_found.',
    'resolve-grants-nothing':
      'The id alone grants nothing: sending needs the bot to be in the chat, a key needs a chat in common.',
  },
  'GET /users/{userId}/key': {
    'user-key-shared':
      'Only for a person the bot shares a chat with; else 404, whether or not they exist.',
  },
  'POST /token/revoke': {
    'revoke-burns': 'Burns the token in use. Result: {revoked: true}. Works while paused.',
  },
  'GET /media/{id}': {
    'media-public': 'Public: no token is needed; the file bytes exactly as stored.',
    'media-unknown': 'Unknown file: 404 media_not_found.',
    'media-privacy': 'Attachments of encrypted groups are not sealed to a bot in privacy mode.',
  },
} as const
