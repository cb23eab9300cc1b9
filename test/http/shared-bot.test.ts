/** The turn of a bot's request at the shared door, over routes that are played. */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createDoorQueues, SharedBot, type DoorLanes } from '../../src/http/shared-door.ts'

/** A bot whose routes answer only when a test closes the response. */
function playedBot(lanes: DoorLanes = createDoorQueues().lanes()) {
  const answered: string[] = []
  const routes = { answer: (request: IncomingMessage) => void answered.push(request.url ?? '') }
  const bot = new SharedBot(routes, lanes)
  const take = (url: string, destroyed = false) => {
    const response = Object.assign(new EventEmitter(), { destroyed })
    bot.take('token', { url } as IncomingMessage, response as unknown as ServerResponse)
    return async () => {
      response.emit('close')
      await immediate()
      await immediate()
    }
  }
  return { take, answered, lanes }
}

test.each([
  ['/bot/v1/updates?timeout=50', [0, 0]],
  ['/bot/v1/updates', [0, 0]],
  ['/bot/v1/updates/more', [1, 0]],
  ['/bot/v1/me?x=/media/', [1, 0]],
  ['/media', [1, 0]],
  ['/media/abc?bot=one', [0, 1]],
  ['/media/', [0, 1]],
])('a shared listener queues a request for %s among calls and files as %j', async (url, busy) => {
  const { take, answered, lanes } = playedBot()
  const close = take(url)
  expect([answered, lanes.calls.busy, lanes.files.busy]).toEqual([[url], ...busy])
  await close()
  expect([lanes.calls.busy, lanes.files.busy]).toEqual([0, 0])
})

test.each([
  ['/bot/v1/me', 1, 250],
  ['/media/abc', 2, 20],
])(
  'a bot’s requests for %s start %i at once beside another bot’s, and more after %i ms',
  (url, atOnce, roomAfterMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const queues = createDoorQueues()
    const other = playedBot(queues.lanes())
    other.take(url)
    const { take, answered } = playedBot(queues.lanes())
    for (let n = 0; n < 9; n++) take(url)
    expect(answered.length).toBe(atOnce)
    vi.advanceTimersByTime(roomAfterMs - 1)
    expect(answered.length).toBe(atOnce)
    vi.advanceTimersByTime(1)
    expect(answered.length).toBeGreaterThan(atOnce)
  },
)

test('a waiting request whose caller has hung up does not reach its bot', async () => {
  const { take, answered } = playedBot(createDoorQueues({ roomAfterMs: Infinity }).lanes())
  const first = Array.from({ length: 8 }, (_, n) => take(`/${n}`))
  take('/gone', true)
  const last = take('/last')
  for (const close of [...first, last]) await close()
  expect(answered.slice(8)).toEqual(['/last'])
})
