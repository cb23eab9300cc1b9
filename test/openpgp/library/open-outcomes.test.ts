/** The own key that opens a message by the library, and the outcome where none does. */
import {
  constants,
  createCipheriv,
  createHash,
  createPublicKey,
  hash as digest,
  publicEncrypt,
} from 'node:crypto'
import { generateKey } from 'openpgp'
import { expect, test } from 'vitest'
import { BOUNDS } from '../../../src/openpgp/bounds.ts'
import { openVersion1 } from '../../../src/openpgp/library/containers.ts'
import { longPacket, packet, partialPacket } from '../../support/openpgp-framing.ts'
import { open, openWhole, unpackWhole, unwrap } from '../../../src/openpgp/library/open.ts'
import { packetAt } from '../../../src/openpgp/format/packets.ts'
import { parseMessageBytes } from '../../../src/openpgp/format/encrypted-message.ts'
import type { UnlockedKey } from '../../../src/openpgp/engine.ts'
import { BZIP2_HELLO } from '../../support/openpgp-bzip2.ts'
import { KEY, idsOf, openPackets } from '../../support/openpgp-engine.ts'
import { compressed, compressedOf, literal } from '../../support/openpgp-inner.ts'
import { concat, mpi, seeded, u16, u32 } from '../../support/openpgp-bytes.ts'
import { alice, bot, mallory, preferring } from '../../support/openpgp-people.ts'
import {
  anonymousPkesk,
  pkesk,
  pkesk6,
  seipd,
  seipd2,
  seipdBody,
  sessionKey,
  strangerPkesk,
  type CipherId,
} from '../../support/openpgp-sealed.ts'
import { unlockedFrom } from '../../../src/openpgp/library/secret-key.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const { RSA_PKCS1_PADDING } = constants
const sha256 = (bytes: Uint8Array): string => digest('sha256', bytes, 'hex')
const box = seipd(literal('hello'), KEY)
const broken = flipByte(box, -1)
const wrong = sessionKey('wrong')
const [BOT, MALLORY] = [bot.unlocked, mallory.unlocked]

/** Whom it opened for, or why it did not. */
async function outcomeOf(packets: Buffer[], keys: UnlockedKey[] = [BOT]): Promise<string> {
  const parsed = parseMessageBytes(concat(...packets), idsOf(keys))
  if (parsed.outcome !== 'encrypted') throw new Error(parsed.outcome)
  const opened = await open(parsed, keys)
  if (opened.outcome !== 'opened') {
    return 'reason' in opened ? `${opened.outcome}: ${opened.reason}` : opened.outcome
  }
  expect(opened.text).toBe('hello')
  expect(opened.dataDigest).toBe(parsed.dataDigest)
  expect(opened.recipients).toBe(parsed.recipients)
  return keys.find(({ fingerprint }) => fingerprint === opened.openedWith) === BOT
    ? 'bot'
    : 'mallory'
}

test.each<[string, Buffer[], string]>([
  ['for an anonymous other key', [anonymousPkesk(alice.subkey, KEY), box], 'not-recipient'],
  [
    'with another session key, anonymously,',
    [anonymousPkesk(bot.subkey, wrong), box],
    'damaged: decryption',
  ],
  [
    'of version 1 with a version 6 PKESK packet',
    [pkesk6(bot.subkey, KEY), box],
    'damaged: decryption',
  ],
])('openpgp.js does not open a message %s', async (_, packets, said) => {
  expect(await outcomeOf(packets)).toBe(said)
})

test('openpgp.js tries each own key and reports the one that opens', async () => {
  const forMallory = [pkesk(mallory.subkey, KEY), box]
  expect(await outcomeOf(forMallory, [BOT, MALLORY])).toBe('mallory')
  expect(await outcomeOf(forMallory, [MALLORY, BOT])).toBe('mallory')
  const both = [pkesk(bot.subkey, wrong), pkesk(mallory.subkey, KEY), box]
  expect(await outcomeOf(both, [BOT, MALLORY])).toBe('mallory')
  expect(await outcomeOf([anonymousPkesk(alice.subkey, KEY), box], [BOT, MALLORY])).toBe(
    'not-recipient',
  )
})

test.each([7, 8, 9, 11, 13] as const)(
  'a message of cipher %i opens for a key that lists AES-256 alone',
  async (cipher) => {
    const key = sessionKey('listed', cipher)
    const choosy = preferring(9)
    const sealed = concat(pkesk(choosy.subkey, key), seipd(literal('hello'), key))
    expect(await openPackets(sealed, [choosy.unlocked])).toMatchObject({ text: 'hello' })
  },
)

test.each([1, 5, 6, 14, 110])('a message of cipher %i is damaged as `cipher`', async (cipher) => {
  const idea = pkesk(bot.subkey, { data: seeded('idea', 16), cipher: cipher as CipherId })
  expect(await outcomeOf([idea, box])).toBe('damaged: cipher')
  expect(await outcomeOf([idea, pkesk(bot.subkey, wrong), box])).toBe('damaged: decryption')
  expect(await outcomeOf([idea, pkesk(bot.subkey, KEY), box])).toBe('bot')
})

test('a session key of RSA under a cipher that is not read is `decryption`, as every damaged packet', async () => {
  const { privateKey } = await generateKey({
    type: 'rsa',
    rsaBits: 2048,
    userIDs: [{ name: 'rsa' }],
    format: 'object',
  })
  const key = unlockedFrom(privateKey)
  const [subkey] = privateKey.subkeys
  if (subkey === undefined) throw new Error('no subkey')
  const { n, e } = subkey.keyPacket.publicParams as Record<'n' | 'e', Uint8Array>
  const base64url = (one: Uint8Array): string => Buffer.from(one).toString('base64url')
  const jwk = { kty: 'RSA', n: base64url(n), e: base64url(e) }
  const public_ = { key: createPublicKey({ key: jwk, format: 'jwk' }), padding: RSA_PKCS1_PADDING }
  const to = (cipher: number): Buffer => {
    const sum = KEY.data.reduce((total, byte) => total + byte, 0) & 0xffff
    const wrapped = publicEncrypt(public_, concat(cipher, KEY.data, u16(sum)))
    return packet(1, concat(3, subkey.getKeyID().toHex(), 1, mpi(wrapped)))
  }
  expect(await openPackets(concat(to(9), box), [key])).toMatchObject({ text: 'hello' })
  expect(await outcomeOf([to(1), box], [key])).toBe('damaged: decryption')
})

test('`unwrap` returns each session key with the own key for it', async () => {
  const packets = [strangerPkesk('a'), pkesk(bot.subkey, KEY), pkesk(mallory.subkey, wrong)]
  const found = await unwrap(packets, [MALLORY, BOT])
  expect(found.map(({ algorithm, fingerprint }) => [algorithm, fingerprint])).toEqual([
    ['aes256', MALLORY.fingerprint],
    ['aes256', BOT.fingerprint],
  ])
  expect(found.map(({ data }) => Buffer.from(data))).toEqual([wrong.data, KEY.data])
  expect(await unwrap(packets, [alice.unlocked])).toEqual([])
  expect(
    (await unwrap([pkesk6(bot.subkey, KEY)], [BOT])).map(({ algorithm }) => algorithm),
  ).toEqual([null])
})

const openFor = async (packets: Uint8Array[], body: Uint8Array, keys = [BOT]) =>
  await openWhole(body, await unwrap(packets, keys))

test('`openWhole` opens a container with the right own key, and returns its packets unchanged', async () => {
  const inner = partialPacket(11, concat('62', 0, u32(0), Buffer.alloc(600, 'a')), [9])
  const body = seipdBody(inner, KEY)
  const packets = [pkesk(bot.subkey, wrong), pkesk(bot.subkey, KEY)]
  const whole = await openFor(packets, body, [MALLORY, BOT])
  expect([whole?.fingerprint, whole?.identity]).toEqual([BOT.fingerprint, sha256(body)])
  expect(Buffer.from(whole?.packets ?? '')).toEqual(inner)
  const version2 = packetAt(seipd2(literal('hello'), KEY), 0).body
  const opened = await openFor([pkesk6(bot.subkey, KEY)], version2)
  expect([opened?.fingerprint, opened?.identity]).toEqual([BOT.fingerprint, undefined])
  expect(await openFor([pkesk(bot.subkey, KEY)], body, [MALLORY])).toBeNull()
  expect(await openFor([pkesk(bot.subkey, KEY)], broken.subarray(2))).toBeNull()
})

test('a container longer than any message is identified by session key and hash', async () => {
  const most = BOUNDS.messageChars
  const identityIn = async (bytes: number): Promise<[Buffer, string | undefined]> => {
    const empty = seipdBody(Buffer.alloc(0), KEY).length
    const body = seipdBody(longPacket(11, seeded('file', bytes - empty - 6)), KEY)
    expect(body).toHaveLength(bytes)
    return [body, (await openFor([pkesk(bot.subkey, KEY)], body))?.identity]
  }
  const [short, itsDigest] = await identityIn(most + 1)
  expect(itsDigest).toBe(sha256(short))
  const [long, identity] = await identityIn(most + 2)
  const hash = openVersion1(long, { algorithm: 'aes256', data: KEY.data })?.hash ?? ''
  expect(identity).toBe(sha256(concat(Buffer.from('version 1'), KEY.data, hash)))
})

const shortBody = (bytes: number): Buffer => {
  const marked = concat(seeded('short', bytes - 1 - 20 - 2), 'd314')
  const cipher = createCipheriv('aes-256-cfb', KEY.data, Buffer.alloc(16))
  return concat(1, cipher.update(concat(marked, createHash('sha1').update(marked).digest())))
}

test.each<[string, Buffer, string, string | null]>([
  ['without packets', seipdBody(Buffer.alloc(0), KEY), 'aes256', ''],
  ['with a literal', seipdBody(literal('hello'), KEY), 'aes256', literal('hello').toString('hex')],
  ['with a prefix one byte too short', shortBody(40), 'aes256', null],
  ['with a prefix several bytes too short', shortBody(30), 'aes256', null],
  ['with another hash header', seipdBody(literal('a'), KEY, { header: 'd315' }), 'aes256', null],
  ['under Twofish', seipdBody(literal('hello'), KEY), 'twofish', null],
  ['under another key', seipdBody(literal('hello'), wrong), 'aes256', null],
  ['of its version byte alone', Buffer.of(1), 'aes256', null],
])('`openVersion1` opens or rejects a container %s', (_, body, algorithm, packets) => {
  const opened = openVersion1(body, { algorithm, data: KEY.data })
  expect(opened && Buffer.from(opened.packets).toString('hex')).toBe(packets)
})

test('`unpackWhole` unpacks a compressed packet, and returns null for a broken one', async () => {
  const whole = compressedOf(3, BZIP2_HELLO)
  expect(Buffer.from((await unpackWhole(whole)) ?? '').includes('hello')).toBe(true)
  expect(await unpackWhole(compressedOf(3, Buffer.from('hello')))).toBeNull()
  expect(await unpackWhole(Buffer.from('hello'))).toBeNull()
})

test('`unpackWhole` reports a compressed packet above `BOUNDS.libraryAttachmentBytes` as too large', async () => {
  const bomb = compressed(literal(Buffer.alloc(BOUNDS.libraryAttachmentBytes)), 1)
  expect(await unpackWhole(bomb)).toBe('too-large')
})
