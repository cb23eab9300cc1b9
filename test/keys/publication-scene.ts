/** A keyring in memory and a service with one bot, for tests of what publishes keys. */
import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { beforeEach, vi } from 'vitest'
import type { Bot } from '../../src/api/bot.ts'
import { Clocks } from '../../src/kernel/clocks.ts'
import type { Keyring } from '../../src/keys/keyring.ts'
import type { RotationOutcome } from '../../src/keys/life/life.ts'
import type { Facts } from '../../src/kernel/own-key/key-state.ts'
import type { ReadyKey } from '../../src/kernel/own-key/own-key.ts'
import { Publication, type PublicationChange } from '../../src/keys/publication.ts'
import { KeyDriver, type PublicationCalls } from '../../src/keys/driver.ts'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'
import { useFakeTime } from '../support/fake-time.ts'
import { watchedLog } from '../support/watched-log.ts'

/** The time at which each scene begins. */
export const START_MS = 1_000_000_000

/** A key of ours; active and published unless told. */
export const keyOf = (fingerprint: string, more: Partial<ReadyKey> = {}): ReadyKey => ({
  fingerprint,
  fingerprints: [fingerprint],
  state: 'active',
  createdAtMs: 500,
  offeredAtMs: 600,
  publishedAtMs: 700,
  retiredAtMs: null,
  destroyedAtMs: null,
  certificate: `certificate of ${fingerprint}`,
  endsMs: Infinity,
  unlocked: {} as UnlockedKey,
  ...more,
})

/** A key that the service was not told of yet. */
export const pendingKey = (fingerprint: string, more: Partial<ReadyKey> = {}): ReadyKey =>
  keyOf(fingerprint, { state: 'pending', offeredAtMs: null, publishedAtMs: null, ...more })

/** Keys on disk after a first publication, at a moment of their lives. */
export const factsOf = (keys: Facts['keys'], more: Partial<Facts> = {}): Facts => ({
  keys,
  firstPublishedAtMs: 5,
  nowMs: 1_000_000,
  monotonicMs: 5,
  isClockBehind: false,
  ...more,
})

export const OLD = keyOf('old')
export const NEW = pendingKey('new')

export interface SceneOptions {
  keys?: ReadyKey[]
  /** What `/me` shows. */
  shown?: string | null
  username?: string | undefined
  /** How far our clock is ahead of the service's. */
  clockSkewMs?: number
  rotateEveryMs?: number
  /** What the first calls of `PUT /key` are refused with. */
  puts?: Error[]
  /** What becomes of the first calls of `GET /me`. */
  looks?: Look[]
}

/** A `GET /me` that fails, waits, or shows a fingerprint from now on; null: it works. */
export type Look = Error | Promise<void> | string | null

/** What the keyring and the service were asked, in order, and what the log said. */
export class Scene {
  readonly steps: string[] = []
  readonly lines: Record<string, unknown>[] = []
  readonly #options: SceneOptions
  keys: ReadyKey[]
  shown: string | null
  /** What becomes of the next calls, one after the other; null: it works, and so do all later ones. */
  readonly puts: (Error | null)[]
  readonly looks: Look[]
  readonly marks: (Error | null)[] = []
  readonly promotes: (Error | null)[] = []
  /** Whether `/me` shows a key that was put. */
  shows = true
  /** Called at each step. */
  onStep: () => void = () => {}
  #made = 0

  constructor(options: SceneOptions = {}) {
    this.#options = options
    this.keys = [...(options.keys ?? [])]
    this.shown = options.shown ?? null
    this.puts = [...(options.puts ?? [])]
    this.looks = [...(options.looks ?? [])]
  }

  get parts() {
    const log = watchedLog((line) => this.lines.push(line))
    const { rotateEveryMs = null } = this.#options
    return { keyring: this.keyring, calls: this.calls, log, rotateEveryMs }
  }

  get calls(): PublicationCalls {
    const username = 'username' in this.#options ? this.#options.username : 'mybot'
    return {
      me: async () => {
        this.#step('me')
        const look = this.looks.shift()
        if (look instanceof Error) throw look
        if (typeof look === 'string') this.shown = look
        await look
        return { id: 900, username, fingerprint: this.shown } as Bot
      },
      putKey: async ({ publicKey, fingerprint }) => {
        this.#step(`put ${publicKey} as ${fingerprint}`)
        const fails = this.puts.shift() ?? null
        if (fails !== null) throw fails
        if (this.shows) this.shown = fingerprint
      },
    }
  }

  get clocks(): Clocks {
    const { clockSkewMs } = this.#options
    return new Clocks(SYSTEM_TIME, () =>
      clockSkewMs === undefined ? null : Date.now() - clockSkewMs,
    )
  }

  get keyring(): Keyring {
    // oxlint-disable-next-line no-this-alias -- getters need the scene
    const scene = this
    const keyring = {
      clocks: scene.clocks,
      time: SYSTEM_TIME,
      get all() {
        return scene.keys
      },
      get active() {
        return scene.keys.find(({ state }) => state === 'active')
      },
      get pending() {
        return scene.keys.find(({ state }) => state === 'pending')
      },
      get firstPublishedAtMs() {
        const times = scene.keys.flatMap(({ publishedAtMs }) => publishedAtMs ?? [])
        return times.length === 0 ? null : Math.min(...times)
      },
      find: (print: string) => scene.keys.find(({ fingerprint }) => fingerprint === print),
      makePending: async (userId: string) => {
        const createdAtMs = scene.clocks.agreedMs()
        const key = pendingKey(`made${++scene.#made}`, { createdAtMs })
        scene.#step(`make ${key.fingerprint} for ${userId}`)
        scene.keys.unshift(key)
        return key
      },
      markOffered: async (print: string, offeredAtMs: number | null) => {
        const fails = scene.marks.shift() ?? null
        if (fails !== null) throw fails
        scene.#step(`mark ${print} ${offeredAtMs === null ? 'not ' : ''}offered`)
        scene.#change(print, { offeredAtMs })
      },
      promote: async (print: string) => {
        const fails = scene.promotes.shift() ?? null
        if (fails !== null) throw fails
        scene.#step(`promote ${print}`)
        const before = keyring.active
        if (before !== undefined) scene.#change(before.fingerprint, { state: 'retired' })
        scene.#change(print, { state: 'active', publishedAtMs: Date.now() })
      },
      discard: async (print: string) => {
        scene.#step(`discard ${print}`)
        scene.keys = scene.keys.filter(({ fingerprint }) => fingerprint !== print)
      },
    }
    return keyring as unknown as Keyring
  }

  #step(step: string): void {
    this.steps.push(step)
    this.onStep()
  }

  #change(print: string, change: Partial<ReadyKey>): void {
    this.keys = this.keys.map((key) => (key.fingerprint === print ? { ...key, ...change } : key))
  }

  /** The messages of the log at a level of pino's, with their fields. */
  logged(level: 'info' | 'warn'): Record<string, unknown>[] {
    const number = { info: 30, warn: 40 }[level]
    return this.lines
      .filter((line) => line['level'] === number)
      .map(({ level: _level, time: _time, ...fields }) => fields)
  }
}

/** What is put to the service, and seen to be shown. */
export const published = (print: string): string[] => [
  `put certificate of ${print} as ${print}`,
  'me',
  `promote ${print}`,
]

/** Lets time pass, by fake timers, until a promise is settled. */
export async function passing<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false
  const settle = (): void => void (isSettled = true)
  promise.then(settle, settle)
  await vi.advanceTimersByTimeAsync(0)
  for (let step = 0; !isSettled; step++) {
    if (step === 400) throw new Error('it is not settled after 100 s')
    await vi.advanceTimersByTimeAsync(250)
  }
  return await promise
}

/** A driver of the key's life, and what it announces. */
export function driving(o: SceneOptions = {}) {
  const scene = new Scene(o)
  const states: string[] = []
  const outcomes: RotationOutcome[] = []
  const stop = new AbortController()
  const driver = new KeyDriver(
    scene.parts,
    (one) => {
      if (one.kind === 'state') states.push(`${one.state}: ${one.detail}`)
      if (one.kind === 'rotation-attempt') outcomes.push(one.outcome)
    },
    stop.signal,
  )
  const rotation = () => (driver.rotation?.endedAtMs === null ? driver.rotation : null)
  return { scene, driver, rotation, states, outcomes, stop }
}

/** The same with a rotation from the old key to the new one under way. */
export const rotating = (o: SceneOptions = {}) => driving({ keys: [NEW, OLD], shown: 'old', ...o })

/** The same while the old key still counts as published, since the new one is on disk just now. */
export function rotatingPublished() {
  const all = driving({ keys: [OLD], shown: 'old' })
  all.scene.keys = [NEW, OLD]
  all.driver.apply({ kind: 'key-found', detail: 'an imported key is on disk' })
  return all
}

/** A publication, with what it tells. */
export function publishing(o: SceneOptions = {}) {
  const scene = new Scene(o)
  const changes: PublicationChange[] = []
  const outcomes: RotationOutcome[] = []
  const publication = new Publication(scene.parts)
  publication.onState((change) => changes.push(change))
  publication.onRotationAttempt((outcome) => outcomes.push(outcome))
  const asked = (): number => scene.steps.filter((step) => step === 'me').length
  return { scene, publication, changes, outcomes, asked }
}

/** The same once it has started, and looked once. */
export async function started(o: SceneOptions) {
  const all = publishing(o)
  all.publication.start()
  await vi.advanceTimersByTimeAsync(0)
  return all
}

/** Each test of a file begins at `START_MS`, and looks are made no later than planned. */
export function useLookTimes(): void {
  useFakeTime({ now: START_MS })
  beforeEach(() => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0)
    return () => random.mockRestore()
  })
}
