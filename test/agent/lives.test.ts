/** A holder of keys for the second time: away and back, paused, shared again, and within its rates. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { AgentClient } from '../../src/agent/client.ts'
import { ASK, FrameReader, STATUS, writeFrame } from '../../src/agent/frames.ts'
import { connectHolder, type StatefulHolder } from '../../src/agent/holders.ts'
import { HolderReach } from '../../src/agent/holder-reach.ts'
import { AgentJournal } from '../../src/agent/journal.ts'
import { createAgentServer } from '../../src/agent/server.ts'
import { isOwnFailure } from '../../src/errors.ts'
import { watchedLog } from '../support/watched-log.ts'
import { freshFolder, startAgentInside, startLiar } from './support.ts'

const NEW = { userId: 'bot', createdMs: 1_700_000_000_000, certifiedBy: null }
const DIGEST = Buffer.alloc(64, 7)
const BY = { fingerprint: '0'.repeat(40) } as Parameters<StatefulHolder['sign']>[0]['by']
const held = <T extends StatefulHolder>(holder: T): T => {
  onTestFinished(() => holder[Symbol.asyncDispose]())
  return holder
}
const signed = (body = Buffer.alloc(64, 1)) => ({ kind: STATUS.done, body })
const hello = () => ({ kind: STATUS.done, body: Buffer.of(1) })

test('a holder that is back is connected to once more, and answers', async () => {
  const folder = freshFolder()
  const first = await startAgentInside({}, folder)
  const holder = held(connectHolder(first.address))
  const states: boolean[] = []
  holder.onReachable(({ isReachable }) => states.push(isReachable))
  await expect.poll(() => holder.state.isReachable).toBe(true)
  await first[Symbol.asyncDispose]()
  await expect.poll(() => holder.state.isReachable).toBe(false)
  await expect(holder.make(NEW)).rejects.toSatisfy(isOwnFailure)
  await startAgentInside({}, folder)
  await expect.poll(() => holder.state.isReachable).toBe(true)
  expect(await holder.make(NEW)).toContain('BEGIN PGP PUBLIC KEY')
  expect([states.at(0), states.at(-1), states.filter(Boolean).length]).toEqual([true, true, 2])
})

test('a holder that its last user left is connected to anew by the next user', async () => {
  const { address, sockets } = await startLiar(hello)
  for (const lives of [1, 2]) {
    const [one, other] = [connectHolder(address), connectHolder(address)]
    await expect.poll(() => other.state.isReachable).toBe(true)
    await one[Symbol.asyncDispose]()
    expect(other.state.isReachable).toBe(true)
    await other[Symbol.asyncDispose]()
    expect([sockets.length, other.state.isReachable]).toEqual([lives, false])
  }
})

test('a question to a holder that is away is refused, and is not sent after its return', async () => {
  const path = join(freshFolder(), 'l.sock')
  const holder = held(new AgentClient(path))
  await expect(holder.sign({ by: BY, digest: DIGEST })).rejects.toThrow('is not reached')
  const kinds: number[] = []
  const server = createServer((socket) => {
    const reader = new FrameReader()
    socket.on('error', () => {})
    socket.on('data', (chunk) =>
      reader.read(chunk, ({ id, kind }) => {
        kinds.push(kind)
        socket.write(writeFrame({ id, ...(kind === ASK.hello ? hello() : signed()) }))
      }),
    )
  }).listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  await expect.poll(() => holder.state.isReachable).toBe(true)
  expect(kinds.every((kind) => kind === ASK.hello)).toBe(true)
  expect(await holder.sign({ by: BY, digest: DIGEST })).toHaveLength(64)
})

test('questions of one turn leave in one write, and end with their connection', async () => {
  let answers = false
  const { address, sockets } = await startLiar(({ kind }) =>
    kind === ASK.hello ? hello() : answers ? signed() : null,
  )
  const holder = held(new AgentClient(address.slice('unix:'.length)))
  await expect.poll(() => holder.state.isReachable).toBe(true)
  const asked = [1, 2, 3].map(() => holder.sign({ by: BY, digest: DIGEST }))
  const settled = Promise.allSettled(asked)
  const chunks = once(sockets[0] as Socket, 'data') as Promise<[Buffer]>
  const frame = 4 + 5 + 20 + 64
  expect((await chunks)[0].length).toBeGreaterThanOrEqual(3 * frame)
  sockets[0]?.destroy()
  expect((await settled).map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
  answers = true
  await expect.poll(() => holder.state.isReachable).toBe(false)
  await expect.poll(() => holder.state.isReachable).toBe(true)
  expect(await holder.sign({ by: BY, digest: DIGEST })).toHaveLength(64)
})

test('a sidecar that was paused reads waiting answers before it gives a question up', async () => {
  const { address } = await startLiar(({ kind }) => (kind === ASK.hello ? hello() : signed()))
  const holder = held(new AgentClient(address.slice('unix:'.length)))
  await expect.poll(() => holder.state.isReachable).toBe(true)
  const reasons: string[] = []
  holder.onReachable(({ isReachable, reason }) => !isReachable && reasons.push(reason))
  const answer = holder.sign({ by: BY, digest: DIGEST })
  await Promise.resolve()
  // the process is held up for longer than any deadline, and its clock has gone on
  const now = performance.now()
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000)
  onTestFinished(() => later.mockRestore())
  const untilMs = Date.now() + 800
  while (Date.now() < untilMs);
  expect(await answer).toHaveLength(64)
  expect(reasons).toEqual([])
})

test('the reach of a holder is reported at each change of it, and to a late listener', () => {
  const reach = new HolderReach()
  const heard: string[] = []
  reach.onChange(({ isReachable, reason }) => heard.push(`${isReachable} ${reason}`))
  reach.answers()
  reach.answers()
  reach.isAway('one')
  reach.isAway('one')
  reach.isAway('two')
  const end = reach.onChange(({ reason }) => heard.push(`late ${reason}`))
  end()
  reach.answers()
  expect(heard).toEqual(['true ', 'false one', 'false two', 'late two', 'true '])
})

test('the counts of the journal begin anew once they were written', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { dataDir, journal } = await startAgentInside()
  using own = new AgentJournal(dataDir)
  own.count('signatures', 1, 'k')
  vi.advanceTimersByTime(59_999)
  const used = () => journal().filter(({ event }) => event === 'used')
  expect(used()).toEqual([])
  vi.advanceTimersByTime(1)
  own.count('refused', 1, 'k')
  vi.advanceTimersByTime(60_000)
  vi.advanceTimersByTime(60_000)
  expect(used()).toMatchObject([
    { signatures: 1, refused: 0 },
    { signatures: 0, refused: 1 },
  ])
})

/** By what is used, so many at once and one more after so many seconds. */
const RATES = [
  ['signatures', ASK.sign, 30, 2],
  ['session keys', ASK.unwrap, 20, 3],
] as const

test.each(RATES)('an agent gives %s again as time passes, and no sooner', async (...row) => {
  const [, kind, most, seconds] = row
  let nowMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => clock.mockRestore())
  const local = { has: () => true, sign: () => Buffer.alloc(64), unwrap: () => [] }
  const journal = { record: () => {}, count: () => {}, isWritten: () => true }
  const { server, end } = createAgentServer({
    keys: { local } as never,
    journal: journal as never,
    log: watchedLog(),
    perMinute: { signatures: 30, sessionKeys: 20 },
  })
  onTestFinished(end)
  const path = join(freshFolder(), 'r.sock')
  await once(server.listen(path), 'listening')
  const socket = connect(path)
  onTestFinished(() => void socket.destroy())
  const answered: number[] = []
  const reader = new FrameReader()
  socket.on('data', (chunk) => reader.read(chunk, ({ kind: status }) => void answered.push(status)))
  const ask = async (count: number): Promise<number> => {
    const before = answered.length
    for (let id = 0; id < count; id++) {
      socket.write(writeFrame({ id, kind, body: Buffer.alloc(20 + 64) }))
    }
    await vi.waitFor(() => expect(answered.length).toBe(before + count))
    return answered.slice(before).filter((status) => status === STATUS.done).length
  }
  expect(await ask(most + 5)).toBe(most)
  nowMs = seconds * 1000 - 1
  expect(await ask(2)).toBe(0)
  nowMs = seconds * 1000 + 1
  expect(await ask(2)).toBe(1)
  nowMs += 3_600_000
  expect(await ask(most + 5)).toBe(most)
})
