import { REFUSALS } from '../errors.ts'

/**
 * Everything that can keep the sidecar from doing its whole job, with what to do about it. The
 * README's table is made from it.
 */
export const REASONS = {
  starting: {
    what: 'the sidecar is still starting',
    hint: 'wait; if it lasts, the log says what it is waiting for',
  },
  upstream: REFUSALS.postern_upstream_unreachable,
  token: {
    what: 'the service refuses the bot’s token',
    hint: 'let the owner issue a new one in the bot console and put it into `bot.token`; a token file is read again by itself',
  },
  identity: {
    what: 'the service answers as another bot than the one whose token this is',
    hint: 'check that `bot.token` and `upstream.url` belong together; nothing that such an answer says is believed',
  },
  paused: {
    what: 'the bot’s owner has paused it',
    hint: 'the owner resumes it in the bot console',
  },
  'key-unpublished': {
    what: REFUSALS.postern_key_unpublished.what,
    hint: 'it is tried again by itself; `postern key list` shows what is pending',
  },
  'key-conflict': REFUSALS.postern_key_conflict,
  'key-expired': REFUSALS.postern_key_expired,
  'bot-unprotected': REFUSALS.postern_bot_unprotected,
  clock: {
    what: 'our clock and the service’s are too far apart',
    hint: 'set this machine’s clock (NTP); no key is made until they agree',
  },
  store: REFUSALS.postern_store_unwritable,
  'webhook-at-service': {
    what: 'a webhook stands at the service, which delivers to it itself; polls are answered 409',
    hint: 'let the bot set it again here (`POST /webhook`), so that Postern delivers opened updates, or remove it (`DELETE /webhook`) and poll',
  },
  'webhook-failing': {
    what: 'deliveries to the bot’s webhook fail',
    hint: 'repair the bot, or let it set its webhook again, which is tried at once; its updates wait at the service for 72 hours',
  },
  'updates-waiting': {
    what: 'updates wait at the service, since the bot’s webhook takes them too slowly or not at all',
    hint: 'let the bot answer faster, or see why it takes none',
  },
  'updates-expiring': {
    what: 'the service is about to drop updates: it keeps 10,000, for 72 hours',
    hint: 'let the bot take its updates now; what is dropped is gone for good',
  },
  'second-poller': {
    what: 'somebody else polls for this bot, and each takes updates from the other',
    hint: 'stop the other: a second sidecar, or a bot that still calls the service or this sidecar',
  },
  stopping: {
    what: 'the sidecar is stopping',
    hint: 'start it again with `postern run`',
  },
} as const satisfies Record<string, { what: string; hint: string }>

/** Why the sidecar is not ready. */
export type ReasonCode = keyof typeof REASONS

/** Every reason there is, for gauges and documentation. */
export const REASON_CODES = Object.keys(REASONS) as readonly ReasonCode[]

/** One reason, for people and probes. */
export interface HealthReason {
  code: ReasonCode
  /** What is the matter, with its detail. */
  message: string
  /** What to do about it. */
  hint: string
  /** Since when, ms since epoch. */
  sinceMs: number
}

/** What is known of the flow of messages, rather than of the process: ready when nothing is wrong. */
export class Health {
  readonly #reasons = new Map<ReasonCode, { detail: string; sinceMs: number }>()
  readonly #changed: (change: { code: ReasonCode; holds: boolean }) => void

  /** @param changed told when a reason comes up and when it goes */
  constructor(changed: (change: { code: ReasonCode; holds: boolean }) => void = () => {}) {
    this.#changed = changed
  }

  /**
   * States a reason. Stated again, it keeps its beginning and takes the new detail.
   * @param detail what exactly, for people; no secrets and nobody's words; may be empty
   */
  set(code: ReasonCode, detail: string): void {
    const known = this.#reasons.get(code)
    this.#reasons.set(code, { detail, sinceMs: known?.sinceMs ?? Date.now() })
    if (known === undefined) this.#changed({ code, holds: true })
  }

  /** Takes a reason back; nothing happens when it was not stated. */
  clear(code: ReasonCode): void {
    if (this.#reasons.delete(code)) this.#changed({ code, holds: false })
  }

  /** What a reason is and what to do about it, whether it holds or not. */
  static words(code: ReasonCode): { what: string; hint: string } {
    return REASONS[code]
  }

  /** All reasons that hold, the oldest first. */
  reasons(): HealthReason[] {
    return [...this.#reasons].map(([code, { detail, sinceMs }]) => {
      const { what, hint } = REASONS[code]
      return { code, message: detail === '' ? what : `${what}: ${detail}`, hint, sinceMs }
    })
  }

  /** True when no reason holds. */
  get ready(): boolean {
    return this.#reasons.size === 0
  }
}
