import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test, afterEach, vi } from 'vitest'
import { openNatively } from '../../support/openpgp-native-parts.ts'
import { MessageOpener, unwrapNatively } from '../../../src/openpgp/native/opener.ts'
import type { OpenResult } from '../../../src/openpgp/native/opener.ts'
import { NativeOwnKeys } from '../../../src/openpgp/native/own-keys.ts'
import type { UnlockedKey, Opened } from '../../../src/openpgp/engine.ts'
import { describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import { CIPHER_NAME } from '../../../src/openpgp/format/ciphers.ts'
import { parseMessage, parseMessageBytes } from '../../../src/openpgp/format/encrypted-message.ts'
import type { EncryptedMessage } from '../../../src/openpgp/format/encrypted-message.ts'
import { KEY, hello as helloPackets, idsOf, toBot } from '../../support/openpgp-engine.ts'
import { armor, packet } from '../../support/openpgp-framing.ts'
import { literal } from '../../support/openpgp-inner.ts'
import { concat, seeded } from '../../support/openpgp-bytes.ts'
import { isUsual, seeds } from '../../support/chance.ts'
import { mutate, randomFrom } from '../../support/openpgp-mutate.ts'
import { alice, bot, mallory, MADE_MS, personOf, preferring } from '../../support/openpgp-people.ts'
import type { TestPerson } from '../../support/openpgp-people.ts'
import {
  seipd,
  strangerPkesk,
  anonymousPkesk,
  pkesk,
  pkesk6,
  seipd2,
  sessionKey,
} from '../../support/openpgp-sealed.ts'
import { variedMessage } from '../../support/openpgp-varied-message.ts'
import type { FoundKey } from '../../../src/openpgp/format/recipient-scan.ts'
import { ed25519Native, x25519Native, x25519Pkesk } from '../../support/openpgp-x25519.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const botKeys = [bot.unlocked]
const hello = armor(helloPackets())
const ids = idsOf(botKeys)
const own = new NativeOwnKeys(describeOwnKey)

const ask = (opener: MessageOpener, armored: string): Promise<OpenResult> =>
  opener.open({ armored, keys: botKeys, ids, signal: undefined })

/** The result of a message that is opened alone. */
async function alone(armored: string): Promise<OpenResult> {
  const encrypted = parseMessage(armored, ids)
  return encrypted.outcome === 'encrypted'
    ? ((await openNatively(encrypted, botKeys, own)) ?? encrypted)
    : encrypted
}

test('messages that are opened together each have the result of being opened alone', async () => {
  const opener = new MessageOpener(own, () => true)
  const long = armor(toBot(literal('y'.repeat(60_000))))
  const messages = [...seeds(60)].flatMap((seed) => {
    const { packets } = variedMessage(randomFrom(seed), {
      to: [bot.subkey],
      signers: [alice.primary, mallory.primary],
    })
    const mutated = armor(mutate(packets, randomFrom(seed + 1)))
    return [armor(packets), mutated, ...(seed % 9 === 0 ? [long, 'hello', ''] : [])]
  })
  const expected = await Promise.all(messages.map(alone))
  expect(await Promise.all(messages.map((one) => ask(opener, one)))).toEqual(expected)
  await immediate()
  expect(opener.isBusy).toBe(false)
  if (!isUsual) return
  const outcomes = new Set(expected.map(({ outcome }) => outcome))
  expect([...outcomes]).toEqual(expect.arrayContaining(['opened', 'damaged', 'encrypted']))
})

test('`MessageOpener` opens messages in order and yields to the event loop between them', async () => {
  const opener = new MessageOpener(own, () => true)
  const came: (number | string)[] = []
  setImmediate(() => came.push('another'))
  const all = Array.from({ length: 40 }, async (_, index) => {
    expect(await ask(opener, hello)).toMatchObject({ text: 'hello' })
    came.push(index)
  })
  expect(opener.isBusy).toBe(true)
  await Promise.all(all)
  expect(came.filter((one) => one !== 'another')).toEqual(all.map((_, index) => index))
  const turnAt = came.indexOf('another')
  expect(turnAt).toBeGreaterThanOrEqual(0)
  expect(turnAt).toBeLessThan(20)
})

test('`MessageOpener.isBusy` is true while an own key is being described', async () => {
  let described = (): void => {}
  const slow = new NativeOwnKeys(async (...given) => {
    await new Promise<void>((resolve) => (described = resolve))
    return await describeOwnKey(...given)
  })
  const opener = new MessageOpener(slow, () => true)
  const opened = ask(opener, hello)
  for (let turn = 0; turn < 5; turn++) await immediate()
  expect(opener.isBusy).toBe(true)
  described()
  expect(await opened).toMatchObject({ text: 'hello' })
  await immediate()
  expect(opener.isBusy).toBe(false)
})

test('a message that names a primary key is returned as parsed', async () => {
  const opener = new MessageOpener(new NativeOwnKeys(describeOwnKey), () => true)
  const named = armor(concat(strangerPkesk('a', bot.primary.keyId), seipd(literal('x'), KEY)))
  for (let time = 0; time < 2; time++) {
    expect(await ask(opener, named)).toEqual(parseMessage(named, ids))
  }
})

test('a message is returned as parsed when its request is aborted or native opening is off', async () => {
  const gone = AbortSignal.abort()
  const opener = new MessageOpener(own, () => true)
  const left = await opener.open({ armored: hello, keys: botKeys, ids, signal: gone })
  expect(left).toEqual(parseMessage(hello, ids))
  expect(await ask(new MessageOpener(own, () => false), hello)).toEqual(left)
})

const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))
const box = seipd(literal('hello'), KEY)
const ours = pkesk(bot.subkey, KEY)
const toModern = x25519Pkesk(modern.subkey, KEY)

afterEach(() => void vi.restoreAllMocks())

function parsed(packets: Uint8Array, keys: UnlockedKey[]): EncryptedMessage {
  const message = parseMessageBytes(packets, idsOf(keys))
  if (message.outcome !== 'encrypted') throw new Error(message.outcome)
  return message
}

type Asked = [packets: Uint8Array, keys?: UnlockedKey[]]

const opened = (...[packets, keys = [bot.unlocked]]: Asked): Promise<Opened | null> =>
  openNatively(parsed(packets, keys), keys, own)
const unwrapped = (...[packets, keys = [bot.unlocked]]: Asked): Promise<FoundKey[] | null> =>
  unwrapNatively(parsed(packets, keys), keys, own)

/** The packet with one byte changed. */
const spoilt = (bytes: Buffer, at: number): Buffer => flipByte(bytes, at)

test.each<[string, TestPerson, Buffer]>([
  ['ECDH', bot, ours],
  ['X25519', modern, toModern],
])('a message to a key of %s opens natively and names the key', async (_, person, recipient) => {
  const packets = concat(recipient, box)
  const { dataDigest, recipients } = parsed(packets, [person.unlocked])
  expect(await opened(packets, [alice.unlocked, person.unlocked])).toMatchObject({
    outcome: 'opened',
    text: 'hello',
    openedWith: person.primary.fingerprint,
    dataDigest,
    recipients,
    signatures: [],
  })
  expect(await unwrapped(packets, [alice.unlocked, person.unlocked])).toEqual([
    { algorithm: 'aes256', data: KEY.data, fingerprint: person.primary.fingerprint },
  ])
})

const primaryOnly = strangerPkesk('a', bot.primary.keyId)
const rsa = packet(1, concat(3, bot.subkey.keyId, 1, '0008', 'ff'))
const asX25519 = concat(toModern.subarray(0, 3), bot.subkey.keyId, toModern.subarray(11))
const cast5 = Buffer.from(toModern)
cast5[2 + 10 + 32 + 1] = 3

test.each<[string, Buffer, TestPerson]>([
  ['without a key id', anonymousPkesk(bot.subkey, KEY), bot],
  ['beside a second one for the own key', concat(ours, strangerPkesk('b', bot.subkey.keyId)), bot],
  ['of version 6', pkesk6(bot.subkey, KEY), bot],
  ['that names the primary key', primaryOnly, bot],
  ['of RSA', rsa, bot],
  ['of another algorithm than its key', asX25519, bot],
  ['with the cipher CAST5', cast5, modern],
  ['with the cipher CAST5 and a changed wrapped key', spoilt(cast5, cast5.length - 1), modern],
  [
    'with a session key that is too short',
    pkesk(bot.subkey, { ...KEY, data: seeded('x', 24) }),
    bot,
  ],
])('a message with a PKESK packet %s is left to openpgp.js', async (_, recipient, { unlocked }) => {
  const packets = concat(recipient, box)
  expect(await opened(packets, [unlocked])).toBeNull()
  expect(await unwrapped(packets, [unlocked])).toBeNull()
})

test('a message is left to openpgp.js when two own keys have its key id, or none has', async () => {
  const packets = concat(ours, box)
  const twin = { ...alice.unlocked, keyIds: bot.unlocked.keyIds }
  expect(await opened(packets, [bot.unlocked, twin])).toBeNull()
  expect(await unwrapped(packets, [twin, bot.unlocked])).toBeNull()
  const message = parsed(packets, [bot.unlocked])
  expect(await openNatively(message, [alice.unlocked], own)).toBeNull()
  expect(await unwrapNatively(message, [alice.unlocked], own)).toBeNull()
})

test('a message to an own key that cannot be described is left to openpgp.js', async () => {
  const nothing = new NativeOwnKeys(() => Promise.reject(new Error('unknown')))
  const message = parsed(concat(ours, box), [bot.unlocked])
  expect(await openNatively(message, [bot.unlocked], nothing)).toBeNull()
  expect(await unwrapNatively(message, [bot.unlocked], nothing)).toBeNull()
})

test('a version 2 container is left to openpgp.js, with its session key unwrapped', async () => {
  const packets = concat(ours, seipd2(literal('hello'), KEY))
  expect(await opened(packets)).toBeNull()
  expect(await unwrapped(packets)).toMatchObject([{ data: KEY.data }])
})

test.each<[string, Buffer, TestPerson]>([
  ['for ECDH', spoilt(ours, ours.length - 1), bot],
  ['for X25519', spoilt(toModern, toModern.length - 1), modern],
])('a message with a changed PKESK packet %s is damaged natively', async (_, recipient, one) => {
  const packets = concat(recipient, box)
  const damage = { outcome: 'damaged', reason: 'decryption' }
  expect(await opened(packets, [one.unlocked])).toEqual(damage)
  expect(await unwrapped(packets, [one.unlocked])).toEqual([])
})

test('a message under any AES opens natively for a key that lists AES-256 alone', async () => {
  const choosy = preferring(9)
  for (const cipher of [7, 8, 9] as const) {
    const key = sessionKey('usual', cipher)
    const packets = concat(pkesk(choosy.subkey, key), seipd(literal('hello'), key))
    expect(await opened(packets, [choosy.unlocked])).toMatchObject({ text: 'hello' })
    const algorithm = CIPHER_NAME[cipher]
    expect(await unwrapped(packets, [choosy.unlocked])).toMatchObject([{ algorithm }])
  }
})

test('the session key of a message is zeroed after success and after failure', async () => {
  for (const container of [box, spoilt(box, box.length - 1)]) {
    const zeroed: string[] = []
    const { fill } = Buffer.prototype
    vi.spyOn(Buffer.prototype, 'fill').mockImplementation(function (this: Buffer, ...given) {
      if (given.length === 1 && Number(given[0]) === 0) zeroed.push(this.toString('hex'))
      return fill.apply(this, given)
    })
    await opened(concat(ours, container))
    vi.restoreAllMocks()
    expect(zeroed).toContain(KEY.data.toString('hex'))
  }
})
