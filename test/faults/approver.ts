/** A person who is asked for a word on calls, and gives it: at once or late, twice, wrongly, or never. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../support/faults-random.ts'
import type { Asked, History, Word } from './history.ts'
import { orNull } from './people.ts'
import type { Service } from './service.ts'

/** Begins a message that asks. */
export const ASKS = 'A call needs your word.'
const CANARY = /kb[0-9a-f]{16}/
const CODE = /^ok (\S+)$/m
const LOOK_MS = 60

type Act = 'ok' | 'no' | 'unquoted' | 'other-code' | 'wait'

/** What a person does about one request. */
const WAYS: readonly (readonly Act[])[] = [
  ['ok'],
  ['ok'],
  ['wait', 'ok'],
  ['ok', 'ok'],
  ['ok', 'wait', 'ok'],
  ['ok', 'no'],
  ['no'],
  ['wait', 'no', 'ok'],
  ['unquoted', 'wait', 'ok'],
  ['other-code', 'ok'],
  ['unquoted'],
  [],
]

export class Approver {
  readonly #service: Service
  readonly #chatId: number
  readonly #history: History
  readonly #random: Random
  readonly #answering = new Set<Promise<void>>()

  constructor(o: { service: Service; chatId: number; history: History; random: Random }) {
    this.#service = o.service
    this.#chatId = o.chatId
    this.#history = o.history
    this.#random = o.random
  }

  /** Whether all that was asked, as far as it was seen, has what it will get. */
  get isIdle(): boolean {
    return this.#answering.size === 0
  }

  /** Answers whatever is asked until the signal. */
  async answerAlong(enough: AbortSignal): Promise<void> {
    const answering = this.#answering
    while (!enough.aborted) {
      for (const asked of await this.#look()) {
        const answered = this.#answer(asked).finally(() => answering.delete(answered))
        answering.add(answered)
      }
      await pause(LOOK_MS, undefined, { signal: enough }).catch(() => {})
    }
    await Promise.all(answering)
  }

  /** Says ok to what no word was given for, when it is too late. */
  async answerLate(): Promise<void> {
    const { asked, words } = this.#history
    for (const one of asked.filter(({ code }) => words.every((word) => word.code !== code))) {
      await this.#act('ok', one, true)
    }
  }

  /** Requests that were not there before. */
  async #look(): Promise<Asked[]> {
    const { id: userId } = this.#service.home.alice
    const given = { userId, chatId: this.#chatId }
    const { inbox } = await this.#service.surely((control) => control.inbox(given))
    const known = new Set(this.#history.asked.map(({ messageId }) => messageId))
    const found = inbox
      .filter(({ text, messageId }) => text.startsWith(ASKS) && !known.has(messageId))
      .map(({ text, messageId }) => {
        const [, code = ''] = CODE.exec(text) ?? []
        return { canary: CANARY.exec(text)?.[0] ?? '', code, messageId }
      })
    this.#history.asked.push(...found)
    return found
  }

  async #answer(asked: Asked): Promise<void> {
    const way = this.#random.pick(WAYS)
    if (this.#random.oneIn(2)) await pause(this.#random.between(50, 800))
    for (const act of way) await this.#act(act, asked)
  }

  async #act(act: Act, { code, messageId: quotes }: Asked, isLate = false): Promise<void> {
    if (act === 'wait') return await pause(this.#random.between(200, 3000))
    const isApproved = act !== 'no'
    const said = act === 'other-code' ? code.split('').reverse().join('') : code
    const quoted = act === 'unquoted' ? null : quotes
    const chatId = this.#chatId
    const how = { isApproved, isLate, quotes: quoted, askedAtMs: Date.now() }
    const word: Word = { chatId, code: said, ...how, messageId: null }
    this.#history.words.push(word)
    const text = `${isApproved ? 'ok' : 'no'} ${said}${this.#random.oneIn(4) ? ' ' : ''}`
    const reply = { userId: this.#service.home.alice.id, chatId, text }
    const quotation = quoted !== null && { replyTo: quoted }
    const written = await orNull(this.#service.control.write({ ...reply, ...quotation }))
    word.messageId = written?.messageId ?? null
  }
}
