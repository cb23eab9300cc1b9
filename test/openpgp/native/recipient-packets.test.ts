import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SessionKey } from '../../../src/openpgp/crypto/session-key.ts'
import { armorShared } from '../../../src/openpgp/format/armor-writer.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import type { PreparedMessage } from '../../../src/openpgp/native/prepared-message.ts'
import { RecipientPackets } from '../../../src/openpgp/native/recipient-packets.ts'
import { WorkPriority, type Threads } from '../../../src/openpgp/native/threads.ts'
import { wrapBlocks, type WrapJob } from '../../../src/openpgp/native/wrap-session-key.ts'
import { JobKilled } from '../../../src/openpgp/pool.ts'
import { listTo } from '../../support/openpgp-native-parts.ts'
import { bot, testPerson } from '../../support/openpgp-people.ts'
import { strangerPkesk } from '../../support/openpgp-sealed.ts'

const crowd = Array.from({ length: 300 }, (_, index) => testPerson(`packets ${index}`))
const someone = strangerPkesk('other')

type Wrap = (job: WrapJob, blocks: number) => Promise<boolean>
const inPlace: Wrap = async (job, blocks) => await Promise.resolve(wrapBlocks(job, blocks))

interface Given {
  count?: number
  wrap?: Wrap
  refill?: () => Promise<boolean>
  packetsFor?: (certificates: string[], sessionKey: SessionKey) => Promise<Uint8Array>
}

/** Recipient packets whose threads are this one, with the calls of these. */
function packetsBy({ count = 2, wrap = inPlace, refill, packetsFor }: Given = {}): {
  packets: RecipientPackets
  priority: WorkPriority
  blocks: number[]
  keys: Uint8Array[]
  armored: Uint8Array[][]
  others: string[][]
} {
  const asked = {
    blocks: [] as number[],
    keys: [] as Uint8Array[],
    armored: [] as Uint8Array[][],
    others: [] as string[][],
  }
  const jobs = {
    async wrap(job: WrapJob, blocks: number) {
      asked.blocks.push(blocks)
      asked.keys.push(job.sessionKey.data)
      return await wrap(job, blocks)
    },
    armor: async (parts: Uint8Array[]) => {
      asked.armored.push(parts)
      return await Promise.resolve(armorShared(parts))
    },
    refillEphemerals: refill ?? (() => Promise.resolve(false)),
  }
  const run = async (name: keyof typeof jobs, args: never[]) =>
    await (jobs[name] as (...given: never[]) => Promise<unknown>)(...args)
  const priority = new WorkPriority()
  const packets = new RecipientPackets({
    threads: { size: count, run } as unknown as Threads,
    priority,
    packetsFor: async (certificates, sessionKey) => {
      asked.others.push(certificates)
      asked.keys.push(sessionKey.data)
      return (await packetsFor?.(certificates, sessionKey)) ?? someone
    },
  })
  return { packets, priority, ...asked }
}

/** Key ids that the packets of a prepared message name. */
function keyIdsOf({ lines, rest, bytes }: PreparedMessage): string[] {
  const base64 = Buffer.from(lines).toString('latin1').replaceAll('\\n', '')
  const all = Buffer.concat([Buffer.from(base64, 'base64'), rest])
  expect(all).toHaveLength(bytes)
  return [...packetsOf(all)].map(({ body }) => Buffer.from(body).toString('hex', 1, 9))
}
const idsOf = (people: typeof crowd): string[] => people.map(({ subkey }) => subkey.keyId)
const cipher = 'aes256' as const

test.each([1, 4])('PKESK packets for %i recipients are made in place', async (count) => {
  const { packets, blocks, others } = packetsBy()
  const people = crowd.slice(0, count)
  const prepared = await packets.buildNow({ list: listTo(people), cipher })
  expect(keyIdsOf(prepared)).toEqual(idsOf(people))
  expect([blocks, others]).toEqual([[], []])
  expect(prepared.sessionKey.cipher).toBe(9)
  expect(prepared.sessionKey.data.some((byte) => byte !== 0)).toBe(true)
})

test.each([5, 300])(
  'PKESK packets for %i recipients are made by threads in blocks',
  async (count) => {
    const { packets, blocks, keys } = packetsBy()
    const people = crowd.slice(0, count)
    const prepared = await packets.buildNow({ list: listTo(people), cipher: 'aes128' })
    expect(keyIdsOf(prepared)).toEqual(idsOf(people))
    expect(new Set(blocks)).toEqual(new Set([8]))
    expect(blocks.length).toBeGreaterThan(1)
    expect(keys[0]).toBe(prepared.sessionKey.data)
    expect(prepared.sessionKey.cipher).toBe(7)
  },
)

test('blocks of threads that died are wrapped in place', async () => {
  let calls = 0
  const { packets } = packetsBy({
    wrap: (job, blocks) => {
      if (++calls > 1) return Promise.reject(new JobKilled('wrap'))
      return inPlace(job, blocks)
    },
  })
  const prepared = await packets.buildNow({ list: listTo(crowd), cipher })
  expect(keyIdsOf(prepared)).toEqual(idsOf(crowd))
})

test('an error of a thread fails the message and zeroes its session key', async () => {
  const { packets, keys } = packetsBy({ wrap: () => Promise.reject(new Error('not sound')) })
  await expect(packets.buildNow({ list: listTo(crowd), cipher })).rejects.toThrow('not sound')
  expect(keys[0]?.length).toBe(32)
  expect(keys[0]?.every((byte) => byte === 0)).toBe(true)
})

test('PKESK packets by openpgp.js follow the native ones with the same session key', async () => {
  for (const people of [[bot], crowd.slice(0, 20)]) {
    const { packets, others, keys } = packetsBy()
    const prepared = await packets.buildNow({ list: listTo(people, ['one', 'two']), cipher })
    expect(others).toEqual([['one', 'two']])
    expect(keys.at(-1)).toBe(prepared.sessionKey.data)
    const ids = keyIdsOf(prepared)
    expect(ids.slice(0, -1)).toEqual(idsOf(people))
    expect(ids.at(-1)).toBe(someone.toString('hex', 3, 11))
  }
})

test('an error of openpgp.js fails the message and zeroes its session key', async () => {
  const { packets, keys } = packetsBy({ packetsFor: () => Promise.reject(new Error('gone')) })
  const request = { list: listTo([bot], ['one']), cipher }
  await expect(packets.buildNow(request)).rejects.toThrow('gone')
  await expect(packets.buildAhead(request)).rejects.toThrow('gone')
  for (const key of keys) expect(key.every((byte) => byte === 0)).toBe(true)
})

test('`buildAhead` wraps in smaller pieces in threads, and armors the packets there', async () => {
  const { packets, blocks, armored } = packetsBy()
  const people = crowd.slice(0, 70)
  const prepared = await packets.buildAhead({ list: listTo(people, ['one']), cipher })
  expect(keyIdsOf(prepared).slice(0, -1)).toEqual(idsOf(people))
  expect(keyIdsOf(prepared)).toHaveLength(71)
  expect(blocks).toEqual([2, 2, 2])
  expect(armored).toHaveLength(1)
  expect(armored[0]?.[1]).toBe(someone)
})

test('`buildAhead` fails when a thread dies or wraps nothing', async () => {
  const killed = packetsBy({ wrap: () => Promise.reject(new JobKilled('wrap')) })
  const request = { list: listTo(crowd.slice(0, 20)), cipher }
  await expect(killed.packets.buildAhead(request)).rejects.toThrow(JobKilled)
  const idle = packetsBy({ wrap: () => Promise.resolve(false) })
  await expect(idle.packets.buildAhead(request)).rejects.toThrow(new JobKilled('wrap'))
  expect(idle.keys[0]?.every((byte) => byte === 0)).toBe(true)
})

test('`RecipientPackets.buildAhead` waits for urgent work', async () => {
  const { packets, priority, blocks } = packetsBy()
  let end = (): void => {}
  const urgent = priority.urgent(() => new Promise<void>((resolve) => (end = resolve)))
  const ahead = packets.buildAhead({ list: listTo([bot]), cipher })
  for (let turn = 0; turn < 5; turn++) await immediate()
  expect(blocks).toEqual([])
  end()
  await urgent
  expect(keyIdsOf(await ahead)).toEqual([bot.subkey.keyId])
})

test('`refillEphemerals` refills every thread, one round at a time', async () => {
  const answers = [true, false, true, true, false, false, true]
  let asked = 0
  const { packets } = packetsBy({
    count: 2,
    refill: async () => await Promise.resolve(answers[asked++] ?? false),
  })
  const first = packets.refillEphemerals()
  await packets.refillEphemerals()
  await first
  expect(asked).toBe(6)
})
