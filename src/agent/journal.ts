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

export type AgentJournal = ReturnType<typeof openJournal>

/** @param dataDir of the agent */
export function openJournal(dataDir: string) {
  const file = join(dataDir, JOURNAL)
  /** The uses of each key within a minute. */
  const uses = new Map<string, Record<Use, number> & { key: string; callers: Set<number> }>()
  let connections = { opened: 0, ended: 0 }
  let unwritten: string[] = []
  let failedAtMs = -Infinity

  /** Whether all is written. While it is not, the agent gives nothing. */
  const isWritten = (): boolean => {
    if (unwritten.length > 0) flush()
    return unwritten.length === 0
  }
  const writeSums = (): void => {
    // nothing is used while it is not written: the sums wait
    if (!isWritten()) return
    const { opened, ended } = connections
    if (opened + ended > 0) append({ event: 'connections', opened, ended })
    connections = { opened: 0, ended: 0 }
    for (const { callers, ...counts } of uses.values()) {
      append({ event: 'used', ...counts, connections: callers.size })
    }
    uses.clear()
  }
  const append = (line: object): void => {
    unwritten.push(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)
    flush()
  }
  const flush = (): void => {
    const nowMs = performance.now()
    if (nowMs - failedAtMs < RETRY_MS) return
    try {
      const text = unwritten.join('')
      const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {}
      if (size + text.length > FILE_MAX) renameSync(file, `${file}.1`)
      appendFileSync(file, text, { mode: 0o600 })
      unwritten = []
    } catch {
      failedAtMs = nowMs
    }
  }
  append({ event: 'started', pid: process.pid })
  const timer = setInterval(writeSums, TOGETHER_MS).unref()

  return {
    isWritten,
    /** Appends an event; where that fails, later. */
    record: (event: 'made', about: Record<string, string | number>) => append({ event, ...about }),
    connection: (what: 'opened' | 'ended') => connections[what]++,
    /**
     * Counts the use of a key by a connection; the first in a minute is written at once.
     * @param key one of the agent's, or `new`
     */
    count: (use: Use, connection: number, key: string): void => {
      const counts = uses.get(key) ?? { key, ...NONE, callers: new Set() }
      if (!uses.has(key)) append({ event: 'use', connection, key })
      uses.set(key, counts)
      counts[use]++
      counts.callers.add(connection)
    },
    [Symbol.dispose]: (): void => {
      clearInterval(timer)
      writeSums()
      append({ event: 'stopped', pid: process.pid })
    },
  }
}
