import { REFUSALS } from '../refusals.ts'
import { Conditions, type Condition, type ConditionChange } from './conditions.ts'

/**
 * Everything that can keep the sidecar from doing its whole job, with what to do about it. The
 * table in this folder's README is made from it.
 */
export const REASONS = {
  starting: {
    what: 'the sidecar is still starting',
    hint: 'wait; if it takes long, the log says what it waits for',
  },
  upstream: REFUSALS.postern_upstream_unreachable,
  token: {
    what: 'the service refuses the bot’s token',
    hint: 'let the owner issue a new one in the bot console and put it into `bot.token`; a token file is reread automatically',
  },
  identity: {
    what: 'the service answers as another bot than the one whose token this is',
    hint: 'check that `bot.token` and `upstream.url` belong together; nothing that such an answer says is believed',
  },
  paused: {
    what: 'the bot’s owner has paused it',
    hint: 'ask the owner to resume it in the bot console',
  },
  'key-unpublished': {
    what: REFUSALS.postern_key_unpublished.what,
    hint: 'wait: Postern retries; `postern key list` shows what is pending',
  },
  'key-conflict': REFUSALS.postern_key_conflict,
  'key-expired': REFUSALS.postern_key_expired,
  'bot-unprotected': REFUSALS.postern_bot_unprotected,
  clock: {
    what: 'our clock and the service’s differ by more than two minutes, or ours is set to before the bot’s key was made',
    hint: 'set this machine’s clock (NTP); until then words are judged by the service’s time, and no key is made',
  },
  store: REFUSALS.postern_store_unwritable,
  'store-unreachable': {
    what: 'the database of `store.url` is out of reach: nothing is sealed, opened or polled',
    hint: 'bring it back, or the way to it; Postern connects again by itself, and updates wait at the service',
  },
  'store-rolled-back': {
    what: 'the database of `store.url` is behind what this sidecar has seen of it (a former primary, a restored copy, another server): nothing is sealed, opened or polled',
    hint: 'point `store.url` to the primary; Postern goes on by itself. To go on with what the database holds all the same, stop every sidecar and remove `database.json` from its `dataDir`',
  },
  'no-threads': {
    what: 'no thread can be started to open, verify and seal: memory or threads have run out',
    hint: 'give the process more memory, or more threads (`ulimit -u`, `TasksMax`, `pids`); updates wait at the service',
  },
  'key-agent': {
    what: 'the agent of `key.agent` does not answer or sign: nothing is sealed or opened',
    hint: 'start it, or do as the message says (`S.gpg-agent.extra` is restricted); updates wait at the service',
  },
  'engine-differs': {
    what: 'a check found that Postern’s own OpenPGP did something else than openpgp.js, which does all of the work until a restart',
    hint: 'keep the log and report it; set `openpgp.engine: library` before you restart. Messages of the last minutes may be unreadable, or may not be what their senders signed',
  },
  'webhook-at-service': {
    what: 'the service itself delivers to a webhook, so polls are answered 409',
    hint: 'let the bot set it again through Postern (`POST /webhook`) to get opened updates, or remove it (`DELETE /webhook`) and poll',
  },
  'webhook-failing': {
    what: 'deliveries to the bot’s webhook fail',
    hint: 'repair the bot; setting its webhook again retries at once; its updates wait at the service for 72 hours',
  },
  'outbox-stuck': {
    what: 'a call waits in the outbox for more than ten minutes after its time',
    hint: '`postern outbox list` shows which; the other reasons say what it waits for',
  },
  'consumer-behind': {
    what: 'a consumer of updates is so far behind that it holds back the others',
    hint: 'repair or remove it; at 90 updates or six hours it loses what it has not',
  },
  'updates-waiting': {
    what: 'updates pile up at the service: the bot’s webhook takes them too slowly or not at all',
    hint: 'make the bot answer faster, or find out why it takes none',
  },
  'updates-expiring': {
    what: 'the service is about to drop updates: it keeps 10,000, for 72 hours',
    hint: 'let the bot take its updates now; dropped ones are lost',
  },
  'second-poller': {
    what: 'somebody else polls for this bot; each takes updates from the other',
    hint: 'stop the other one: a second sidecar, or a bot that still calls the service or this sidecar',
  },
  stopping: { what: 'the sidecar is stopping', hint: 'start it again with `postern run`' },
} as const satisfies Record<string, { what: string; hint: string }>

/** Why the sidecar is not ready, or is ready with the work left to openpgp.js. */
export type ReasonCode = keyof typeof REASONS

/** Every reason there is, for gauges and documentation. */
export const REASON_CODES = Object.keys(REASONS) as readonly ReasonCode[]

/** One reason, for people and probes. */
export type HealthReason = Condition<ReasonCode>

/** A reason began (`holds`), or ended. */
export type ReasonChange = ConditionChange<ReasonCode>

/** The state of the flow of messages, rather than of the process: ready without any reason. */
export class Health extends Conditions<ReasonCode> {
  constructor() {
    super(REASONS)
  }

  /**
   * True when no reason keeps the sidecar from its job. `engine-differs` does not: openpgp.js does all
   * of the work then, and no stranger may stop a bot with a message that two programs read differently.
   */
  get ready(): boolean {
    return this.all().every(({ code }) => code === 'engine-differs')
  }
}
