import { Worker } from 'node:worker_threads'
import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { createEngine } from '../../../src/openpgp/create.ts'
import type { WrapJob } from '../../../src/openpgp/native/wrap-session-key.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import type { Sealed } from '../../../src/openpgp/format/armor-writer.ts'
import { openArmored } from '../../support/openpgp-engine.ts'
import { alice, bot, mallory, testPerson } from '../../support/openpgp-people.ts'

const killed: string[] = []
const prepared: string[] = []
const engine = createEngine({ onPrepared: (place) => prepared.push(place) })
engine.onThreadKilled((job) => killed.push(job))
afterAll(() => engine[Symbol.asyncDispose]())
beforeEach(() => void (killed.length = prepared.length = 0))

/** The longest time that a thread may take to begin. */
const BEGIN_MS = 5000

/** With us, blocks enough for both threads. */
const people = [alice, mallory, ...Array.from({ length: 58 }, (_, at) => testPerson(`dying ${at}`))]
const certificates = people.map(({ certificate }) => certificate)

/** Records the wrap jobs of threads; so many of the threads die as soon as they have begun. */
function packing(dying: number): WrapJob[] {
  const given: WrapJob[] = []
  const post = Reflect.get(Worker.prototype, 'postMessage') as (this: Worker, job: unknown) => void
  const spy = vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (
    this: Worker,
    job: { name: string; args: [WrapJob] },
  ) {
    post.call(this, job)
    if (job.name !== 'wrap') return
    given.push(job.args[0])
    if (given.length > dying) return
    const [{ progress }] = job.args
    // Without a turn of the loop between: a thread that has answered no longer dies at work.
    const untilMs = performance.now() + BEGIN_MS
    while (Atomics.load(progress, 0) === 0 && performance.now() < untilMs);
    void this.terminate()
  })
  onTestFinished(() => spy.mockRestore())
  return given
}

const seal = (place?: string): Promise<Sealed> =>
  engine.sealKnown({
    text: 'hello',
    certificates,
    signer: bot.unlocked,
    cipher: 'aes256',
    ...(place === undefined ? {} : { place }),
  })

/** Expects one PKESK packet for each person, and that a sample of people can open the message. */
async function reachesAll(sealed: Sealed): Promise<void> {
  const packets = [...packetsOf(dearmor(sealed.armored, 'MESSAGE') ?? Buffer.alloc(0))]
  const named = packets.filter(({ tag }) => tag === 1)
  const keyIds = named.map(({ body }) => Buffer.from(body).toString('hex', 1, 9))
  expect(keyIds).toEqual([...people, bot].map(({ subkey }) => subkey.keyId))
  for (const person of [...people.filter((_, at) => at % 25 === 0), ...people.slice(-1), bot]) {
    const opened = await openArmored(sealed.armored, [person.unlocked])
    expect(opened, person.name).toMatchObject({ outcome: 'opened', text: 'hello' })
  }
}

/** Of all jobs: a thread that ends before its start was heard of has not died of its job. */
function killedAtMost(dying: number): void {
  expect(killed.every((job) => job === 'wrap')).toBe(true)
  expect(killed.length).toBeLessThanOrEqual(dying)
}

test.each([
  ['one thread dies', 1],
  ['every thread dies', 2],
])('a message is complete for all recipients when %s while wrapping', async (_, dying) => {
  const given = packing(dying)
  await reachesAll(await seal())
  expect(given.length).toBeGreaterThanOrEqual(dying)
  killedAtMost(dying)
})

test('a message is complete although a thread died while preparing the message, and the next is prepared', async () => {
  await seal('dying')
  const given = packing(1)
  await expect.poll(() => given).not.toEqual([])
  await reachesAll(await seal('dying'))
  expect(given.length).toBeGreaterThan(1)
  killedAtMost(1)
  await expect.poll(() => prepared).toEqual(['dying'])
  await reachesAll(await seal('dying'))
  await expect.poll(() => prepared).toEqual(['dying', 'dying'])
})

test('the session key of a wrap job is in shared memory and zeroed after use', async () => {
  const given = packing(0)
  await seal()
  expect(given.length).toBeGreaterThan(1)
  for (const { sessionKey } of given) {
    expect(sessionKey.data.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(sessionKey.data).toEqual(Buffer.alloc(32))
  }
})
