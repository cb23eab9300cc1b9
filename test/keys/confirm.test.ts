import { SYSTEM_TIME } from '../../src/util/clock.ts'
import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import type { Bot } from '../../src/api/bot.ts'
import { NoResponseError } from '../../src/errors.ts'
import type { Keyring } from '../../src/keys/keyring.ts'
import { KeyDriver } from '../../src/keys/driver.ts'
import type { ReadyKey } from '../../src/kernel/own-key/own-key.ts'
import { watchedLog } from '../support/watched-log.ts'
import { OLD } from './publication-scene.ts'
import { serviceError } from './support.ts'

useFakeTime({ now: 1_000_000 })

const KEY = {
  fingerprint: 'new',
  certificate: 'armored',
  state: 'pending',
  createdAtMs: 0,
  offeredAtMs: null,
  endsMs: Infinity,
  unlocked: {},
} as ReadyKey
const [refused, unanswered] = [
  () => serviceError(409),
  () => new NoResponseError('postern_upstream_unreachable', 'cut'),
]

/** What `/me` shows, time after time; the last for good. */
type Looks = (string | null | (() => Error))[]

/** One attempt, by the operator's command, in a rotation from the old key. */
async function published(
  o: {
    key?: Partial<ReadyKey>
    puts?: ((() => Error | undefined) | null)[]
    looks: Looks
    steps?: string[]
  },
  controller = new AbortController(),
): Promise<{ outcome: { kind: string; error?: unknown }; steps: string[]; tookMs: number }> {
  const { puts = [null], looks, steps = [] } = o
  let [put, look] = [0, -1]
  const pending = { ...KEY, ...o.key }
  const keyring = {
    all: [pending, OLD],
    pending,
    active: OLD,
    firstPublishedAtMs: 1,
    clocks: { isBehind: () => false },
    time: SYSTEM_TIME,
    find: (print: string) => [pending, OLD].find(({ fingerprint }) => fingerprint === print),
    markOffered: async (print: string, atMs: number | null) =>
      void steps.push(`mark ${print} ${atMs}`),
    promote: async (print: string) => void steps.push(`promote ${print}`),
  }
  const begunMs = Date.now()
  let kind = ''
  const driver = new KeyDriver(
    {
      keyring: keyring as unknown as Keyring,
      log: watchedLog(),
      rotateEveryMs: null,
      calls: {
        putKey: async ({ publicKey, fingerprint }) => {
          steps.push(`put ${publicKey} ${fingerprint}`)
          const fails = puts[Math.min(put++, puts.length - 1)]
          const error = fails?.()
          if (error) throw error
        },
        me: async () => {
          if (look++ < 0) return { fingerprint: 'old' } as Bot
          steps.push('me')
          const shown = looks[Math.min(look - 1, looks.length - 1)]
          if (typeof shown === 'function') throw shown()
          return { fingerprint: shown } as Bot
        },
      },
    },
    (one) => {
      if (one.kind === 'rotation-attempt') kind = one.outcome
    },
    controller.signal,
  )
  let error: unknown
  const publishing = driver.run('publish').catch((thrown: unknown) => (error = thrown))
  await vi.runAllTimersAsync()
  await publishing
  if (kind === '') throw error
  return { outcome: { kind, error }, steps, tookMs: Date.now() - begunMs }
}

const PUT = ['put armored new']
const looking = (count: number): string[] => Array.from({ length: count }, () => 'me')

test('a key is marked before it is offered, and promoted once it is shown', async () => {
  const { outcome, steps, tookMs } = await published({ looks: ['NEW'] })
  expect(outcome).toMatchObject({ kind: 'done' })
  expect(steps).toEqual(['mark new 1000000', ...PUT, 'me', 'promote new'])
  expect(tookMs).toBe(0)
})

test('a key that was offered before is not marked again', async () => {
  const { steps } = await published({ key: { offeredAtMs: 5 }, looks: ['new'] })
  expect(steps).toEqual([...PUT, 'me', 'promote new'])
})

test('a key that was taken is looked for with longer and longer pauses', async () => {
  const late = await published({ looks: ['old', 'old', 'old', 'new'] })
  expect(late.outcome).toMatchObject({ kind: 'done' })
  expect(late.tookMs).toBe(250 + 500 + 1000)
  const never = await published({ looks: ['old'] })
  expect(never.outcome).toMatchObject({ kind: 'unconfirmed' })
  expect(never.tookMs).toBe(250 + 500 + 1000 + 2000 + 4000 + 4000 + 4000)
  // it may be shown yet: it stays marked, and is offered once
  expect(never.steps).toEqual(['mark new 1001750', ...PUT, ...looking(8)])
})

test('a key that is neither the one before nor the new one ends the looking', async () => {
  const { outcome, steps } = await published({ looks: ['old', 'foreign', 'new'] })
  expect(outcome).toMatchObject({ kind: 'unconfirmed' })
  expect(steps.filter((step) => step === 'me')).toHaveLength(2)
})

test('a key that was refused is looked for once, and counts as never offered', async () => {
  const { outcome, steps, tookMs } = await published({ puts: [refused], looks: ['old'] })
  expect(outcome).toMatchObject({ kind: 'refused', error: { status: 409 } })
  expect(steps).toEqual(['mark new 1000000', ...PUT, 'me', 'mark new null'])
  expect(tookMs).toBe(0)
})

test.each([400, 401, 403, 413, 429])(
  'a key that was refused with %i was never offered',
  async (status) => {
    const { steps } = await published({ puts: [() => serviceError(status)], looks: ['old'] })
    expect(steps.at(-1)).toBe('mark new null')
  },
)

test('a refused key that an earlier process may have offered stays marked', async () => {
  const { steps } = await published({ key: { offeredAtMs: 5 }, puts: [refused], looks: ['old'] })
  expect(steps).toEqual([...PUT, 'me'])
})

test('a key that is shown although it was refused is ours', async () => {
  const { outcome } = await published({ puts: [refused], looks: ['new'] })
  expect(outcome).toMatchObject({ kind: 'done' })
})

test.each([
  ['no answer', unanswered],
  ['an error of the service’s own', () => serviceError(500)],
  ['a time limit of what stands between', () => serviceError(408)],
  ['a redirect', () => serviceError(302)],
])('after %s the same key is offered once more, and stays marked', async (_, fails) => {
  const { outcome, steps, tookMs } = await published({ puts: [fails], looks: ['old'] })
  expect(outcome).toMatchObject({ kind: 'unanswered' })
  expect(steps).toEqual(['mark new 1000000', ...PUT, ...looking(3), ...PUT, ...looking(3)])
  expect(tookMs).toBe(2 * (500 + 1500))
})

test('a lost answer is not forgotten when the second offer is refused', async () => {
  const { outcome, steps } = await published({ puts: [unanswered, refused], looks: ['old'] })
  expect(outcome).toMatchObject({ kind: 'unanswered', error: { status: 409 } })
  expect(steps).not.toContain('mark new null')
})

test('after a lost answer nothing is offered over a key that came meanwhile', async () => {
  const { outcome, steps } = await published({ puts: [unanswered], looks: ['foreign'] })
  expect(outcome).toMatchObject({ kind: 'unanswered' })
  expect(steps.filter((step) => step.startsWith('put'))).toHaveLength(1)
})

test('a look that fails is made again, and one that is refused is not', async () => {
  const again = await published({ looks: [unanswered, () => serviceError(500), 'new'] })
  expect(again.outcome).toMatchObject({ kind: 'done' })
  const once = await published({ looks: [() => serviceError(401), 'new'] })
  expect(once.outcome).toMatchObject({ kind: 'unconfirmed' })
  // what could not be asked is not what was there before
  const lost = await published({ puts: [unanswered], looks: ['old', 'old', unanswered] })
  expect(lost.outcome).toMatchObject({ kind: 'unanswered' })
  expect(lost.steps.filter((step) => step.startsWith('put'))).toHaveLength(1)
})

describe('a signal', () => {
  const reason = new Error('stopped')
  /** One that was aborted, and what was done until it ended. */
  async function ended(o: {
    puts?: (() => Error | undefined)[]
    looks: Looks
    controller: AbortController
  }) {
    const steps: string[] = []
    await expect(published({ ...o, steps }, o.controller)).rejects.toBe(reason)
    return steps
  }

  test('ends it before anything is marked', async () => {
    const controller = new AbortController()
    controller.abort(reason)
    expect(await ended({ looks: ['new'], controller })).toEqual([])
  })

  test('ends a pause at once, and leaves nothing behind', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(reason), 100)
    expect(await ended({ looks: ['old'], controller })).toEqual(['mark new 1000000', ...PUT, 'me'])
    expect(Date.now()).toBe(1_000_100)
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('that came while the key was taken ends it before the first look', async () => {
    const controller = new AbortController()
    const taking = (): undefined => controller.abort(reason) as undefined
    expect(await ended({ puts: [taking], looks: ['new'], controller })).toEqual([
      'mark new 1000000',
      ...PUT,
    ])
  })

  test('that no pause needed leaves nothing behind either', async () => {
    const controller = new AbortController()
    await published({ looks: ['old', 'old', 'new'] }, controller)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('ends it where a call failed by it: nothing is looked at or put afterwards', async () => {
    const controllers = [new AbortController(), new AbortController()]
    const [whilePutting, whileLooking] = controllers.map((controller) => (): Error => {
      controller.abort(reason)
      return serviceError(403)
    }) as [() => Error, () => Error]
    const [first, second] = controllers as [AbortController, AbortController]
    expect(await ended({ puts: [whilePutting], looks: ['old'], controller: first })).toEqual([
      'mark new 1000000',
      ...PUT,
    ])
    expect(await ended({ looks: [whileLooking], controller: second })).toEqual([
      'mark new 1000000',
      ...PUT,
      'me',
    ])
  })
})
