/** Several consumers of one queue, over a service and a clock that a test plays. */
import { onTestFinished } from 'vitest'
import { Cursors } from '../../src/updates/cursors.ts'
import { SharedQueue, type Consumer, type Laggard } from '../../src/updates/shared-queue.ts'
import type { Delivered } from '../../src/updates/update-batch.ts'
import { open, temporary } from '../store/support.ts'
import { playedClock, rest } from '../support/played-clock.ts'

/** Sees everything. */
export const all = (name: string): Consumer => ({ name, sees: () => true })

/** More readings than any test needs: a loop without end stops here. */
const MOST_READINGS = 2000

/** A service that has the updates of these ids, less those that were confirmed, and who reads it. */
export function playedService() {
  const service = { ids: [] as number[], mark: 'm', readings: 0, prefix: 100, opened: 100 }
  const marked: number[] = []
  let confirms = 0
  const poller = {
    confirmsEach: false,
    given: [] as Delivered[],
    limit: 100,
    next: async (stop: AbortSignal) => {
      service.readings += 1
      if (service.readings > MOST_READINGS) return await new Promise<never>(() => {})
      if (stop.aborted) return []
      const confirmed = marked.slice(confirms)
      confirms = marked.length
      service.ids = service.ids.filter((id) => confirmed.every((below) => id > below))
      await rest()
      const ids = service.ids.slice(0, poller.confirmsEach ? 1 : service.prefix)
      poller.given = ids.map((updateId) => ({ updateId, mark: service.mark }))
      return poller.given.slice(0, service.opened).map((delivered) => {
        const { updateId } = delivered
        return { update: { updateId, n: updateId }, delivered }
      })
    },
    markDelivered: ({ updateId }: Delivered) => void marked.push(updateId),
    confirm: async () => {},
  }
  return { service, marked, poller }
}

/** A queue of these consumers, and another one of the same store. */
export async function queueScene(consumers: Consumer[]) {
  const store = await open(temporary(), { protection: 'none' })
  const clock = playedClock()
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  const { service, marked, poller } = playedService()
  const reopened = async () => {
    const cursors = await Cursors.load(store)
    const queue = new SharedQueue({
      poller,
      cursors,
      clock,
      turns: null,
      botHas: () => null,
      consumerOf: (name) => consumers.find((one) => one.name === name) ?? null,
      stopping: stopping.signal,
    })
    return { cursors, queue }
  }
  const { cursors, queue } = await reopened()
  const dropped: Laggard[] = []
  const behind: string[][] = []
  queue.onLaggards((laggards) => {
    dropped.push(...laggards.dropped)
    behind.push(laggards.behind.map(({ name }) => name))
  })
  /** The updates that a consumer is given now; with `has` it has them, too. */
  const read = async (one: Consumer, has?: 'has', from = queue): Promise<number[]> => {
    const ended = new AbortController()
    const reading = from.next(one, ended.signal)
    await rest()
    await clock.pass(1000)
    ended.abort()
    const found = await reading
    const last = found.at(-1)
    if (has !== undefined && last !== undefined) await from.record(one.name, last.delivered)
    return found.map(({ delivered }) => delivered.updateId)
  }
  const seen = { dropped, behind, marked }
  return { store, clock, service, poller, stopping, cursors, queue, reopened, read, ...seen }
}
