/** The agent's journal: who asked for what, how often; never a digest, a session key or a word. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Lines are appended, and read by nobody here. */
export const JOURNAL = 'postern.journal.jsonl'
/** The file before it has at most as much, and the one before that is gone. */
const FILE_MAX = 64 * 1024 * 1024
/** Connections, and the uses of each key, are summed up for so long. */
const TOGETHER_MS = 60_000
const RETRY_MS = 2000

const NONE = { signatures: 0, sessionKeys: 0, refused: 0 }
type Use = keyof typeof NONE

export class AgentJournal implements Disposable {
  readonly #file: string
  /** The uses of each key within a minute. */
  readonly #uses = new Map<string, Record<Use, number> & { key: string; callers: Set<number> }>()
  readonly #timer: NodeJS.Timeout
  #connections = { opened: 0, ended: 0 }
  #unwritten: string[] = []
  #failedAtMs = -Infinity

  /** @param dataDir of the agent */
  constructor(dataDir: string) {
    this.#file = join(dataDir, JOURNAL)
    this.record('started', { pid: process.pid })
    this.#timer = setInterval(() => this.#writeSums(), TOGETHER_MS).unref()
  }

  /** Whether all is written. While it is not, the agent gives nothing. */
  isWritten(): boolean {
    if (this.#unwritten.length > 0) this.#flush()
    return this.#unwritten.length === 0
  }

  /** Appends an event; where that fails, later. */
  record(event: 'started' | 'stopped' | 'made', about: Record<string, string | number>): void {
    this.#append({ event, ...about })
  }

  connection(what: 'opened' | 'ended'): void {
    this.#connections[what]++
  }

  /**
   * Counts the use of a key by a connection; the first in a minute is written at once.
   * @param key one of the agent's, or `new`
   */
  count(use: Use, connection: number, key: string): void {
    const counts = this.#uses.get(key) ?? { key, ...NONE, callers: new Set() }
    if (!this.#uses.has(key)) this.#append({ event: 'use', connection, key })
    this.#uses.set(key, counts)
    counts[use]++
    counts.callers.add(connection)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#writeSums()
    this.record('stopped', { pid: process.pid })
  }

  #writeSums(): void {
    // nothing is used while it is not written: the sums wait
    if (!this.isWritten()) return
    const { opened, ended } = this.#connections
    if (opened + ended > 0) this.#append({ event: 'connections', opened, ended })
    this.#connections = { opened: 0, ended: 0 }
    for (const { callers, ...counts } of this.#uses.values()) {
      this.#append({ event: 'used', ...counts, connections: callers.size })
    }
    this.#uses.clear()
  }

  #append(line: object): void {
    this.#unwritten.push(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)
    this.#flush()
  }

  #flush(): void {
    const nowMs = performance.now()
    if (nowMs - this.#failedAtMs < RETRY_MS) return
    try {
      const text = this.#unwritten.join('')
      const { size = 0 } = statSync(this.#file, { throwIfNoEntry: false }) ?? {}
      if (size + text.length > FILE_MAX) renameSync(this.#file, `${this.#file}.1`)
      appendFileSync(this.#file, text, { mode: 0o600 })
      this.#unwritten = []
    } catch {
      this.#failedAtMs = nowMs
    }
  }
}
