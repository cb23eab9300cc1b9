import { afterEach, expect, test, vi } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import type { CertificateCache } from '../../../src/openpgp/native/certificate-cache.ts'
import { statusOf } from '../../../src/openpgp/native/certificate-info.ts'
import { NativeOwnKeys } from '../../../src/openpgp/native/own-keys.ts'
import type { Precomputer } from '../../../src/openpgp/native/precompute.ts'
import type { PreparedMessage } from '../../../src/openpgp/native/prepared-message.ts'
import {
  RecipientPackets,
  type PrepareRequest,
} from '../../../src/openpgp/native/recipient-packets.ts'
import { MessageSealer } from '../../../src/openpgp/native/sealer.ts'
import { WorkPriority, type Threads } from '../../../src/openpgp/native/threads.ts'
import type { Cipher } from '../../../src/openpgp/format/ciphers.ts'
import type { Sealed } from '../../../src/openpgp/format/armor-writer.ts'
import { openArmored } from '../../support/openpgp-engine.ts'
import { infoOf } from '../../support/openpgp-native-parts.ts'
import { alice, bot, mallory, preferring, testPerson } from '../../support/openpgp-people.ts'
import { strangerPkesk } from '../../support/openpgp-sealed.ts'

afterEach(() => vi.useRealTimers())

/** A sealer in this thread, whose precomputer gives what is put in its place. */
function newSealer({ libraryReads = true } = {}) {
  const said: string[] = []
  const requests: [string, PrepareRequest][] = []
  const read: string[][] = []
  const ready = new Map<string, PreparedMessage>()
  const certificates = {
    epoch: 0,
    nowMs: () => Date.now(),
    /** A text that begins with a space is the library's. */
    infoOf(armored: string) {
      if (armored === 'hello') return Promise.reject(new Error('not a certificate'))
      const info = infoOf(armored.trim())
      if (!armored.startsWith(' ')) return info
      return Promise.resolve({ status: statusOf(info, armored), info: null })
    },
  }
  const precomputer = {
    take(place: string, request: PrepareRequest) {
      said.push(`take ${place} ${request.cipher}`)
      return ready.get(place) ?? null
    },
    request(place: string, request: PrepareRequest) {
      said.push(`request ${place}`)
      requests.push([place, request])
    },
    clear: (start = '') => said.push(start === '' ? 'clear' : `clear ${start}`),
    close: () => said.push('close'),
  }
  const packets = new RecipientPackets({
    threads: { size: 1 } as Threads,
    priority: new WorkPriority(),
    packetsFor: () => Promise.resolve(strangerPkesk('library')),
  })
  const sealer = new MessageSealer({
    certificates: certificates as unknown as CertificateCache,
    own: new NativeOwnKeys(describeOwnKey),
    packets,
    precomputer: precomputer as unknown as Precomputer,
    readAes256: async (others) => {
      read.push(others)
      return await Promise.resolve(libraryReads)
    },
  })
  return { sealer, packets, certificates, said, requests, read, ready }
}

const request = { text: 'hello', certificates: [alice.certificate], signer: bot.unlocked }
const ask = { ...request, cipher: 'aes256' as Cipher }

/** Bytes of the recipient packets: 96 with AES-256, 80 with AES-128. */
function sizesOf(sealed: Sealed | null): number[] {
  const bytes = dearmor(sealed?.armored ?? '', 'MESSAGE') ?? Buffer.alloc(0)
  return [...packetsOf(bytes)].filter(({ tag }) => tag === 1).map(({ body }) => body.length + 2)
}

test('a message is sealed, and is dated as it is', async () => {
  const at = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: at - (at % 1000) })
  const { sealer, said, requests } = newSealer()
  const sealed = await sealer.seal(ask)
  expect(await openArmored(sealed?.armored ?? '', [alice.unlocked])).toMatchObject({
    outcome: 'opened',
    text: 'hello',
    signatures: [{ issuerKeyId: bot.primary.keyId, createdMs: at - (at % 1000) }],
  })
  expect(said).toEqual(['clear'])
  expect(requests).toEqual([])
})

test('for a place what was made ahead is used, and the next is asked for', async () => {
  const { sealer, packets, said, requests, ready } = newSealer()
  await sealer.seal({ ...ask, place: 'here' })
  const [, made] = requests[0] ?? []
  if (made === undefined) throw new Error('nothing was asked for')
  const prepared = await packets.buildNow(made)
  const line = prepared.lines.toString('latin1')
  ready.set('here', prepared)
  const sealed = await sealer.seal({ ...ask, place: 'here' })
  expect(sealed?.json[1]?.toString('latin1')).toBe(line)
  expect(await openArmored(sealed?.armored ?? '', [alice.unlocked])).toMatchObject({
    text: 'hello',
  })
  expect(said).toEqual([
    'clear',
    'take here aes256',
    'request here',
    'take here aes256',
    'request here',
  ])
  expect(requests[1]?.[1].list.name).toBe(made.list.name)
})

test('a key of ours that cannot seal here is the library’s to use, and nothing was done', async () => {
  const { sealer, said } = newSealer()
  const signer = { ...bot.unlocked, bytes: new Uint8Array() }
  expect(await sealer.seal({ ...ask, signer, place: 'here' })).toBeNull()
  expect(said).toEqual([])
})

test('a sealer that is gone seals nothing, and has forgotten what was made', async () => {
  const { sealer, said } = newSealer()
  sealer[Symbol.dispose]()
  expect(said).toEqual(['close'])
  expect(await sealer.seal({ ...ask, place: 'here' })).toBeNull()
  expect(said).toEqual(['close'])
})

test('a certificate that cannot be used fails the message, and nothing is asked for', async () => {
  const { sealer, said } = newSealer()
  const certificates = [alice.certificate, 'hello']
  await expect(sealer.seal({ ...ask, certificates, place: 'here' })).rejects.toThrow(
    'not a certificate',
  )
  expect(said).toEqual([])
})

test('what was made ends with another key of ours, and with another word on any certificate', async () => {
  const { sealer, said, certificates } = newSealer()
  const clears = (): number => said.splice(0).filter((one) => one === 'clear').length
  await sealer.seal(ask)
  expect(clears()).toBe(1)
  await sealer.seal({ ...ask, certificates: [mallory.certificate] })
  expect(clears()).toBe(0)
  await sealer.seal({ ...ask, signer: testPerson('later').unlocked })
  expect(clears()).toBe(1)
  certificates.epoch++
  await sealer.seal({ ...ask, signer: testPerson('later').unlocked })
  expect(clears()).toBe(1)
  await sealer.seal({ ...ask, signer: testPerson('later').unlocked })
  expect(clears()).toBe(0)
})

const choosy = preferring(7)
const byLibrary = ` ${alice.certificate}`

test.each<[string, Cipher, string[], { libraryReads?: boolean }, number]>([
  ['AES-256 where all read it', 'aes256', [alice.certificate], {}, 96],
  ['AES-128 where that was asked for', 'aes128', [alice.certificate], {}, 80],
  ['AES-128 where somebody reads no other', 'aes256', [choosy.certificate], {}, 80],
  ['AES-256 where the library finds it everywhere', 'aes256', [byLibrary], {}, 96],
  ['AES-128 where it does not', 'aes256', [byLibrary], { libraryReads: false }, 80],
])('the cipher is %s', async (_, cipher, certificates, options, bytes) => {
  const { sealer } = newSealer(options)
  const sizes = sizesOf(await sealer.seal({ ...request, certificates, cipher }))
  const ours = certificates.includes(byLibrary) ? sizes.slice(0, -1) : sizes
  expect(new Set(ours)).toEqual(new Set([bytes]))
  expect(ours.length).toBeGreaterThan(0)
})

test('the library is asked for its own certificates alone, and only where it matters', async () => {
  const { sealer, read } = newSealer()
  await sealer.seal(ask)
  await sealer.seal({ ...ask, certificates: [byLibrary], cipher: 'aes128' })
  await sealer.seal({ ...ask, certificates: [byLibrary, choosy.certificate] })
  expect(read).toEqual([])
  await sealer.seal({ ...ask, certificates: [byLibrary, mallory.certificate] })
  expect(read).toEqual([[byLibrary]])
})

test('owners that share it have places of their own, and end only what is their own', async () => {
  const { sealer, said } = newSealer()
  const other = testPerson('another bot')
  const seal = async (owner: string, signer: typeof bot.unlocked): Promise<string[]> => {
    await sealer.seal({ ...ask, owner, signer, place: '7' })
    return said.splice(0)
  }
  const first = ['take one/7 aes256', 'request one/7']
  expect(await seal('one', bot.unlocked)).toEqual(['clear one/', ...first])
  expect(await seal('two', other.unlocked)).toEqual([
    'clear two/',
    'take two/7 aes256',
    'request two/7',
  ])
  expect(await seal('one', bot.unlocked)).toEqual(first)
  expect(await seal('one', other.unlocked)).toEqual(['clear one/', ...first])
})
