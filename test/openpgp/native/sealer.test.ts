import { afterEach, expect, test, vi } from 'vitest'
import { describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import type { CertificateCache } from '../../../src/openpgp/native/certificate-cache.ts'
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
import { openArmored } from '../../support/openpgp-engine.ts'
import { infoOf } from '../../support/openpgp-native-parts.ts'
import { alice, bot, mallory, testPerson } from '../../support/openpgp-people.ts'
import { strangerPkesk } from '../../support/openpgp-sealed.ts'

afterEach(() => vi.useRealTimers())

/** A sealer in this thread, whose precomputer returns the messages of `ready`. */
function newSealer() {
  const said: string[] = []
  const requests: [string, PrepareRequest][] = []
  const ready = new Map<string, PreparedMessage>()
  const certificates = {
    epoch: 0,
    nowMs: () => Date.now(),
    infoOf,
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
    readAes256: () => Promise.resolve(true),
  })
  return { sealer, packets, certificates, said, requests, ready }
}

const request = { text: 'hello', certificates: [alice.certificate], signer: bot.unlocked }
const ask = { ...request, cipher: 'aes256' as Cipher }

test('a message without a place is sealed at its date, without preparation', async () => {
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

test('a message for a place uses the prepared one and requests the next', async () => {
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

test('a message by an unreadable own key is left to the library', async () => {
  const { sealer, said } = newSealer()
  const signer = { ...bot.unlocked, bytes: new Uint8Array() }
  expect(await sealer.seal({ ...ask, signer, place: 'here' })).toBeNull()
  expect(said).toEqual([])
})

test('prepared messages are cleared for another own key and another cache epoch', async () => {
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

test('two owners of a sealer have separate places, and clear their own alone', async () => {
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
