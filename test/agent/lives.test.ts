/** A holder of keys for the second time: shared again, paused, of another version, within its rates. */
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AgentClient } from '../../src/agent/client.ts'
import { ASK, STATUS, type Frame } from '../../src/agent/frames.ts'
import { connectHolder } from '../../src/agent/holders.ts'
import { openJournal } from '../../src/agent/journal.ts'
import { createAgentServer } from '../../src/agent/server.ts'
import { watchedLog } from '../support/watched-log.ts'
import { freshFolder, startAgentInside, startLiar } from './support.ts'

const BY = { fingerprint: '0'.repeat(40) } as Parameters<AgentClient['sign']>[0]['by']
const ASKED = { by: BY, digest: Buffer.alloc(64, 7) }
const answer = (body: Buffer) => ({ kind: STATUS.done, body })
const honest = ({ kind }: Pick<Frame, 'kind'>) =>
  answer(kind === ASK.hello ? Buffer.of(1) : Buffer.alloc(64, 1))

/** A client of an agent that answers so, once it is reached or away. */
async function clientOf(answers: Parameters<typeof startLiar>[0], isReachable = true) {
  const { address, sockets } = await startLiar(answers)
  const holder = new AgentClient(address.slice('unix:'.length))
  onTestFinished(() => holder[Symbol.asyncDispose]())
  if (isReachable) await expect.poll(() => holder.state.isReachable).toBe(true)
  return { holder, sockets }
}

test('a holder that its last user left is connected to anew by the next user', async () => {
  const { address, sockets } = await startLiar(honest)
  for (const lives of [1, 2]) {
    const [one, other] = [connectHolder(address), connectHolder(address)]
    await expect.poll(() => other.state.isReachable).toBe(true)
    await one[Symbol.asyncDispose]()
    expect(other.state.isReachable).toBe(true)
    await other[Symbol.asyncDispose]()
    expect([sockets.length, other.state.isReachable]).toEqual([lives, false])
    await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
  }
})

test('a holder of another version is reported as such after the end of its connection too', async () => {
  const { holder, sockets } = await clientOf(() => answer(Buffer.of(2)), false)
  await expect.poll(() => sockets[0]?.destroyed).toBe(true)
  expect(holder.state.reason).toContain('is of another version')
})

test('a sidecar that was paused reads waiting answers before it gives a question up', async () => {
  const { holder } = await clientOf(honest)
  const reasons: string[] = []
  holder.onReachable(({ isReachable, reason }) => !isReachable && reasons.push(reason))
  const signed = holder.sign(ASKED)
  await Promise.resolve()
  // the process is held up until the next hello is due, and its clock has gone on
  const now = performance.now()
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000)
  onTestFinished(() => later.mockRestore())
  const untilMs = Date.now() + 800
  while (Date.now() < untilMs);
  expect([(await signed).length, reasons]).toEqual([64, []])
})

test('a question is given up ten seconds later, and no sooner', async () => {
  let hellos = 0
  const { holder } = await clientOf((frame) =>
    frame.kind === ASK.hello && ++hellos ? honest(frame) : null,
  )
  let nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => clock.mockRestore())
  const ended = vi.fn((error: Error) => error.message)
  const reported = vi.fn()
  holder.onReachable(reported)
  const asked = holder.sign(ASKED).catch(ended)
  nowMs += 9999
  const before = hellos
  await expect.poll(() => hellos).toBe(before + 2)
  expect(ended).not.toHaveBeenCalled()
  nowMs += 1
  expect([await asked, holder.state.isReachable]).toEqual([
    expect.stringContaining('in time'),
    true,
  ])
  expect(reported).toHaveBeenCalledTimes(1)
})

test('the counts of the journal begin anew once they were written', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { dataDir, journal } = await startAgentInside()
  using own = openJournal(dataDir)
  const used = () => journal().flatMap(({ event, ...use }) => (event === 'used' ? [use] : []))
  own.count('signatures', 1, 'k')
  vi.advanceTimersByTime(59_999)
  expect(used()).toEqual([])
  vi.advanceTimersByTime(1)
  own.count('refused', 1, 'k')
  vi.advanceTimersByTime(120_000)
  expect(used()).toMatchObject([{ signatures: 1 }, { signatures: 0, refused: 1 }])
})

test('an agent gives signatures again as time passes, and no sooner', async () => {
  let nowMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => clock.mockRestore())
  const local = { has: () => true, sign: () => Buffer.alloc(64) }
  const journal = { connection: () => {}, count: () => {}, isWritten: () => true }
  const perMinute = { signatures: 30, sessionKeys: 1 }
  const parts = { keys: { local } as never, journal: journal as never, log: watchedLog() }
  const { server, end } = createAgentServer({ ...parts, perMinute })
  onTestFinished(end)
  const path = join(freshFolder(), 'r.sock')
  await once(server.listen(path), 'listening')
  await using holder = new AgentClient(path)
  const given: number[] = []
  for (const [atMs, count] of [
    [0, 35],
    [1999, 2],
    [2001, 2],
    [3_600_000, 35],
  ] as const) {
    nowMs = atMs
    const asked = Array.from({ length: count }, () => holder.sign(ASKED))
    const settled = await Promise.allSettled(asked)
    given.push(settled.filter(({ status }) => status === 'fulfilled').length)
  }
  expect(given).toEqual([30, 0, 1, 30])
})
