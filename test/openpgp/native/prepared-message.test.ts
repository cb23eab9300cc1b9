import { expect, test } from 'vitest'
import { freshSessionKey } from '../../../src/openpgp/crypto/session-key.ts'
import { openVersion1 } from '../../../src/openpgp/crypto/seipd.ts'
import { armorPackets, type Sealed } from '../../../src/openpgp/format/armor-writer.ts'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import {
  destroyPrepared,
  preparedBytes,
  sealPrepared,
  type PreparedMessage,
} from '../../../src/openpgp/native/prepared-message.ts'
import { wrapHere } from '../../../src/openpgp/native/wrap-session-key.ts'
import { concat, seeded, u16, u32 } from '../../support/openpgp-bytes.ts'
import { openArmored } from '../../support/openpgp-engine.ts'
import { crc24 } from '../../support/openpgp-framing.ts'
import { listTo, sealing } from '../../support/openpgp-native-parts.ts'
import { MADE_MS, NOW_MS, bot, personOf } from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'

const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))

function prepared(people = [bot], cipher: 'aes256' | 'aes128' = 'aes256'): PreparedMessage {
  const sessionKey = freshSessionKey(cipher)
  const packets = wrapHere(listTo(people).recipientKeys, sessionKey)
  return { ...armorPackets(packets), sessionKey }
}

const NOBODY: Buffer = Buffer.alloc(0)

async function seal(text: string, message = prepared(), by = bot, names = NOBODY): Promise<Sealed> {
  const { signer } = await sealing(by.unlocked)
  return sealPrepared(message, { text, signer, names, atMs: NOW_MS + 999 })
}

test.each([
  ['Ed25519Legacy', bot],
  ['Ed25519', modern],
])(
  'a message signed with a key of %s opens with a valid signature and its digests',
  async (_, by) => {
    for (const text of ['', 'x', 'grüße 🌍\n', 'y'.repeat(4096)]) {
      const sealed = await seal(text, prepared([bot, modern]), by)
      const opened = await openArmored(sealed.armored)
      expect(opened).toMatchObject({
        outcome: 'opened',
        text,
        dataDigest: sealed.dataDigest,
        signatures: [
          { issuerKeyId: by.primary.keyId, createdMs: NOW_MS, digest: sealed.statementDigest },
        ],
      })
      if (opened.outcome !== 'opened') continue
      expect(await verify(opened.signed, by.certificate, NOW_MS + 1000)).toEqual(['valid'])
    }
  },
)

/** The packets inside a sealed message. */
async function inside(text: string, { by = bot, names = NOBODY } = {}) {
  const message = prepared()
  const data = Buffer.from(message.sessionKey.data)
  const sealed = await seal(text, message, by, names)
  const outer = [...packetsOf(dearmor(sealed.armored, 'MESSAGE') ?? Buffer.alloc(0))]
  const container = outer.find(({ tag }) => tag === 18)?.body ?? Buffer.alloc(0)
  const plain = openVersion1(container, { algorithm: 'aes256', data }) ?? Buffer.alloc(0)
  return [...packetsOf(plain)].map(({ tag, body }) => ({ tag, body: Buffer.from(body) }))
}

test.each([
  ['no recipients', NOBODY],
  [
    'two recipients',
    concat(22, 35, 4, bot.primary.fingerprint, 22, 35, 4, modern.primary.fingerprint),
  ],
])(
  'a message with %s named has the expected bytes of one-pass packet, literal and signature',
  async (_, names) => {
    const { keyId, fingerprint } = bot.primary
    const [onePass, literal, signature, ...more] = await inside('hello', { names })
    expect(more).toEqual([])
    expect(onePass).toEqual({ tag: 4, body: concat(3, 0, 10, 22, keyId, 1) })
    const date = u32(NOW_MS / 1000)
    expect(literal).toEqual({ tag: 11, body: concat('7500', date, Buffer.from('hello')) })
    const name = Buffer.from('salt@notations.openpgpjs.org')
    const area = signature?.body.subarray(6) ?? Buffer.alloc(0)
    const saltAt = 6 + 10 + 2 + 8 + name.length
    const salt = area.subarray(saltAt, saltAt + 32)
    const subpackets = concat(
      concat(5, 0x82, date),
      concat(9, 16, keyId),
      concat(1 + 8 + name.length + 32, 20, '00000000', u16(name.length), u16(32), name, salt),
      concat(22, 33, 4, fingerprint),
      names,
    )
    expect(signature?.tag).toBe(2)
    const start = concat(4, 0, 22, 10, u16(subpackets.length), subpackets, 0, 0)
    expect(signature?.body.subarray(0, start.length)).toEqual(start)
  },
)

test('the armor of a sealed message is complete, with its checksum', async () => {
  const rests = new Set<number>()
  for (const text of ['', 'x', 'xx', 'xxx', 'y'.repeat(250), 'y'.repeat(251), 'y'.repeat(252)]) {
    const sealed = await seal(text)
    const bytes = dearmor(sealed.armored, 'MESSAGE')
    if (bytes === null) throw new Error('no armor')
    rests.add(bytes.length % 3)
    expect(sealed.chars).toBe(sealed.armored.length)
    const last = sealed.armored.split('\n').at(-3) ?? ''
    const checksum = `=${crc24(bytes).toString('base64')}`
    expect(last).toBe(checksum)
    expect(JSON.stringify(sealed.armored)).toBe(`"${Buffer.concat(sealed.json).toString()}"`)
  }
  expect(rests.size).toBe(3)
})

test('the session key of a prepared message is zeroed by its sealing and by its destruction', async () => {
  const message = prepared([bot], 'aes128')
  const { data } = message.sessionKey
  expect(data.some((byte) => byte !== 0)).toBe(true)
  await seal('hello', message)
  expect(data).toEqual(Buffer.alloc(16))
  const other = prepared()
  destroyPrepared(other)
  expect(other.sessionKey.data).toEqual(Buffer.alloc(32))
})

test('`preparedBytes` counts lines, rest and session key of a prepared message', () => {
  const packets = seeded('packets', 100)
  const message = { ...armorPackets(packets), sessionKey: freshSessionKey('aes256') }
  expect(message.lines).toHaveLength(76 + 2)
  expect(message.rest).toEqual(new Uint8Array(packets.subarray(57)))
  expect(message.bytes).toBe(100)
  expect(preparedBytes(message)).toBe(78 + 43 + 32)
})
