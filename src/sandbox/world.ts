import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Faults } from './faults/faults.ts'
import type { BotState, ChatState, PersonState, WorldEvent } from './state.ts'
import type { Transcript } from './transcript.ts'
import { Windows } from './rules/windows.ts'

/** Choices that change what the service enforces. */
export interface WorldRules {
  /** `spec`: every rate window of the limits table. `off`: none, for benchmarks. */
  rates: 'spec' | 'off'
  /** `public`: https and public addresses, as the spec says. `local`: http and any address too. */
  webhooks: 'public' | 'local'
  /** Every address a host name stands for. */
  resolveHost: (host: string) => Promise<string[]>
}

/** Who or what holds a public handle: people, bots, groups and channels share one pool. */
export type HandleOwner = { account: number } | { chat: number }

/** First ids; the ranges do not meet, and chat ids do not fit 32 bits. */
const FIRST = { person: 41_000_001, bot: 82_000_001, chat: 9_100_000_001 } as const

/** The whole service: its accounts, chats and files, its time, and what it saw. */
export class World {
  readonly clock: Clock
  readonly rules: WorldRules
  readonly transcript: Transcript
  readonly faults: Faults
  readonly people = new Map<number, PersonState>()
  readonly bots = new Map<number, BotState>()
  readonly chats = new Map<number, ChatState>()
  /** By handle in lower case. */
  readonly handles = new Map<string, HandleOwner>()
  /** By media id. */
  readonly files = new Map<string, Uint8Array>()
  /** Windows of callers' addresses. */
  readonly addresses: Windows
  /** Aborted when the sandbox closes. */
  readonly closing = new AbortController()
  readonly #listeners = new Set<(event: WorldEvent) => void>()
  readonly #next = { ...FIRST } as Record<keyof typeof FIRST, number>

  constructor(parts: { clock: Clock; rules: WorldRules; transcript: Transcript; faults: Faults }) {
    this.clock = parts.clock
    this.rules = parts.rules
    this.transcript = parts.transcript
    this.faults = parts.faults
    this.addresses = new Windows(parts.rules.rates)
  }

  /** The next id of its range. */
  nextId(kind: keyof typeof FIRST): number {
    return this.#next[kind]++
  }

  /** A random id for presses and files: 22 characters of base64url. */
  randomId(): string {
    return randomBytes(16).toString('base64url')
  }

  /** Calls back on everything that phones are told, until the returned function is called. */
  listen(listener: (event: WorldEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  emit(event: WorldEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}
