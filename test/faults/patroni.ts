/**
 * Fail-over as people run it: two sidecars of one bot on PostgreSQL under Patroni, behind HAProxy,
 * while the bot sends and people write.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import type { Update } from '../bench/bench-bots.ts'
import { startPostern, type Process } from '../bench/processes.ts'
import { callAt } from '../support/bot-call.ts'
import { freshSchema } from '../support/postgres.ts'
import { missingForPatroni, PatroniCluster } from './patroni-cluster.ts'

const EVERY_MS = 200
/** How long a node is away once another is the primary. */
const AWAY_MS = 5000
/** Until everything that was written has been read, once all is well again. */
const CALM_MS = 20_000
/** What makes another node the primary, and what ends the trouble. */
const ACTS = {
  'switched over in order': { begin: (cluster: PatroniCluster) => cluster.switchOver() },
  'the primary is killed': {
    begin: (cluster: PatroniCluster, primary: string) => cluster.kill(primary),
    end: (cluster: PatroniCluster, primary: string) => cluster.revive(primary),
  },
  'the primary is paused, and goes on later': {
    begin: (cluster: PatroniCluster, primary: string) => cluster.pause(primary),
    end: (cluster: PatroniCluster, primary: string) => cluster.resume(primary),
  },
}

/** @returns whether every promise was kept; prints a line for each act */
export async function runPatroni(print: (line: string) => void): Promise<boolean> {
  const missing = missingForPatroni()
  if (missing.length > 0) {
    print(`not installed: ${missing.join(', ')} (Debian: patroni, etcd-server, haproxy)`)
    return false
  }
  const kept: boolean[] = []
  for (const isSynchronous of [true, false]) {
    const mode = isSynchronous ? 'synchronous' : 'asynchronous'
    await using cluster = await PatroniCluster.start({ isSynchronous })
    await using traffic = await Traffic.start(cluster.url)
    for (const [name, act] of Object.entries(ACTS)) {
      const primary = (await cluster.primary()) ?? ''
      const markedMs = performance.now()
      act.begin(cluster, primary)
      await cluster.untilAfter(primary)
      await pause(AWAY_MS)
      if ('end' in act) act.end(cluster, primary)
      await cluster.untilWhole()
      await pause(AWAY_MS)
      print(`${mode}, ${name}: ${traffic.since(markedMs)}`)
    }
    const wrong = await traffic.check({ mayBeBehind: !isSynchronous })
    kept.push(wrong.length === 0)
    print(
      `${mode}: ${traffic.total}; ${wrong.length === 0 ? 'kept' : `BROKEN: ${wrong.join('; ')}`}`,
    )
  }
  return kept.every(Boolean)
}

/** A bot that sends and polls by one sidecar after the other, and a person who writes to it. */
class Traffic implements AsyncDisposable {
  readonly #sandbox: Sandbox
  readonly #sidecars: readonly Process[]
  readonly #ended = new AbortController()
  readonly #loops: Promise<void>[]
  /** By what was sent: the code of its answer; null: accepted. */
  readonly #sent = new Map<string, { code: string | null; atMs: number }>()
  readonly #written: string[] = []
  readonly #read: string[] = []
  #isWriting = true
  #isBehind = false

  private constructor(sandbox: Sandbox, sidecars: readonly Process[]) {
    this.#sandbox = sandbox
    this.#sidecars = sidecars
    this.#loops = [this.#send(), this.#write(), this.#poll()]
  }

  static async start(url: string): Promise<Traffic> {
    const sandbox = await createSandbox({ rates: 'off', transcriptCalls: 0 })
    const { alice, bot } = sandbox.home
    await sandbox.phone(alice.id)
    const store = { url, schema: freshSchema() }
    const options = { upstream: sandbox.url, token: bot.token, publish: true, store }
    return new Traffic(sandbox, [await startPostern(options), await startPostern(options)])
  }

  /** What was sent since then, and the longest time without an accepted send. */
  since(markedMs: number): string {
    const some = [...this.#sent.values()].filter(({ atMs }) => atMs >= markedMs)
    const accepted = some.filter(({ code }) => code === null).map(({ atMs }) => atMs)
    const gaps = accepted.map((atMs, n) => atMs - (accepted[n - 1] ?? markedMs))
    const codes = new Set(some.flatMap(({ code }) => code ?? []))
    const refused = codes.size === 0 ? '' : ` (refused: ${[...codes].join(', ')})`
    return `${accepted.length} of ${some.length} sends accepted${refused}, none for ${(Math.max(0, ...gaps) / 1000).toFixed(1)} s`
  }

  get total(): string {
    const read = new Set(this.#read)
    const again = this.#read.length - read.size
    const behind = this.#isBehind
      ? '; commits are gone with a primary, and all is refused since'
      : ''
    return `${this.#sent.size} sent, ${this.#written.length} written, ${read.size} read, ${again} of them again${behind}`
  }

  /**
   * Lets everything be read.
   * @param o `mayBeBehind`: commits may be gone with a primary; then all is refused from there on
   * @returns what was broken
   */
  async check({ mayBeBehind }: { mayBeBehind: boolean }): Promise<string[]> {
    this.#isWriting = false
    await pause(CALM_MS)
    const reasons = await Promise.all(this.#sidecars.map(reasonsOf))
    this.#isBehind = reasons.every((codes) => codes.includes('store-rolled-back'))
    this.#ended.abort()
    await Promise.all(this.#loops)
    const phone = await this.#sandbox.phone(this.#sandbox.home.alice.id)
    const seen = phone.inbox.map(({ text }) => text)
    const wrong: string[] = []
    for (const [text, { code }] of this.#sent) {
      const times = seen.filter((one) => one === text).length
      if (code === null && times !== 1) wrong.push(`accepted and there ${times} times: ${text}`)
      if (code === 'postern_store_unwritable' && times > 0) wrong.push(`refused and there: ${text}`)
    }
    if (this.#isBehind && mayBeBehind) return wrong
    if (reasons.flat().length > 0) wrong.push(`not ready: ${reasons.flat().join(', ')}`)
    const lost = this.#written.filter((text) => !this.#read.includes(text))
    if (lost.length > 0) wrong.push(`never read: ${lost.join(', ')}`)
    return wrong
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    await Promise.all(this.#loops)
    for (const sidecar of this.#sidecars) await sidecar[Symbol.asyncDispose]()
    await this.#sandbox[Symbol.asyncDispose]()
  }

  async #send(): Promise<void> {
    const chatId = this.#sandbox.home.privateChat
    for (let n = 0; !this.#ended.signal.aborted; n++) {
      const atMs = performance.now()
      const text = `sent ${n}`
      const body = JSON.stringify({ chatId, text })
      const code = await this.#call(n, 'POST', '/messages', body).then(
        (answer) => (answer.ok ? null : answer.error.code),
        () => 'no answer',
      )
      this.#sent.set(text, { code, atMs })
      await pause(EVERY_MS)
    }
  }

  async #write(): Promise<void> {
    const { alice, privateChat } = this.#sandbox.home
    const phone = await this.#sandbox.phone(alice.id)
    for (let n = 0; this.#isWriting && !this.#ended.signal.aborted; n++) {
      await phone.write(privateChat, `written ${n}`)
      this.#written.push(`written ${n}`)
      await pause(EVERY_MS)
    }
  }

  async #poll(): Promise<void> {
    let offset = 0
    for (let n = 0; !this.#ended.signal.aborted; n++) {
      const answer = await this.#call(n, 'GET', `/updates?timeout=2&offset=${offset}`).catch(
        () => null,
      )
      if (answer?.ok !== true) {
        await pause(EVERY_MS)
        continue
      }
      for (const { updateId, message } of answer.result as Update[]) {
        offset = updateId + 1
        if (message?.text !== undefined) this.#read.push(message.text)
      }
    }
  }

  async #call(n: number, method: string, path: string, body?: string): Promise<Answer> {
    const { url } = this.#sidecars[n % this.#sidecars.length] as Process
    const call = { method, path, body }
    return (await callAt(url, this.#sandbox.home.bot.token, call)).json as Answer
  }
}

async function reasonsOf({ admin }: Process): Promise<string[]> {
  const answer = await fetch(`${admin}/readyz`)
  const { reasons } = (await answer.json()) as { reasons: { code: string }[] }
  return reasons.map(({ code }) => code)
}

type Answer = { ok: true; result: unknown } | { ok: false; error: { code: string } }
