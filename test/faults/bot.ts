/**
 * A plain-text bot: polls with offset or has a webhook, by the seed; writes down what it takes in, and echoes it with sends that
 * can be repeated. It remembers little: when it dies, it comes back with an older offset.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { callAt, type Called } from '../support/bot-call.ts'
import { Random } from '../support/faults-random.ts'
import { noteNews, type Handled, type History, type Said } from './history.ts'
import type { Keeper } from './keeper.ts'
import { WebhookEar } from './webhook-ear.ts'

const POLL_SECONDS = 2
const RETRY_MS = 150
/** Canaries of people begin with it; see people.ts. */
export const PERSON_CANARY = /kp[0-9a-f]{16}/
/** Ends the text of what was edited. */
export const EDITED = 'edited'
/** What no waiting changes. */
export const FINAL = new Set([400, 404, 413, 422])

export interface Update {
  updateId: number
  postern_outbox?: { id: string; state: string; messageId: number | null }
  message?: {
    id: number
    media?: { url: string }[]
    chat: { id: number }
    text?: string
    postern?: { verdict?: string; reason?: string; withheldText?: string }
  }
}

/** Where the bot calls; `sidecarOf` where there are several. */
export type Door = Pick<Keeper, 'bot' | 'clientToken'> & { sidecarOf?: (bot: string) => number }

export class Bot {
  readonly #keeper: Door
  readonly #history: History
  readonly #random: Random
  #life = 0
  #offset = 0
  #saved = 0
  #stop = new AbortController()
  #hearing: Promise<void> = Promise.resolve()
  /** Null: it polls. */
  readonly #ear: WebhookEar<Update> | null
  #sending = new Set<Promise<void>>()
  readonly #outbox = new Map<string, { said: Said; text: string }>()

  constructor(o: { keeper: Door; history: History; random: Random; hasWebhook: boolean }) {
    this.#keeper = o.keeper
    this.#history = o.history
    this.#random = o.random
    const breach = (what: string): void => void this.#history.breaches.push(what)
    this.#ear = o.hasWebhook
      ? new WebhookEar({
          random: o.random.fork(),
          call: (method, path, body) => this.call(method, path, body),
          take: (update, confirmedBelow) =>
            this.#take([update], { sidecar: null, confirmedBelow }).forEach(breach),
          breach,
        })
      : null
  }

  /** What it is told by a poll whose answer is lost, it is never told again. */
  get hasWebhook(): boolean {
    return this.#ear !== null
  }

  /** How long its webhook has made a sidecar wait, ms. */
  get waitsMs(): number {
    return this.#ear?.waitsMs ?? 0
  }

  /** Sends that have no final answer yet. */
  get waiting(): number {
    return this.#outbox.size
  }

  start(): void {
    this.#life += 1
    this.#stop = new AbortController()
    this.#offset = this.#saved
    const { signal } = this.#stop
    this.#hearing = this.#ear === null ? this.#poll(signal) : this.#ear.hear(signal)
  }

  /** Dies in the middle of whatever it does; what it had not saved is forgotten. */
  async die(): Promise<void> {
    this.#stop.abort()
    await Promise.allSettled([this.#hearing, ...this.#sending])
    this.#outbox.clear()
  }

  /** One call; null when nobody answered. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<(Called & { sidecar: number }) | null> {
    const { bot: base, clientToken } = this.#keeper
    if (base === null) return null
    const call = { method, path, body, signal: signal ?? this.#stop.signal }
    try {
      const called = await callAt(base, clientToken, call)
      return { ...called, sidecar: this.#keeper.sidecarOf?.(base) ?? 0 }
    } catch {
      return null
    }
  }

  async #poll(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const confirmedBelow = this.#saved
      const offset = confirmedBelow === 0 ? '' : `&offset=${confirmedBelow}`
      this.#history.confirmedBelow = Math.max(this.#history.confirmedBelow, confirmedBelow)
      const patience = AbortSignal.any([stop, AbortSignal.timeout((POLL_SECONDS + 3) * 1000)])
      const said = await this.call(
        'GET',
        `/updates?timeout=${POLL_SECONDS}${offset}`,
        undefined,
        patience,
      )
      if (stop.aborted) return
      if (said?.status !== 200) {
        await pause(RETRY_MS)
        continue
      }
      const updates = said.json.result as Update[]
      this.#history.breaches.push(...this.#take(updates, { ...said, confirmedBelow }))
      // confirmed is only what was saved, so that much of it comes again
      if (updates.length > 15 || this.#random.oneIn(2)) this.#saved = this.#offset
      if (updates.length > 0) await pause(this.#random.between(20, 200))
    }
  }

  #take(
    updates: Update[],
    { sidecar, confirmedBelow }: Pick<Handled, 'sidecar' | 'confirmedBelow'>,
  ): string[] {
    const breaches: string[] = []
    let before: number | null = null
    for (const { updateId, message, postern_outbox: news } of updates) {
      if (news !== undefined) {
        const { id, state, messageId: sentId } = news
        noteNews(this.#history, id, { state, sentId, isNews: true })
        continue
      }
      if (before !== null && updateId !== before + 1) {
        breaches.push(`I1: update ${updateId} stands after ${before} in one answer`)
      }
      before = updateId
      const isKnown = updateId < this.#offset
      this.#offset = Math.max(this.#offset, updateId + 1)
      const postern = message?.postern
      this.#history.handled.push({
        atMs: Date.now(),
        life: this.#life,
        updateId,
        chatId: message?.chat.id ?? 0,
        messageId: message?.id ?? 0,
        text: message?.text ?? null,
        verdict: postern?.verdict ?? null,
        reason: postern?.reason ?? null,
        withheld: postern?.withheldText ?? null,
        sidecar,
        confirmedBelow,
      })
      for (const { url } of message?.media ?? []) void this.#fetch(url, message)
      const canary = PERSON_CANARY.exec(message?.text ?? '')?.[0]
      // a careless bot: what it was told twice it answers twice, now and then
      if (message !== undefined && canary !== undefined && !(isKnown && this.#random.oneIn(2))) {
        this.#answer(updateId, message.chat.id, canary)
      }
    }
    return breaches
  }

  /** Looks at a chat, and notes it when it is said to be protected. */
  async look(chatId: number): Promise<void> {
    const askedAtMs = Date.now()
    const said = await this.call('GET', `/chats/${chatId}`)
    const chat = said?.json.result as { mode?: string } | undefined
    if (said?.status !== 200 || chat?.mode !== 'protected') return
    this.#history.sightings.push({ chatId, askedAtMs, atMs: Date.now() })
  }

  /** Gets a file; what fails is tried once more when its message comes again. */
  async #fetch(path: string, message: Update['message']): Promise<void> {
    const base = this.#keeper.bot
    if (base === null || message === undefined) return
    try {
      const { signal } = this.#stop
      const headers = { authorization: `Bearer ${this.#keeper.clientToken}` }
      const answer = await fetch(new URL(path, base), { headers, signal })
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (answer.status !== 200) return
      this.#history.fetched.push({ chatId: message.chat.id, messageId: message.id, bytes })
    } catch {
      // the way to the sidecar or to the service is in trouble
    }
  }

  /** Edits what it said, once; its words stay, with a mark. */
  async #edit(said: Said, messageId: number, text: string): Promise<void> {
    const body = { chatId: said.chatId, text: `${text} ${EDITED}` }
    const answer = await this.call('PATCH', `/messages/${messageId}`, body)
    if (answer !== null && answer.status < 300) said.isEdited = true
  }

  /** Says something that nobody asked for. */
  speak(chatId: number): void {
    const canary = `kb${this.#random.hex(16)}`
    this.#say({ sendId: this.#random.uuid(), chatId, canary }, { text: canary, answers: null })
  }

  /** The same update is always answered by the same send. */
  #answer(updateId: number, chatId: number, heard: string): void {
    const chance = new Random(this.#history.seed * 1_000_003 + updateId)
    const said = { sendId: chance.uuid(), chatId, canary: `kb${chance.hex(16)}` }
    const text = `you said ${heard} and I say ${said.canary}`
    this.#say(said, { text, answers: heard })
  }

  #say(
    { sendId, chatId, canary }: Pick<Said, 'sendId' | 'chatId' | 'canary'>,
    { text, answers }: { text: string; answers: string | null },
  ): void {
    if (this.#stop.signal.aborted) return
    const said: Said = this.#history.said.get(sendId) ?? {
      sendId,
      chatId,
      canary,
      answers,
      accepted: [],
      lastRefusal: null,
    }
    this.#history.said.set(sendId, said)
    if (this.#outbox.has(sendId)) return
    this.#outbox.set(sendId, { said, text })
    const sending = this.#send(sendId, this.#stop.signal).finally(() =>
      this.#sending.delete(sending),
    )
    this.#sending.add(sending)
  }

  async #send(sendId: string, stop: AbortSignal): Promise<void> {
    const waiting = this.#outbox.get(sendId)
    if (waiting === undefined) return
    const { said, text } = waiting
    for (let turn = 1; !stop.aborted; turn++) {
      // impatient at first, then as patient as the sidecar asks for
      const patienceMs = turn > 4 ? 30_000 : this.#random.between(800, 6000)
      const patience = AbortSignal.any([stop, AbortSignal.timeout(patienceMs)])
      const body = { chatId: said.chatId, text, sendId }
      const answer = await this.call('POST', '/messages', body, patience)
      if (answer !== null && answer.status < 300) {
        const { id } = answer.json.result as { id: number }
        said.accepted.push(id)
        if (this.#random.oneIn(5)) await this.#edit(said, id, text)
        break
      }
      if (answer !== null) said.lastRefusal = answer.json.error?.code ?? String(answer.status)
      if (answer !== null && FINAL.has(answer.status)) break
      const waitMs = this.#random.between(RETRY_MS, 3 * RETRY_MS) * Math.min(turn, 6)
      await pause(waitMs, undefined, { signal: stop }).catch(() => {})
    }
    if (!stop.aborted) this.#outbox.delete(sendId)
  }
}
