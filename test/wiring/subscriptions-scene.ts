/** A sidecar's parts that are played, for tests of its subscriptions. */
import { expect } from 'vitest'
import type { Core } from '../../src/wiring/core.ts'
import type { Link } from '../../src/wiring/link.ts'
import { PlayedParts } from './played-parts.ts'

/** Key, and whether it is one of ours that opens. */
const keyOf = (fingerprint: string, state: string, createdAtMs: number, isReady = true) => ({
  fingerprint,
  state,
  createdAtMs,
  publishedAtMs: null,
  unlocked: isReady ? {} : null,
})
const KEYS = [keyOf('a', 'active', 9), keyOf('b', 'retired', 7), keyOf('c', 'destroyed', 5, false)]

type Read = () => unknown

/** The link and the core of a sidecar. @param o parts that are not there, or are so */
export function scene(
  o: { has?: boolean; publicationState?: string; privateReadable?: boolean } = {},
) {
  const { has = true, publicationState = 'published', privateReadable = false } = o
  const parts = new PlayedParts()
  const shown = new Map<string, Read>()
  const show = (name: string, read: Read) => void shown.set(name, read)
  const log = parts.part('log')
  const health = parts.part('health', { ready: false, holds: (code: string) => code === 'store' })
  const link: Link = parts.part('link', {
    url: 'http://service',
    bot: () => null,
    health,
    alerts: parts.part('alerts'),
    metrics: parts.part('metrics', { show, showValue: show }),
    watch: parts.part('watch'),
    warnings: parts.part('warnings', { holds: (code: string) => code === 'key-ending' }),
    upstream: { load: () => ({ calls: { busy: 3, waiting: 4 } }) },
  })
  const knownChats = parts.part('knownChats', { privateReadable })
  const lookups = { lists: { hits: 1, misses: 2 }, people: { hits: 3, misses: 4 } }
  const core: Core = parts.part('core', {
    store: parts.part('store'),
    engine: parts.part('engine', {
      load: () => ({
        threads: { judge: { busy: 1, waiting: 2 } },
        certificates: has ? { hits: 7, misses: 8 } : null,
      }),
    }),
    keyring: parts.part('keyring', {
      all: has ? KEYS : [],
      oldestMs: 7,
      find: (fingerprint: string) => KEYS.find((key) => key.fingerprint === fingerprint),
    }),
    replayMemory: has ? parts.part('replayMemory') : null,
    holder: has ? parts.part('holder', { state: { reason: '' } }) : null,
    publication: has
      ? parts.part('publication', { state: publicationState, remoteKeyState: 'equal' })
      : null,
    knownChats,
    known: {
      knownChats,
      journal: parts.part('journal'),
      trust: parts.part('trust', {
        policies: { bot: 'open', for: () => 'pinned' },
        isRemembered: (userId: number) => userId === 7,
      }),
      names: parts.part('names'),
      keyListHistory: parts.part('keyListHistory'),
      modes: parts.part('modes', { lookups: { hits: 5, misses: 6 } }),
      directory: parts.part('directory', { lookups }),
    },
    journalHeads: parts.part('journalHeads'),
    incoming: has ? parts.part('incoming') : null,
    attachments: parts.part('attachments', { openings: 2, spoolBytes: 1000 }),
    messages: parts.part('messages'),
    clearFields: parts.part('clearFields'),
    keyUsage: parts.part('keyUsage'),
    outcomes: parts.part('outcomes'),
  })
  return { parts, shown, link, core, log }
}

/** A line of `PlayedParts`. */
export const line = (path: string, ...args: unknown[]) =>
  [path, ...args.map((arg) => JSON.stringify(arg))].join(' ')
export const count = (name: string, labels: object = {}) =>
  line('metrics.count', `postern_${name}`, labels)
export const observe = (name: string, labels: object, value: number) =>
  line('metrics.observe', `postern_${name}`, labels, value)

/** Each event with what it does. */
export type Effects = readonly (readonly [path: string, event: unknown, calls: string[]])[]

export async function expectEffects(parts: PlayedParts, effects: Effects): Promise<void> {
  for (const [path, event, calls] of effects) {
    expect([path, event, await parts.fire(path, event)]).toEqual([path, event, calls])
  }
}
