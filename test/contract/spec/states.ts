export const STATES = {
  'States and transitions': {
    'key-phones-learn':
      'Bot mode, key published or rotated: every phone learns the new fingerprint.',
    'key-private-encrypted': 'Bot mode, to protected: private chats become encrypted.',
    'no-unpublishing': 'Bot mode, back to open: no API operation does this.',
    'pause-exceptions':
      'Paused: all calls answer 403 bot_paused except GET /me, GET /webhook, DELETE /webhook, POST /token/revoke.',
    'revoke-told': 'Token revoked: the owner is told, and issues a new token in the console.',
    'webhook-ends-poll':
      'Webhook set: any poll in progress ends; GET /updates answers 409 webhook_active.',
    'webhook-leaves-queue': 'Webhook removed: queued updates remain for polling.',
    'press-told': 'Button press answered: the phone that pressed is told.',
    'same-press': 'A second press on the same message while the first is open is the same press.',
  },
} as const

/** Every row of the states table: who, from where, to where. */
export const TRANSITIONS = [
  'bot mode: open -> protected (PUT /key)',
  'bot mode: protected -> protected (PUT /key with another key)',
  'bot mode: protected -> open (owner)',
  'bot status: active -> paused (owner)',
  'bot status: paused -> active (owner)',
  'token: valid -> revoked (POST /token/revoke)',
  'webhook: not set -> set (POST /webhook)',
  'webhook: set -> not set (DELETE /webhook)',
  'delivery: pending -> delivered (2xx within 10 s)',
  'delivery: pending -> pending (failure, backoff)',
  'queued update: queued -> deleted (offset)',
  'queued update: queued -> dropped (72 hours)',
  'queued update: queued -> dropped (10 000 unread)',
  'press: open -> answered (within 60 s)',
  'press: open -> expired (60 s pass)',
  'press: answered -> answered (another answer)',
] as const
