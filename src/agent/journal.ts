/** The agent's journal: who asked for what, how often; never a digest, a session key or a word. */
import { appendFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Lines are appended, and read by nobody here. */
export const JOURNAL = 'postern.journal.jsonl'
/** The file before it has at most as much, and the one before that is gone. */
const FILE_MAX = 64 * 1024 * 1024
/** Counts of signatures and session keys are written together. */
const TOGETHER_MS = 60_000
const RETRY_MS = 2000
/** Lines that wait for the disk. No key is used meanwhile, so that these are of connections alone. */
const UNWRITTEN_MAX = 10_000

/** An event with a line of its own. */
export type AgentEvent = 'started' | 'stopped' | 'connected' | 'left' | 'made'

interface UseCounts {
  connection: number
  key: string
  signatures: number
  sessionKeys: number
  refused: number
}

export class AgentJournal implements Disposable {
  readonly #file: string
  readonly #uses = new Map<string, UseCounts>()
  readonly #timer: NodeJS.Timeout
  #unwritten: string[] = []
  #failedAtMs = -Infinity

  /** @param dataDir of the agent */
  constructor(dataDir: string) {
    this.#file = join(dataDir, JOURNAL)
    this.record('started', { pid: process.pid })
    this.#timer = setInterval(() => this.#writeUses(), TOGETHER_MS).unref()
  }

  /** Whether all is written. While it is not, the agent gives nothing. */
  isWritten(): boolean {
    if (this.#unwritten.length > 0) this.#flush()
    return this.#unwritten.length === 0
  }

  /** Appends an event; where that fails, later. */
  record(event: AgentEvent, about: Readonly<Record<string, string | number>>): void {
    this.#append({ event, ...about })
  }

  /** Counts the use of a key by a connection; of others, `key` must be bounded. */
  count(use: 'signatures' | 'sessionKeys' | 'refused', connection: number, key: string): void {
    const none = { connection, key, signatures: 0, sessionKeys: 0, refused: 0 }
    const name = `${connection} ${key}`
    const counts = this.#uses.get(name) ?? none
    counts[use]++
    this.#uses.set(name, counts)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    this.#writeUses()
    this.record('stopped', { pid: process.pid })
  }

  #writeUses(): void {
    const uses = [...this.#uses.values()]
    this.#uses.clear()
    for (const counts of uses) this.#append({ event: 'used', ...counts })
  }

  #append(line: object): void {
    if (this.#unwritten.length >= UNWRITTEN_MAX) return
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
