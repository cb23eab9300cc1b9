export const RULES = {
  Authentication: {
    'auth-header': 'Every call except GET /media/{id} carries Authorization: Bearer <BOT_TOKEN>.',
    'auth-shape': 'The token has the shape <prefix>_<bot_id>.<43 characters>.',
    'auth-refused': 'A missing, invalid, revoked or replaced token answers 401 unauthorized.',
    'auth-paused': 'A paused bot authenticates but most calls answer 403 bot_paused.',
    'auth-webhook-secret': 'Each delivery carries the secret in X-Service-Bot-Api-Secret-Token.',
    'auth-rights': 'A bot writes only where its seat allows.',
  },
  Events: {
    'event-message': 'message: a message addressed to the bot arrives.',
    'event-press':
      'callback_query: a person presses a button that has callbackData; has an id of the press.',
    'event-order': 'updateId grows; delivery is in order and at least once.',
    'event-retention':
      'Older than 72 hours: dropped; more than 10 000 unread: the oldest are dropped.',
    'webhook-delivery': 'One update per request, in order, POST with JSON body.',
    'webhook-agent': 'User-Agent: Service-Bot-Api/1.',
    'webhook-2xx': 'Any 2xx within 10 seconds means delivered; anything else is a failure.',
    'webhook-redirect': 'A redirect is a failure.',
    'webhook-timeout': 'A timeout is a failure.',
    'webhook-backoff': 'Waits 1 second, doubling up to 1 hour, and retries the same update.',
    'webhook-told': 'After ten failures in a row the owner is told.',
    'webhook-queues': 'Updates queue meanwhile and are kept 72 hours.',
    'event-not-own': 'Sending a message emits nothing to the sender’s own queue.',
  },
  Errors: {
    'error-status': 'The HTTP status equals error.status.',
    'retry-after-header': 'Every 429 carries the header Retry-After (integer seconds).',
    'retry-after-call':
      'For rate_limited the body’s retryAfter is always 60; the header holds the real remaining time.',
    'retry-after-body': 'For flood_wait and slow_mode retryAfter is in the body.',
    'rate-stands-still': 'The rate counter does not advance while a client is waiting out a 429.',
    'safe-retry-send': 'A safe retry of a send uses the same sendId.',
    'safe-retry-rest':
      'A retry of a delete that answers message_not_found, or of an answer that answers callback_answered, is done.',
    'names-the-field': 'bad_request: message names the field.',
    'no-body-expected': 'bad_request of a send with no body carries `expected`.',
  },
  Limits: {
    'limits-in-me': 'The /me limits object names, with their values.',
    'limits-further-names': 'The server may report further names.',
    'limits-read': 'Clients should read limits from GET /me rather than hard-code them.',
  },
  Versioning: {
    'version-prefix': 'Version 1.0.0 is served under the path prefix /bot/v1.',
    'version-tolerance': 'Clients should tolerate unknown new fields and unknown error codes.',
  },
} as const
