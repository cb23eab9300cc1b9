/** Each reason that `ServiceWatch` finds by itself begins and ends in time, at forty random moments. */
import { expect, test, vi } from 'vitest'
import type { ReasonCode } from '../../src/observe/health.ts'
import type { ServiceWatch } from '../../src/observe/service-watch.ts'
import { Random } from '../support/faults-random.ts'
import { BEHIND_MS, CALL_MS, startWatch, until, useWatchTime } from './watch-scene.ts'

const TIMES = 40

useWatchTime()

/** How `/me` answers, or what else is wrong; null is well. */
type Wrong = (watch: ServiceWatch) => void
interface Fault {
  code: ReasonCode
  cause: string
  /** Of `/me`, in place of a good answer. */
  me?: Wrong
  /** Of a look at the disk or the database. */
  local?: Wrong
}

const FAULTS: Fault[] = [
  { code: 'upstream', cause: 'nobody answers', me: (watch) => watch.unreachable('cut') },
  { code: 'upstream', cause: '500', me: (w) => w.answered({ route: 'GET /me', status: 500 }) },
  { code: 'upstream', cause: '503', me: (w) => w.answered({ route: 'GET /me', status: 503 }) },
  { code: 'paused', cause: 'the owner’s pause', me: (watch) => watch.paused() },
  { code: 'identity', cause: 'another bot', me: (watch) => watch.identified(false) },
  { code: 'clock', cause: 'ten minutes', me: (watch) => watch.clock(600_000) },
  { code: 'token', cause: '401', me: (watch) => watch.unauthorized() },
  { code: 'store', cause: 'a full disk', local: (watch) => watch.writable(false) },
  { code: 'store-unreachable', cause: 'gone', local: (watch) => watch.storeIs('unreachable') },
  { code: 'store-rolled-back', cause: 'behind', local: (watch) => watch.storeIs('rolled-back') },
]

/** A watch before a service, a disk and a database that do as they are told; looks take their time. */
async function watching(random: Random) {
  const now = { fault: null as Fault | null, isAnother: false }
  const takeTime = (mostMs: number): Promise<void> =>
    new Promise((resolve) => setTimeout(resolve, random.between(0, mostMs * 10) / 10))
  const { health } = startWatch((watch) => ({
    askService: async () => {
      await takeTime(400)
      if (now.fault?.me !== undefined) return now.fault.me(watch)
      watch.answered({ route: 'GET /me', status: 200 })
      watch.identified(true)
      watch.sawStatus('active')
      watch.clock(0)
    },
    tryStore: async () => {
      if (now.fault?.code === 'store') throw new Error('the disk is full')
    },
    reachStore: async () => {
      await takeTime(50)
      if (now.fault?.code.startsWith('store-') === true) now.fault.local?.(watch)
      else watch.storeIs('reachable')
    },
    reloadToken: async () => now.isAnother,
    lookLocally: async () => {
      await takeTime(random.oneIn(4) ? 900 : 3)
      if (now.fault?.code === 'store') now.fault.local?.(watch)
    },
  }))
  await vi.advanceTimersByTimeAsync(2000)
  expect(health.ready).toBe(true)
  return { health, now }
}

test.each(FAULTS)(
  'the reason $code ($cause) begins and ends within 11 s of the fault, at any moment',
  async (fault) => {
    const random = new Random(1)
    const { health, now } = await watching(random)
    for (let times = 0; times < TIMES; times++) {
      await vi.advanceTimersByTimeAsync(random.between(0, 300_000) / 10)
      now.fault = fault
      now.isAnother = false
      expect(await until(() => health.holds(fault.code))).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
      // the last lasts for longer than the watch doubles its pauses
      const heldMs = times === TIMES - 1 ? 700_000 : random.between(0, 900_000) / 10
      await vi.advanceTimersByTimeAsync(heldMs)
      now.fault = null
      // a token is good again once there is another one
      now.isAnother = true
      expect(await until(() => health.ready)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
    }
  },
)
