/**
 * The only source of Postern's own codes: HTTP status, what happened, and what to do about it.
 * The table in src/http/README.md is made from it.
 */
export const REFUSALS = {
  postern_downgrade_refused: {
    status: 409,
    what: 'readable text is not sent to a chat that must be encrypted',
    hint: 'if the chat really became readable, run `postern chat allow-readable <chatId>`; if `postern chat list` shows a group as private, `postern chat correct-kind <chatId> --to group`',
  },
  postern_clear_refused: {
    status: 409,
    what: 'buttons and callback answers are never encrypted, and are refused in encrypted chats',
    hint: 'leave out the fields named, or set `clearFields` to `warn`',
  },
  postern_no_recipient: {
    status: 409,
    what: 'nobody in the chat has a key to seal to',
    hint: 'the person must open the chat with an app that publishes a key',
  },
  postern_recipient_unusable: {
    status: 409,
    what: 'no certificate in the chat’s key list can be used',
    hint: 'the people named must publish a new key; `postern chat show <chatId>` says what is wrong with each',
  },
  postern_recipients_inconsistent: {
    status: 409,
    what: 'the chat’s key list says what no honest service can',
    hint: 'nothing was sent; an honest list has one key for each person, fewer keys than members, never the bot, and in a private chat its person alone: `postern chat list` shows whose it is, `postern chat bind` corrects that, and `postern chat correct-kind` the kind of a group that is taken for private',
  },
  postern_trust_required: {
    status: 409,
    what: 'nothing is sealed to a recipient whose key changed, is another person’s, or was blocked',
    hint: 'compare fingerprints with the person, then run `postern trust accept <userId>`',
  },
  postern_seal_too_large: {
    status: 413,
    what: 'the sealed message is larger than the service accepts',
    hint: 'shorten the text, or write to a smaller group: every recipient adds to the size',
  },
  postern_not_recipient: {
    status: 422,
    what: 'the file is sealed, but not for this bot',
    hint: 'in a group, phones seal files to the bot only while its privacy mode is off',
  },
  postern_damaged: {
    status: 422,
    what: 'the sealed data cannot be opened',
    hint: 'ask the sender to send it again',
  },
  postern_replayed: {
    status: 422,
    what: 'this sealed data was seen before as something else',
    hint: 'treat it as forged',
  },
  postern_bad_signature: {
    status: 422,
    what: 'the signature is not the sender’s',
    hint: 'treat it as forged',
  },
  postern_plaintext_in_protected: {
    status: 422,
    what: 'the file is from an encrypted chat and is not sealed',
    hint: 'treat it as forged: phones seal every file there; `open.verify: off` delivers it',
  },
  postern_key_managed: {
    status: 403,
    what: 'the bot’s key is managed by Postern',
    hint: 'run `postern key` on the machine that runs Postern',
  },
  postern_key_conflict: {
    status: 503,
    what: 'the service lists a key for this bot that is not ours',
    hint: 'check `dataDir`; find who published it, or restore a later backup that has it; `postern key publish --replace` replaces it by ours',
  },
  postern_key_unpublished: {
    status: 503,
    what: 'the bot’s key is not confirmed by the service yet',
    hint: 'try again when /readyz is 200; its reasons name what is missing',
  },
  postern_key_expired: {
    status: 503,
    what: 'the bot’s key has expired',
    hint: 'run `postern key rotate` for a key that does not expire; the old one still opens messages',
  },
  postern_bot_unprotected: {
    status: 503,
    what: 'the service says that this bot has no key any more',
    hint: 'publish again with `postern key publish`, or leave encrypted chats for good with `postern chat allow-readable --private`',
  },
  postern_locked: {
    status: 503,
    what: 'the secret keys are locked',
    hint: 'set `key.passphrase` and start again; with `key.agent`, start the agent',
  },
  postern_bot_down: {
    status: 503,
    what: 'this bot is not served at the moment, though others are',
    hint: '`postern bot list` says why; it is tried again and again',
  },
  postern_clock_wrong: {
    status: 503,
    retryAfter: 2,
    what: 'this machine’s clock is set to before the bot’s key was made',
    hint: 'set this machine’s clock (NTP)',
  },
  postern_store_unwritable: {
    status: 503,
    retryAfter: 2,
    what: 'the store cannot be written, so whatever must be recorded first is refused',
    hint: 'free space on the disk of `dataDir`, or make it writable; with `store.url`, bring the database back',
  },
  postern_upstream_unreachable: {
    status: 502,
    what: 'the service could not be reached',
    hint: 'check `upstream.url` and the network; `postern check` tries each step',
  },
  postern_upstream_timeout: {
    status: 504,
    what: 'the service did not answer in time',
    hint: 'try again; a send is safe to repeat with the same sendId',
  },
  postern_upstream_invalid: {
    status: 502,
    what: 'the answer from `upstream.url` is not one of the service’s API',
    hint: 'check that `upstream.url` is the service’s base URL and that no proxy answers in its place',
  },
  postern_route_refused: {
    status: 403,
    what: 'this call is not passed to the service',
    hint: 'this version does not know it, and its body might hold readable text; `routes.allowUnknown` passes it',
  },
  postern_mode_changed: {
    status: 409,
    what: 'the chat has become readable since these words were given for sealed eyes',
    hint: '`postern outbox retry --readable` lets them leave readable, `postern outbox drop` removes them',
  },
  postern_outbox_full: {
    status: 503,
    what: 'no more can wait in the outbox',
    hint: '`postern outbox list` says what it waits for; it has room for 10,000 calls and 64 MiB, of which clients have half',
  },
  postern_outbox_expired: {
    status: 409,
    what: 'the words waited in the outbox for too long',
    hint: '`postern outbox retry` sends them all the same; `outbox.maxAgeHours` is how long they wait',
  },
  postern_outbox_restored: {
    status: 409,
    what: 'the call is of a restored backup, and may have left or been dropped since',
    hint: '`postern outbox retry` sends it, `postern outbox drop` removes it',
  },
  postern_approval_needed: {
    status: 409,
    what: 'the call needs a person’s word, and has none',
    hint: '`postern outbox retry` asks the person; the setting `approve` says which calls need a word',
  },
  postern_approval_refused: {
    status: 409,
    what: 'the person who was asked, or the operator, refused these words',
    hint: 'ask the person why; `postern outbox retry` asks again',
  },
  postern_approval_late: {
    status: 409,
    what: 'nobody who was asked answered in time',
    hint: '`postern outbox retry` asks again; `within` of the setting `approve` is how long a word is waited for',
  },
  postern_approval_changed: {
    status: 409,
    what: 'the words are not those that were shown to the person',
    hint: 'find out who writes the store; give the call anew',
  },
  postern_approver_changed: {
    status: 409,
    what: 'the certificate that signed the word is not the person’s any more, or the person may not give it any more',
    hint: '`postern trust log` shows changes of certificates; `postern outbox retry` asks again',
  },
  postern_approver_unreachable: {
    status: 409,
    what: 'nobody who may give the word can be asked in an encrypted private chat',
    hint: 'a person named in `approve` must write to the bot first, with an app that has a key',
  },
  postern_approver_busy: {
    status: 429,
    retryAfter: 60,
    what: 'as many calls of this caller as may be wait for the same person’s word',
    hint: 'try again once some are answered or late; `postern approve list` shows them',
  },
  postern_code_refused: {
    status: 409,
    what: 'the body reads as one that holds the code of a request for a person’s word',
    hint: 'leave the code out: it is for the person who was asked alone',
  },
  postern_request_fixed: {
    status: 409,
    what: 'the message asks a person for a word, and stays as it is',
    hint: 'edit or delete other messages; `postern approve list` shows what is asked',
  },
  postern_not_allowed: {
    status: 403,
    what: 'this caller may not make this call',
    hint: 'use a client that has the right and the chat named: `postern client list`',
  },
  postern_client_suspended: {
    status: 403,
    what: 'the client is suspended, since a backup was restored that may be older than its removal',
    hint: '`postern client confirm NAME` lets it call again, `postern client remove NAME` removes it',
  },
  postern_media_too_large: {
    status: 413,
    what: 'the file is larger than Postern opens',
    hint: 'ask for a file of at most 64 MiB',
  },
  postern_busy: {
    status: 503,
    what: 'too many calls are in progress',
    hint: 'try again after the seconds in Retry-After',
  },
  postern_browser_refused: {
    status: 403,
    what: 'the request comes from a web page',
    hint: 'call from the bot itself, without Origin and Sec-Fetch headers',
  },
  postern_host_refused: {
    status: 421,
    what: 'the Host header names an unknown host',
    hint: 'call the address that Postern listens on, or add this name to `listen.allowedHosts` (for /metrics and /status: `admin.allowedHosts`)',
  },
} as const satisfies Record<
  string,
  { status: number; what: string; hint: string; retryAfter?: number }
>
