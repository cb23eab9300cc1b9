import { afterEach, expect, test, vi } from 'vitest'
import { describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import { type CertificateCache, statusOf } from '../../../src/openpgp/native/certificate-cache.ts'
import { NativeOwnKeys } from '../../../src/openpgp/native/own-keys.ts'
import type { Precomputer } from '../../../src/openpgp/native/precompute.ts'
import type { PreparedMessage } from '../../../src/openpgp/native/prepared-message.ts'
import {
  RecipientPackets,
  type PrepareRequest,
  type RecipientList,
} from '../../../src/openpgp/native/recipient-packets.ts'
import { MessageSealer, RecipientLists } from '../../../src/openpgp/native/sealer.ts'
import { WorkPriority, type Threads } from '../../../src/openpgp/native/threads.ts'
import type { Cipher } from '../../../src/openpgp/format/ciphers.ts'
import { openArmored } from '../../support/openpgp-engine.ts'
import { infoOf, sealing } from '../../support/openpgp-native-parts.ts'
import { alice, bot, mallory, testPerson, preferring } from '../../support/openpgp-people.ts'
import { strangerPkesk } from '../../support/openpgp-sealed.ts'
import { recipientKeyStarts, unpackRecipientKey } from '../../../src/openpgp/crypto/recipient.ts'
import { unusableStatus } from '../../../src/openpgp/certificate-statuses.ts'
import type { CheckedCertificate } from '../../../src/openpgp/certificate-statuses.ts'
import type { CertificateInfo } from '../../../src/openpgp/certificate-info.ts'

afterEach(() => vi.useRealTimers())

/** A sealer in this thread, whose precomputer returns the messages of `ready`. */
function newSealer() {
  const said: string[] = []
  const requests: [string, PrepareRequest][] = []
  const ready = new Map<string, PreparedMessage>()
  const certificates = { epoch: 0, nowMs: () => Date.now(), infoOf }
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

test('a message without a `place` is dated by the clock, and no next message is prepared', async () => {
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

test('a message for a `place` uses the prepared message and requests the next', async () => {
  const { sealer, packets, said, requests, ready } = newSealer()
  await sealer.seal({ ...ask, place: 'here' })
  const [, made] = requests[0] ?? []
  if (made === undefined) throw new Error('nothing was asked for')
  const prepared = await packets.buildNow(made)
  const line = Buffer.from(prepared.lines).toString('latin1')
  ready.set('here', prepared)
  const sealed = await sealer.seal({ ...ask, place: 'here' })
  expect(Buffer.from(sealed?.json[1] ?? []).toString('latin1')).toBe(line)
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

test('a message by an unreadable own key is left to openpgp.js', async () => {
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

test('two owners of a `MessageSealer` have separate prepared messages, and clear their own alone', async () => {
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

type Answer = CertificateInfo | Promise<CheckedCertificate>

/** A cache with these answers, and the lists over it. */
function listsOver(answer: (armored: string) => Answer): {
  lists: RecipientLists
  asked: string[]
  cache: { epoch: number }
} {
  const asked: string[] = []
  const cache = {
    epoch: 0,
    nowMs: () => Date.now(),
    infoOf(armored: string): Answer {
      asked.push(armored)
      return answer(armored)
    },
  }
  return { lists: new RecipientLists(cache as unknown as CertificateCache), asked, cache }
}

/** Fingerprints of the native recipients, in order. */
function recipientsOf({ recipientKeys }: RecipientList): string[] {
  return recipientKeyStarts(recipientKeys).map((at) =>
    Buffer.from(unpackRecipientKey(recipientKeys, at).fingerprint).toString('hex'),
  )
}
const subkeys = (...people: { subkey: { fingerprint: string } }[]): string[] =>
  people.map(({ subkey }) => subkey.fingerprint)

const certificates = [alice.certificate, mallory.certificate]

test('a recipient list has each certificate once, in order, and the bot last', async () => {
  const { lists, asked } = listsOver(infoOf)
  const repeated = [bot.certificate, ...certificates, alice.certificate, `\n${alice.certificate}`]
  const list = await lists.of(repeated, await sealing())
  expect(recipientsOf(list)).toEqual(subkeys(alice, mallory, bot))
  expect(new Set(asked).size).toBe(asked.length)
  expect(list).toMatchObject({ others: [], readAes256: true })
})

test('a certificate that must be judged first keeps its place in the list', async () => {
  const { lists } = listsOver((armored) => {
    const info = infoOf(armored)
    return armored === alice.certificate
      ? Promise.resolve({ status: statusOf(info, armored), info })
      : info
  })
  const people = [mallory, alice, testPerson('third')]
  const list = await lists.of(
    people.map(({ certificate }) => certificate),
    await sealing(),
  )
  expect(recipientsOf(list)).toEqual(subkeys(...people, bot))
})

test('a certificate that openpgp.js must seal to is listed in `others`', async () => {
  const { lists } = listsOver((armored) => {
    const info = infoOf(armored)
    const checked = { status: statusOf(info, `judged ${armored}`), info: null }
    return armored === alice.certificate ? Promise.resolve(checked) : info
  })
  const list = await lists.of(certificates, await sealing())
  expect(recipientsOf(list)).toEqual(subkeys(mallory, bot))
  expect(list.others).toEqual([`judged ${alice.certificate}`])
})

test('a certificate whose info has ended is listed in `others`', async () => {
  const { lists } = listsOver((armored) => {
    const info = { ...infoOf(armored), untilS: 1 }
    return Promise.resolve({ status: statusOf(info, armored), info })
  })
  const list = await lists.of([alice.certificate], await sealing())
  expect(list.others).toEqual([alice.certificate])
  expect(recipientsOf(list)).toEqual(subkeys(bot))
})

test.each([
  ['is unusable', { unusable: 'revoked' as const }],
  ['has no fingerprint', { fingerprint: null }],
])('a certificate that %s fails the whole recipient list', async (_, status) => {
  const { lists } = listsOver((armored) => {
    const info = infoOf(armored)
    const checked = { status: { ...statusOf(info, armored), ...status }, info }
    return armored === alice.certificate ? Promise.resolve(checked) : info
  })
  const by = await sealing()
  const refused = 'a certificate cannot be sealed to'
  await expect(lists.of(certificates, by)).rejects.toThrow(refused)
  await expect(lists.of(certificates.toReversed(), by)).rejects.toThrow(refused)
})

test('an unparseable certificate fails the whole recipient list', async () => {
  const { lists } = listsOver((armored) =>
    Promise.resolve({ status: unusableStatus(armored, 'unparseable'), info: null }),
  )
  await expect(lists.of(certificates, await sealing())).rejects.toThrow('cannot be sealed to')
})

test('a recipient list that failed once is built on the next request', async () => {
  let isBroken = true
  const { lists } = listsOver((armored) => {
    if (isBroken) return Promise.reject(new Error('gone'))
    return infoOf(armored)
  })
  const by = await sealing()
  await expect(lists.of(certificates, by)).rejects.toThrow('gone')
  isBroken = false
  expect(recipientsOf(await lists.of(certificates, by))).toEqual(subkeys(alice, mallory, bot))
})

test('the name of a recipient list depends on its recipients, their order and the own key', async () => {
  const { lists } = listsOver((armored) => {
    const info = infoOf(armored.trim())
    if (armored.startsWith(' ')) {
      return Promise.resolve({ status: statusOf(info, armored), info: null })
    }
    return info
  })
  const nameOf = async (of: string[], key = bot.unlocked): Promise<string> =>
    (await lists.of(of, await sealing(key))).name
  const name = await nameOf([...certificates])
  expect(await nameOf([...certificates])).toBe(name)
  const others = await Promise.all([
    nameOf(certificates.toReversed()),
    nameOf([alice.certificate]),
    nameOf([]),
    nameOf([...certificates], testPerson('another').unlocked),
    nameOf([` ${alice.certificate}`]),
    nameOf([` ${mallory.certificate}`]),
    nameOf(certificates.map((one) => ` ${one}`)),
  ])
  expect(new Set([name, ...others]).size).toBe(8)
})

test('a recipient list has `readAes256` when all recipients and the bot list AES-256', async () => {
  const { lists } = listsOver(infoOf)
  const choosy = preferring(7)
  const reads = async (of: string[], key = bot.unlocked): Promise<boolean> =>
    (await lists.of(of, await sealing(key))).readAes256
  expect(await reads([alice.certificate])).toBe(true)
  expect(await reads([alice.certificate, choosy.certificate])).toBe(false)
  expect(await reads([alice.certificate], choosy.unlocked)).toBe(false)
})

test('a recipient list holds while all its certificates hold', async () => {
  const nowS = Math.floor(Date.now() / 1000)
  const times = new Map([
    [alice.certificate, { fromS: nowS - 90, untilS: nowS + 70 }],
    [mallory.certificate, { fromS: nowS - 80, untilS: nowS + 60 }],
  ])
  const { lists } = listsOver((armored) => ({ ...infoOf(armored), ...times.get(armored) }))
  expect(await lists.of(certificates, await sealing())).toMatchObject({
    fromS: nowS - 80,
    untilS: nowS + 60,
  })
})

test('the same array of certificates returns the same recipient list without look-ups', async () => {
  const { lists, asked } = listsOver(infoOf)
  const by = await sealing()
  const list = await lists.of(certificates, by)
  expect(await lists.of(certificates, by)).toBe(list)
  expect(asked).toHaveLength(2)
  expect(await lists.of([...certificates], by)).not.toBe(list)
  expect(asked).toHaveLength(4)
})

test('a recipient list is rebuilt for another own key, another cache epoch and past its end', async () => {
  let untilS = 0xffff_ffff
  const { lists, cache } = listsOver((armored) => ({ ...infoOf(armored), untilS }))
  const by = await sealing()
  const first = await lists.of(certificates, by)
  const other = await sealing(testPerson('another').unlocked)
  const second = await lists.of(certificates, other)
  expect(recipientsOf(second)).toEqual(subkeys(alice, mallory, testPerson('another')))
  expect(second.name).not.toBe(first.name)
  cache.epoch = 1
  const third = await lists.of(certificates, other)
  expect(third).not.toBe(second)
  expect(await lists.of(certificates, other)).toBe(third)
  cache.epoch = 2
  untilS = 1
  const ended = await lists.of(certificates, other)
  expect(await lists.of(certificates, other)).not.toBe(ended)
})

test('a recipient list that was built while the cache epoch changed is rebuilt', async () => {
  const { lists, cache } = listsOver(async (armored) => {
    const info = infoOf(armored)
    cache.epoch++
    return await Promise.resolve({ status: statusOf(info, armored), info })
  })
  const by = await sealing()
  const same = [alice.certificate]
  const before = await lists.of(same, by)
  expect(await lists.of(same, by)).not.toBe(before)
})
