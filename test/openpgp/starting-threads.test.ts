/** Threads that cannot be started: no verdict on any message, signature or certificate follows from that. */
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { EngineUnavailableError } from '../../src/errors.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { ByteReader } from '../../src/openpgp/format/packet-stream.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { Pool } from '../../src/openpgp/pool.ts'
import type { Jobs } from '../../src/openpgp/library/worker.ts'
import { alice, bot } from '../support/openpgp-people.ts'
import { MemoryRoom } from '../support/memory-room.ts'

type Failure = 'throws' | 'dies'

const state = vi.hoisted(() => ({ failure: null as Failure | null }))
vi.mock('node:worker_threads', async (original) => {
  const real = await original<typeof import('node:worker_threads')>()
  class Worker extends real.Worker {
    constructor(file: URL, options: object) {
      if (state.failure === 'throws') throw new Error('ERR_WORKER_INIT_FAILED: EAGAIN')
      super(state.failure === 'dies' ? new URL('file:///nothing.js') : file, options)
    }
  }
  return { ...real, Worker }
})

/** Lets no thread start, until `heal` or the end of the test. */
function withoutThreads(failure: Failure): { heal: () => void } {
  const heal = (): void => void (state.failure = null)
  state.failure = failure
  onTestFinished(heal)
  return { heal }
}

const FAILURES: Failure[] = ['throws', 'dies']

describe.each(FAILURES)('a thread start that fails (%s)', (failure) => {
  test('a pool whose thread does not start rejects waiting jobs, and starts a thread again by itself', async () => {
    const { heal } = withoutThreads(failure)
    const reported: boolean[] = []
    const onKilled = vi.fn()
    const onAvailable = (isAvailable: boolean): void => void reported.push(isAvailable)
    await using pool = new Pool<Jobs>('library/worker', 1, { onKilled, onAvailable })
    const judge = (): Promise<unknown> => pool.run('judge', [alice.certificate, Date.now()], 20_000)
    const jobs = [judge(), judge(), judge()]
    for (const job of jobs) await expect(job).rejects.toBeInstanceOf(EngineUnavailableError)
    expect([reported, onKilled.mock.calls]).toEqual([[false], []])
    heal()
    await expect.poll(() => reported).toEqual([false, true])
    expect(await judge()).toMatchObject({ status: { unusable: null } })
  })

  test('an engine whose threads do not start gives no verdict, and gives the right ones afterwards', async () => {
    await using sealing = createEngine()
    const certificates = [bot.certificate]
    const request = {
      text: 'hello',
      certificates,
      signer: alice.unlocked,
      cipher: 'aes256' as const,
    }
    const armored = await sealing.seal(request)
    const opened = await sealing.open(armored, [bot.unlocked])
    if (opened.outcome !== 'opened') throw new Error(opened.outcome)
    await using engine = createEngine({ engine: 'library' })
    const { heal } = withoutThreads(failure)
    const openFile = async (): Promise<unknown> => {
      const file = Readable.from([dearmor(armored, 'MESSAGE')]) as AsyncIterable<Uint8Array>
      const options = { form: 'binary' as const, keys: [bot.unlocked], room: new MemoryRoom() }
      return await engine.openFile(new ByteReader(file), options)
    }
    const work = [
      () => engine.open(armored, [bot.unlocked]),
      () => engine.verify(opened.signed, alice.certificate, Date.now()),
      () => engine.judge(alice.certificate),
      openFile,
    ]
    for (const one of work) await expect(one()).rejects.toBeInstanceOf(EngineUnavailableError)
    heal()
    expect(await Promise.all(work.map((one) => one()))).toMatchObject([
      { outcome: 'opened', text: 'hello' },
      ['valid'],
      { unusable: null },
      { outcome: 'opened' },
    ])
  })
})
