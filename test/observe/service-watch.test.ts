/** The delay of readiness, with a fake clock and a played service. */
import { expect, test, vi } from 'vitest'
import { Health } from '../../src/observe/health.ts'
import type { Probes } from '../../src/observe/probes.ts'
import { ServiceWatch } from '../../src/observe/service-watch.ts'
import { BEHIND_MS, CALL_MS, startWatch, until, useWatchTime } from './watch-scene.ts'

/** The bound for a bot that has had no traffic for an hour. */
const RESTING_BEHIND_MS = 60_000

useWatchTime()

const me = (status: number) => ({ route: 'GET /me', status })

/** A watch that has started, before a service that answers as `service.answer` does. */
async function watching(more: Partial<Probes> = {}) {
  const service = { answer: () => {}, asked: 0 }
  const { health, watch } = startWatch(() => ({
    askService: async () => {
      service.asked++
      service.answer()
    },
    ...more,
  }))
  service.answer = () => watch.answered(me(200))
  await vi.advanceTimersByTimeAsync(0)
  expect(health.ready).toBe(true)
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  return { health, watch, service, pass }
}

test('`ServiceWatch` calls `/me` once in ten seconds', async () => {
  const { service, pass } = await watching()
  expect(service.asked).toBe(1)
  await pass(60_000)
  expect(service.asked).toBe(7)
})

/** One that had no traffic for an hour. */
async function resting() {
  const scene = await watching()
  await scene.pass(3_600_000)
  const { asked } = scene.service
  return { ...scene, askedSince: () => scene.service.asked - asked }
}

test('`ServiceWatch` of a bot at rest calls `/me` every 50 s, and every 10 s for an hour after traffic', async () => {
  const { watch, pass, askedSince } = await resting()
  await pass(600_000)
  expect(askedSince()).toBe(12)
  watch.noteTraffic()
  await pass(3_590_000)
  expect(askedSince()).toBeGreaterThanOrEqual(12 + 359)
  await pass(620_000)
  expect(askedSince()).toBeLessThanOrEqual(12 + 361 + 13)
})

test('a reason of a bot at rest begins within a minute, and ends within 11 s', async () => {
  const { health, watch, service, pass } = await resting()
  const work = service.answer
  await pass(7000)
  service.answer = () => watch.unreachable('postern_upstream_unreachable')
  const gone = await until(() => !health.ready)
  expect(gone).toBeGreaterThan(BEHIND_MS)
  expect(gone).toBeLessThanOrEqual(RESTING_BEHIND_MS - CALL_MS)
  await pass(700_000)
  service.answer = work
  expect(await until(() => health.ready)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
})

test.each([0, 20_000, 45_000])(
  'traffic of a bot at rest, %d ms after the last probe, makes `ServiceWatch` probe in time',
  async (ms) => {
    const { health, watch, service, pass } = await resting()
    await pass(50_000 - (3_600_000 % 50_000) + ms)
    watch.noteTraffic()
    service.answer = () => watch.unreachable('postern_upstream_unreachable')
    expect(await until(() => !health.ready)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
  },
)

test('traffic of a bot that is not at rest causes no additional probe', async () => {
  const { watch, service, pass } = await watching()
  for (let n = 0; n < 60; n++) {
    await pass(1000)
    watch.noteTraffic()
  }
  expect(service.asked).toBe(7)
})

test('a successful `/me` of the bot postpones the next probe, and other calls do not', async () => {
  const { watch, service, pass } = await watching()
  for (let n = 0; n < 12; n++) {
    await pass(5000)
    watch.answered(me(200))
  }
  expect(service.asked).toBe(1)
  for (let n = 0; n < 12; n++) {
    await pass(5000)
    watch.answered({ route: 'POST /messages', status: 201 })
  }
  expect(service.asked).toBeGreaterThanOrEqual(6)
})

test('the reason `clock` names the service’s clock if the local clock was not set', () => {
  const detailOf = (health: Health) => health.all()[0]?.message
  const scene = () => {
    const health = new Health()
    const watch = new ServiceWatch(health)
    health.clear('starting')
    return { health, watch }
  }
  const theirs = scene()
  for (const skewMs of [0, -86_400_000, -86_400_000]) theirs.watch.clock(skewMs)
  expect(detailOf(theirs.health)).toContain('the service’s clock was moved ahead by 86400 s')
  theirs.watch.clock(0)
  expect(theirs.health.ready).toBe(true)
  theirs.watch.clock(600_000)
  expect(detailOf(theirs.health)).toContain('the service’s clock was moved back by 600 s')

  const ours = scene()
  ours.watch.clock(0)
  vi.setSystemTime(Date.now() + 86_400_000)
  for (const skewMs of [86_400_000, 86_400_000]) ours.watch.clock(skewMs)
  expect(detailOf(ours.health)).toMatch(/: 86400 s$/)
  const neverKnown = scene()
  neverKnown.watch.clock(600_000)
  expect(detailOf(neverKnown.health)).toMatch(/: 600 s$/)
})

test('a refused token is probed less and less often, and a new token at once', async () => {
  let isAnother = false
  const { health, watch, service, pass } = await watching({ reloadToken: async () => isAnother })
  const work = service.answer
  service.answer = () => watch.unauthorized()
  expect(await until(() => !health.ready)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
  await pass(400_000)
  const { asked } = service
  await pass(250_000)
  expect(service.asked - asked).toBeLessThanOrEqual(1)
  isAnother = true
  service.answer = work
  expect(await until(() => health.ready)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
})

test('`ServiceWatch` stops probing after a token revocation, until a call succeeds', async () => {
  const { health, watch, service, pass } = await watching()
  watch.revoked()
  await pass(120_000)
  expect(service.asked).toBe(1)
  expect(health.ready).toBe(false)
  watch.answered({ route: 'GET /chats', status: 200 })
  await pass(30_000)
  expect(health.ready).toBe(true)
  expect(service.asked).toBeGreaterThanOrEqual(3)
})

test('a failed write among successful ones is a reason until shortly after the last failure', async () => {
  const { health, watch, pass } = await watching()
  for (let n = 0; n < 10; n++) {
    watch.writable(false)
    watch.writable(true)
    await pass(3000)
    expect(health.holds('store')).toBe(true)
  }
  expect(await until(() => health.ready)).toBeLessThanOrEqual(10_000 - CALL_MS)
})

test('the clock probe runs at the time of `untilNextEndMs`', async () => {
  const endMs = Date.now() + 23_456
  const looks: number[] = []
  await watching({
    lookAtClock: () => void looks.push(Date.now() - endMs),
    untilNextEndMs: () => (endMs > Date.now() ? endMs - Date.now() : Infinity),
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(looks).toContain(0)
  expect(looks.length).toBeLessThanOrEqual(8)
})

test.each<[string, (watch: ServiceWatch) => void]>([
  ['ended', (watch) => watch[Symbol.dispose]()],
  ['was stopped', (watch) => watch.stop()],
])('a `ServiceWatch` that %s makes no further probe', async (_what, end) => {
  const { watch, service, pass } = await watching()
  end(watch)
  watch.unreachable('postern_upstream_unreachable')
  await pass(120_000)
  expect(service.asked).toBe(1)
})

test('a probe that throws does not end later probes', async () => {
  const fail = vi.fn().mockRejectedValue(new Error('broken'))
  const { health, watch, service, pass } = await watching({ lookLocally: fail, reloadToken: fail })
  service.answer = () => {
    throw new Error('no answer')
  }
  await pass(60_000)
  expect(service.asked).toBeGreaterThanOrEqual(6)
  watch.unauthorized()
  await pass(600_000)
  expect(health.holds('token')).toBe(true)
  expect(service.asked).toBeGreaterThan(8)
})

test('a local probe that hangs is a reason, delays no other probe, and is not repeated meanwhile', async () => {
  const disk = Promise.withResolvers<void>()
  const parts = { isHanging: false, looks: 0 }
  const { health, watch, service, pass } = await watching({
    lookLocally: async () => {
      parts.looks++
      if (parts.isHanging) await disk.promise
    },
  })
  parts.isHanging = true
  expect(await until(() => health.holds('store'))).toBeLessThanOrEqual(BEHIND_MS)
  const { looks } = parts
  const work = service.answer
  for (const code of ['upstream', 'paused'] as const) {
    service.answer = () => (code === 'paused' ? watch.paused() : watch.unreachable('gone'))
    expect(await until(() => health.holds(code))).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
    service.answer = () => (work(), watch.sawStatus('active'))
    expect(await until(() => !health.holds(code))).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
  }
  await pass(120_000)
  expect([parts.looks, health.holds('store')]).toEqual([looks, true])
  parts.isHanging = false
  disk.resolve()
  expect(await until(() => health.ready)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
})

test.each([0.5, 3000])('a local probe of %d ms does not delay the next `/me`', async (lookMs) => {
  const { watch, service, pass } = await watching({
    lookLocally: () => new Promise((resolve) => setTimeout(resolve, lookMs)),
  })
  await pass(9000)
  for (let heardMs = 1; heardMs <= 8001; heardMs += 200) {
    watch.answered(me(200))
    const { asked } = service
    expect(await until(() => service.asked > asked)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
    await pass(heardMs)
  }
})

test('timers that fire early do not delay the next `/me`', async () => {
  const { service } = await watching()
  const exact = performance.now.bind(performance)
  // now and then the clock is behind the timer by less than a millisecond
  let calls = 0
  const early = vi.spyOn(performance, 'now').mockImplementation(() => exact() - (++calls % 2) * 0.4)
  for (let n = 0; n < 20; n++) {
    const { asked } = service
    expect(await until(() => service.asked > asked)).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
  }
  early.mockRestore()
})

test.each([0, 1, 50, 900, 1500, 4000, 8900, 9100, 9900])(
  'errors of `/me` become a reason in time if other calls succeeded until %i ms before the probe',
  async (leftMs) => {
    const { health, watch, service, pass } = await watching()
    for (let ms = 0; ms < 20_000 - leftMs; ms += 100) {
      await pass(100)
      watch.answered({ route: 'POST /messages', status: 201 })
    }
    service.answer = () => watch.answered(me(500))
    expect(await until(() => health.holds('upstream'))).toBeLessThanOrEqual(BEHIND_MS - CALL_MS)
  },
)

test('errors of `/me` alone are no reason while other calls succeed', async () => {
  const { health, watch, service, pass } = await watching()
  service.answer = () => watch.answered(me(503))
  for (let n = 0; n < 60; n++) {
    await pass(2000)
    watch.answered({ route: 'POST /messages', status: 201 })
    expect(health.ready).toBe(true)
  }
})

test('a 500 of the service clears neither `token` nor `paused`', async () => {
  const { health, watch } = await watching()
  watch.unauthorized()
  watch.paused()
  watch.answered({ route: 'POST /messages', status: 500 })
  expect(health.all().map(({ code }) => code)).toEqual(['token', 'paused'])
})

test.each([3_600_000, -3_600_000])(
  '`skewMs` follows a local clock that is set by %i ms at once',
  async (setByMs) => {
    const { watch, pass } = await watching()
    expect(watch.skewMs).toBeNull()
    watch.clock(1500)
    await pass(2000)
    expect(watch.skewMs).toBe(1500)
    vi.setSystemTime(Date.now() + setByMs)
    expect(watch.skewMs).toBe(1500 + setByMs)
    await pass(2000)
    expect(watch.skewMs).toBe(1500 + setByMs)
  },
)
