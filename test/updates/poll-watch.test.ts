import { expect, test } from 'vitest'
import { PollWatch, type Taker } from '../../src/updates/poll-watch.ts'
import { openBot, sceneWithWebhook } from './bot.ts'
import { openScene, PLAIN, until, type Scene } from './support.ts'

/** A watch with a clock of its own, and what its listeners were called with. */
function watched() {
  const waiting = new Set<() => void>()
  let nowMs = 0
  const clock = {
    now: () => nowMs,
    monotonicNow: () => nowMs,
    wait: (ms: number, signal: AbortSignal): Promise<void> => {
      const untilMs = nowMs + ms
      return new Promise((resolve) => {
        const look = (): void => {
          if (signal.aborted || nowMs >= untilMs) resolve()
        }
        waiting.add(look)
        signal.addEventListener('abort', look)
        look()
      })
    },
  }
  const evicted: Taker[] = []
  const contested: (Taker | null)[] = []
  const watch = new PollWatch(clock)
  watch.onEvicted((by) => evicted.push(by))
  watch.onContested((by) => contested.push(by))
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    for (const look of waiting) look()
    await new Promise(setImmediate)
  }
  /** A poll of 50 s that is answered after so many ms with so many updates. */
  const poll = async (afterMs: number, count = 0): Promise<boolean> => {
    const one = watch.begin(50)
    await pass(afterMs)
    return ends(one, count)
  }
  return { watch, evicted, contested, pass, poll }
}

/** A poll is answered with so many updates; true when another one ended it, which is noted. */
function ends(poll: ReturnType<PollWatch['begin']>, count = 0): boolean {
  const isTakenOver = poll.wasTakenOver(count)
  if (isTakenOver) poll.takenOver()
  return isTakenOver
}

test('three polls ended by another poller within five minutes are reported, until twelve seconds without one', async () => {
  const { evicted, contested, poll, pass } = watched()
  expect(await poll(10)).toBe(true)
  expect(await poll(10_000)).toBe(true)
  expect(contested).toEqual([])
  expect(await poll(24_000)).toBe(true)
  expect([evicted.length, contested]).toEqual([3, ['elsewhere']])
  await pass(11_000)
  expect(contested.at(-1)).toBe('elsewhere')
  await pass(1000)
  expect(contested.at(-1)).toBe(null)
  expect(await poll(10)).toBe(true)
  expect(contested.at(-1)).toBe(null)
})

test('`PollWatch` distinguishes a poll ended through the sidecar from a poll ended elsewhere', async () => {
  const { watch, contested, poll } = watched()
  for (let n = 0; n < 3; n++) {
    const first = watch.begin(50)
    watch.begin(50)
    expect(ends(first)).toBe(true)
  }
  expect(contested.at(-1)).toBe('here')
  await poll(10)
  expect(contested.at(-1)).toBe('elsewhere')
})

test('polls ended by another poller every 160 seconds are not reported', async () => {
  const { contested, poll, pass } = watched()
  for (let n = 0; n < 5; n++) {
    await poll(10)
    await pass(160_000)
  }
  expect(contested).toEqual([])
})

test.each([
  ['waited to its end', 50_000, 0],
  ['a proxy ended after half a minute', 30_000, 0],
  ['returned an update', 10, 1],
])('a poll that %s is not counted as ended by another poller', async (_what, afterMs, count) => {
  const { poll, evicted } = watched()
  for (let n = 0; n < 5; n++) expect(await poll(afterMs, count)).toBe(false)
  expect(evicted).toEqual([])
})

test('a poll with a timeout of at most one second is not counted as ended by another poller', () => {
  const { watch, evicted } = watched()
  for (const timeoutSeconds of [0, 1]) {
    for (let n = 0; n < 5; n++) expect(ends(watch.begin(timeoutSeconds))).toBe(false)
  }
  expect(evicted).toEqual([])
})

const holding = (scene: Scene, count: number): Promise<boolean> =>
  until(() => scene.calls(0).filter((call) => call.includes('timeout=50')).length >= count)

test('/readyz names `second-poller` when a program polls past the sidecar, until 12 seconds without it', async () => {
  const scene = await openScene(PLAIN)
  for (let n = 1; n <= 3; n++) {
    const poll = scene.call('GET', '/updates?timeout=50')
    await holding(scene, n)
    await scene.past('GET', '/updates')
    expect((await poll).text).toBe('{"ok":true,"result":[]}')
  }
  expect(await scene.reason('second-poller')).toContain('past this sidecar')
  expect(await scene.metric('polls_taken_over_total{by="elsewhere"}')).toBe(3)
  expect(scene.lines).toContainEqual(expect.objectContaining({ reason: 'second-poller' }))
  await scene.pass(12_000)
  expect(await scene.reason('second-poller')).toBe(null)
})

test('/readyz names `second-poller` when two bots poll through one sidecar', async () => {
  const scene = await openScene(PLAIN)
  const polls: Promise<unknown>[] = []
  for (let n = 1; n <= 4; n++) {
    polls.push(scene.call('GET', '/updates?timeout=50'))
    await holding(scene, n)
  }
  await Promise.all(polls.slice(0, 3))
  expect(await scene.reason('second-poller')).toContain('through this sidecar')
  await scene.clock.advance(50_000)
  await polls[3]
})

test('a `DeliveryLoop` beside a second poller backs off longer each time and loses no update', async () => {
  const { scene, bot } = await sceneWithWebhook(PLAIN)
  for (const [index, waitMs] of [250, 500, 1000].entries()) {
    await holding(scene, index + 1)
    await scene.past('GET', '/updates')
    await scene.pass(waitMs)
  }
  await until(() => scene.reason('second-poller'))
  const words = await scene.write(1)
  await bot.until(1)
  expect(bot.words).toEqual(words)
})

test('two sidecars with webhooks for one bot both name `second-poller`, and every update reaches a bot', async () => {
  const scene = await openScene(PLAIN)
  const other = await openScene({ ...PLAIN, on: scene.sandbox })
  const bots = [await openBot(), await openBot()]
  await scene.call('POST', '/webhook', { url: bots[0]?.url })
  await other.call('POST', '/webhook', { url: bots[1]?.url })
  const move = async (): Promise<void> => {
    await scene.clock.advance(500)
    await other.clock.advance(0)
  }
  for (const one of [scene, other]) {
    await until(async () => {
      await move()
      return await one.reason('second-poller')
    })
  }
  const words = await scene.write(3)
  await until(async () => {
    await move()
    const heard = new Set(bots.flatMap((bot) => bot.words))
    return words.every((word) => heard.has(word))
  })
})
