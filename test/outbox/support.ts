import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { ServiceError } from '../../src/errors.ts'
import type { PermitGround } from '../../src/kernel/index.ts'
import { OutboxEntries, type NewEntry, type OutboxEntry } from '../../src/outbox/entries.ts'
import { Outbox, type OutboxAttempt, type OutboxParts } from '../../src/outbox/outbox.ts'
import type { Store, StoreLock } from '../../src/store/store.ts'
import { open, temporary } from '../store/support.ts'
import { approvalsOf, editsOf, NO_APPROVALS } from '../support/approvals.ts'
import { playedClock, rest } from '../support/played-clock.ts'

/** A send by the bot that is due. */
export const entryOf = (more: Partial<NewEntry> = {}): NewEntry => ({
  id: randomUUID(),
  chatId: 1,
  messageId: null,
  isForSealed: true,
  client: null,
  credential: null,
  createdAtMs: 0,
  dueAtMs: 0,
  ...more,
})

export const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000]
export const SENT: OutboxAttempt = {
  code: null,
  sentId: 7,
  retryMs: null,
  mayPass: false,
  extent: 'chat',
  isAnswered: true,
}
const OFFICE = { id: 3, kind: 'private', personId: 815, latchedAtMs: null, refusedAtMs: null }
/** A rule by which sends of the loop need the word of a person, whose private chat is 3. */
const RULE = { chats: [1], kinds: ['send' as const], by: [815], withinMs: HOUR }

/** What a loop is to be made of; `answers` of the service are by the words of a call, then by turns. */
interface LoopOptions {
  store?: Store
  lock?: OutboxParts['store']
  /** The turn, which a test may end. */
  held?: { isHeld: boolean }
  isAsked?: boolean
  /** Edits coalesce. */
  coalesces?: boolean
}
type Answer = OutboxAttempt | Error

/** A loop, and the tries that it makes; the service answers as `answers` has it, then accepts. */
export async function loopScene(o: LoopOptions = {}) {
  const { held = { isHeld: true } } = o
  const lock = o.lock ?? (o.held === undefined ? undefined : turnOf(held).store)
  const store = o.store ?? (await open(temporary(), { protection: 'none' }))
  const knownChats = { all: [OFFICE], get: (id: number) => (id === OFFICE.id ? OFFICE : undefined) }
  const approvals = approvalsOf({ rules: o.isAsked === true ? [RULE] : [], knownChats })
  const clock = playedClock()
  const edits = editsOf({ isOn: o.coalesces === true, clock, knownChats })
  const entries = await OutboxEntries.load(store, { ...NO_APPROVALS, approvals })
  const tries: string[] = []
  const answers: Answer[] = []
  const settled: Partial<OutboxEntry>[] = []
  const stuck: (string | null)[] = []
  const during = {
    /** Before words leave, and once they have: an answer that is given is that of the service. */
    send: async (
      _entry: OutboxEntry,
      _words: string,
      _ground: PermitGround,
    ): Promise<Answer | undefined | void> => {},
    after: async (): Promise<Answer | undefined> => undefined,
  }
  const outbox = new Outbox({
    entries,
    store: lock ?? store,
    clock,
    edits,
    send: async (entry, body, ground) => {
      const words = body.toString()
      const given = await during.send(entry, words, ground)
      await leave(ground)
      tries.push(words)
      await turn()
      const answer = given ?? (await during.after()) ?? answers.shift() ?? SENT
      if (answer instanceof Error) throw answer
      if (entry.state === 'asked' && answer === SENT) {
        await entries.change(entry.id, ({ approval }) => {
          const requests = approval?.requests.map((one) => ({ ...one, messageId: 9 }))
          return approval && requests ? { approval: { ...approval, requests } } : null
        })
      }
      return answer
    },
    maxAgeMs: 72 * HOUR,
  })
  entries.onSettled(({ id, chatId, state, code }) => settled.push({ id, chatId, state, code }))
  outbox.onStuck((entry) => stuck.push(entry?.id ?? null))
  onTestFinished(() => outbox[Symbol.asyncDispose]())
  const give = (words: string, more: Partial<NewEntry> = {}) => {
    const times = { createdAtMs: clock.now(), dueAtMs: clock.now() }
    return entries.add(entryOf({ ...times, ...more }), Buffer.from(words))
  }
  const begin = async () => {
    outbox.start()
    await rest()
  }
  const played = { clock, tries, answers, settled, stuck, during, held }
  return { store, entries, edits, outbox, ...played, give, begin }
}
export type LoopScene = Awaited<ReturnType<typeof loopScene>>

/** A turn that is held. */
export const FREE: PermitGround = { renew: async () => {}, require: () => {} }

/** As the client of the service asks a permit's ground. */
async function leave(ground: PermitGround): Promise<void> {
  await ground.renew()
  ground.require()
}

/** A turn as a store gives it, which can be lost and asked for. */
export function turnOf(held: { isHeld: boolean }, onGiven = async (): Promise<void> => {}) {
  const asked = new AbortController()
  const lock: StoreLock = {
    get isHeld() {
      return held.isHeld
    },
    signal: new AbortController().signal,
    asked: asked.signal,
    [Symbol.asyncDispose]: onGiven,
  }
  const store: OutboxParts['store'] = {
    tryLock: async () => (held.isHeld && !asked.signal.aborted ? lock : null),
    untilFree: (_name, end) =>
      new Promise<void>((resolve) => end.addEventListener('abort', () => resolve())),
  }
  return { store, ask: () => asked.abort() }
}

export function serviceError(status: number, code: string, seconds?: number): ServiceError {
  const answer = { status, headers: {}, body: Buffer.from('{}') }
  return new ServiceError({ code, status, expected: undefined, retryAfterSeconds: seconds, answer })
}
