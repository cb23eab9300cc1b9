export const RESOURCES = {
  'Bot (result of GET /me)': {
    'bot-fields':
      'id, username, name, about, description, mode, fingerprint, privacyMode, allowGroups, status, webhook, queued, limits.',
    'bot-fingerprint': 'fingerprint: published key fingerprint, null when open.',
    'bot-allow-groups': 'allowGroups: whether the bot may be added to groups.',
    'bot-status': 'status: `active` while working.',
    'bot-webhook': 'webhook: {url, hasSecret, failures, lastError}.',
    'bot-queued': 'queued: updates waiting.',
    'bot-limits': 'limits: the limits this server enforces; all values integers.',
  },
  'WebhookInfo (result of GET /webhook)': {
    'webhook-info-fields':
      'url (null when none), hasSecret, pending, failures, lastError, and the time of the next delivery attempt.',
  },
  Update: {
    'update-fields':
      'updateId (growing, unique per bot), kind, message (present when kind is `message`).',
  },
  'Message (inside an update)': {
    'message-fields': 'id, chat, from, date, replyTo, kind, text or armored, media.',
    'message-chat': 'chat: {id, kind}; kinds are `private`, `group`, `channel`.',
    'message-from': 'from: {id, username, firstName, lastName?, isBot}.',
    'message-reply': 'replyTo: the quoted message reference, or null.',
    'message-kind': 'kind: `user` for ordinary messages.',
    'message-notice': 'Service notices (such as someone leaving) have another kind.',
    'message-text':
      'On delivery the text is trimmed, runs of empty lines folded, and cut at 4000 characters.',
    'message-armored': 'armored: in encrypted chats.',
    'message-armored-words':
      'armored is also used when a readable-chat body merely contains an OpenPGP message header.',
    'message-media':
      'media: attachments (empty when none); in a readable chat the bot sees pictures.',
    'media-item':
      'A media item has an id and a `url` of the form /media/<media_id> on the API server.',
    'media-duration': 'A media item has a duration in milliseconds (for timed media).',
    'media-ciphertext': 'In an encrypted chat the file behind it is OpenPGP ciphertext.',
  },
  'SentMessage (result of send and edit)': {
    'sent-fields': 'Carries at least `id` (int) and `date` (ts).',
  },
  'Chat (result of GET /chats/{chatId})': {
    'chat-fields':
      'id, kind, title (groups and channels), username, mode, description, memberCount, historyVisible, slowModeSeconds.',
    'chat-mode': 'mode: `open` (send `text`) or `protected` (send `armored`).',
    'chat-slow-mode': 'slowModeSeconds: 0 when slow mode is off.',
    'chat-seat': 'me: the bot’s seat: {status, rights, restrictedUntil?}.',
    'chat-private': 'A private chat carries the other person and whether they blocked the bot.',
  },
  'Member (roster entries)': {
    'member-fields': 'A person (id, names, handle) with a seat: status, admin rights, title.',
    'member-no-phone': 'Never a phone number.',
  },
  UserKey: {
    'user-key-fields':
      'The user id, the key fingerprint as the server lists it, and the ASCII-armoured public key.',
  },
  'Command and CommandScope': {
    'command-name':
      'command: 1 to 32 characters of lowercase letters, digits and underscore (a leading `/` is dropped).',
    'command-description': 'description: 1 to 256 characters.',
    'command-scope': 'CommandScope: {scope, commands}.',
    'scope-values': 'default, private, groups, groupAdmins, chat:<chat_id>.',
  },
  'Resolved (result of GET /resolve/{username})': {
    'resolved-fields':
      'id at top level; kind (which of person, group or channel holds the handle).',
    'resolved-username':
      'username: the handle the account or chat actually goes by, possibly different from the one asked.',
    'resolved-detail':
      'The same identity repeated under `user` or `chat` with a little extra detail.',
  },
  'Inline keyboard (markup)': {
    'markup-shape':
      '{inlineKeyboard: [[Button, ...], ...]}: a Button has `text` and either `callbackData` or `url`.',
    'markup-readable': 'Buttons are never encrypted, even in encrypted chats.',
  },
  'Error object': {
    'error-object':
      '{status, code, message, retryAfter? (seconds, on 429 only), expected? (`text` or `armored`)}.',
  },
} as const
