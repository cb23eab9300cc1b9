/** A program that gives sends and edits to the outbox, one after the other, and asks what became of them. */
import { setTimeout as pause } from 'node:timers/promises'
import { callAt, type BotCall, type Called } from '../support/bot-call.ts'
import type { Random } from '../support/faults-random.ts'
import { FINAL, type Door } from './bot.ts'
import { noteState, type History, type Later } from './history.ts'

const LATER = { prefer: 'respond-async' }
const LOOK_MS = 150

export interface CallerOptions {
  door: Door
  history: History
  random: Random
  /** Null: the bot itself. */
  name: string | null
  token: string
  chats: readonly number[]
  needsWord: boolean
  /** Between two calls, at most. */
  pauseMs: number
}

export class Caller {
  readonly #o: CallerOptions

  constructor(options: CallerOptions) {
    this.#o = options
  }

  /** Gives calls, and looks at their states, until `enough` is aborted; what is asked then is asked to its end. */
  async giveAlong(enough: AbortSignal): Promise<void> {
    const { random, pauseMs } = this.#o
    const looking = this.#lookAlong(enough)
    while (!enough.aborted) {
      await this.give(enough)
      await pause(random.between(10, pauseMs), undefined, { signal: enough }).catch(() => {})
    }
    await looking
  }

  /** Gives one call by chance: an edit of what was sent for it before, or a send. */
  async give(enough: AbortSignal): Promise<void> {
    const { random, history, name: by, chats, needsWord } = this.#o
    const sent = history.later.flatMap((one) => {
      const { sentId } = one.seen.at(-1) ?? {}
      return one.by !== by || one.edits !== null || sentId == null ? [] : { ...one, sentId }
    })
    // a few messages, so that one is edited often
    const edited = random.oneIn(2) ? undefined : sent.slice(0, 3).at(random.between(0, 2))
    const isTimed = edited === undefined && random.oneIn(3)
    const later: Later = {
      by,
      chatId: edited?.chatId ?? random.pick(chats),
      canary: `kb${random.hex(16)}`,
      edits: edited?.sentId ?? null,
      deliverAtMs: isTimed ? Date.now() + random.between(200, 4000) : null,
      needsWord,
      askedAtMs: Date.now(),
      givenAtMs: null,
      id: edited === undefined ? random.uuid() : null,
      seen: [],
    }
    history.later.push(later)
    await (later.edits === null ? this.#send(later, enough) : this.#edit(later))
  }

  async #send(later: Later, enough: AbortSignal): Promise<void> {
    const { chatId, canary: text, id: sendId, deliverAtMs } = later
    const time = deliverAtMs !== null && { deliverAt: deliverAtMs }
    const call = { method: 'POST', path: '/messages', body: { chatId, text, sendId, ...time } }
    // a caller that goes away leaves it open whether its last call was taken
    for (let turn = 1; turn < 20 || !enough.aborted; turn++) {
      const answer = await this.#call({ ...call, headers: LATER })
      if (noteGiven(later, answer, this.#o.history)) return
      await pause(LOOK_MS * Math.min(turn, 6))
    }
  }

  /** Once: nothing shows that two tries are one edit. */
  async #edit(later: Later): Promise<void> {
    const { chatId, canary, edits } = later
    const body = { chatId, text: `${canary} edited` }
    const call = { method: 'PATCH', path: `/messages/${edits}`, body, headers: LATER }
    noteGiven(later, await this.#call(call), this.#o.history)
  }

  async #lookAlong(enough: AbortSignal): Promise<void> {
    const { history, random, name } = this.#o
    while (!enough.aborted) {
      await pause(LOOK_MS, undefined, { signal: enough }).catch(() => {})
      const own = history.later.filter(({ by, givenAtMs }) => by === name && givenAtMs !== null)
      const open = own.filter(({ seen }) => seen.at(-1)?.state !== 'sent')
      const later = random.oneIn(3)
        ? own.at(-random.between(1, 10))
        : open.at(-random.between(1, 3))
      if (later === undefined) continue
      const path = `/outbox/${later.id}`
      const answer = await this.#call({ method: 'GET', prefix: '/postern/v1', path })
      if (answer?.status !== 200) continue
      const { state, messageId } = answer.json.result as { state: string; messageId: number | null }
      noteState(later, { state, sentId: messageId })
    }
  }

  async #call(call: BotCall): Promise<Called | null> {
    const { door, token, random } = this.#o
    const base = door.bot
    if (base === null) return null
    const signal = AbortSignal.timeout(random.between(1000, 6000))
    return await callAt(base, token, { ...call, signal }).catch(() => null)
  }
}

/** Whether nothing more is to be asked. */
function noteGiven(later: Later, answer: Called | null, { earlyNews }: History): boolean {
  if (answer?.status !== 202) return answer !== null && FINAL.has(answer.status)
  const { outbox } = (answer.json.result as { postern: { outbox: { id: string; state: string } } })
    .postern
  later.id = outbox.id
  later.givenAtMs = Date.now()
  noteState(later, { state: outbox.state, sentId: null })
  for (const news of earlyNews.get(outbox.id) ?? []) noteState(later, news)
  return true
}
