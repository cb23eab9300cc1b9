/** Messages for subkeys of ML-KEM-768+X25519, through the whole engine. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { EngineCheck } from '../../../src/openpgp/checker.ts'
import { createEngine } from '../../../src/openpgp/create.ts'
import type { OwnKey, UnlockedKey } from '../../../src/openpgp/engine.ts'
import { lock, unlock, unlockedFrom } from '../../../src/openpgp/library/secret-key.ts'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { concat } from '../../support/openpgp-bytes.ts'
import { sessionKey, pkesk, seipd } from '../../support/openpgp-sealed.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { compressed, literal } from '../../support/openpgp-inner.ts'
import {
  SEALED_BYTES,
  bothPerson,
  compositePerson,
  draftVector,
  mlKemPkesk,
  openMlKem,
} from '../../support/openpgp-ml-kem.ts'
import { MADE_MS, NOW_MS, alice, bot, mallory, personOf } from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'
import '../../support/openpgp-engine.ts'
import { readPrivateKey } from 'openpgp'

const PASSPHRASE = 'p'.repeat(64)
const nowMs = (): number => NOW_MS
const engine = createEngine({ threads: 1, nowMs })
const library = createEngine({ threads: 1, nowMs, engine: 'library' })
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  await library[Symbol.asyncDispose]()
})
const carol = bothPerson('carol', MADE_MS)
const dave = compositePerson('dave', MADE_MS)
const erin = personOf('erin', ed25519Native('erin', MADE_MS), x25519Native('erin', MADE_MS))
const KEY = sessionKey('kem')

let own: OwnKey
let unlocked: UnlockedKey
beforeAll(async () => {
  const o = { userId: 'bot', createdMs: MADE_MS, passphrase: PASSPHRASE, isRandom: true }
  own = await engine.generate({ algorithm: 'pqc', ...o })
  unlocked = await engine.unlock(own.locked, PASSPHRASE)
})

const packetsIn = (armored: string) => [
  ...packetsOf(dearmor(armored, 'MESSAGE') ?? Buffer.alloc(0)),
]

describe('sealing', () => {
  test('a message to a mixed list has one PKESK packet each, readable by a second implementation', async () => {
    const people = [alice, carol, erin, dave]
    const sealed = await engine.seal({
      text: 'hello',
      certificates: people.map(({ certificate }) => certificate),
      signer: unlocked,
      cipher: 'aes256',
    })
    const packets = packetsIn(sealed)
    expect(packets.map(({ tag, body }) => [tag, tag === 1 ? body[9] : 0])).toEqual([
      [1, 18],
      [1, 35],
      [1, 25],
      [1, 35],
      [1, 35],
      [18, 0],
    ])
    const keys = [packets[1], packets[3]].map((packet, index) =>
      openMlKem(packet?.body ?? Buffer.alloc(0), [carol.kem, dave.kem][index]!),
    )
    expect(keys[0]).toEqual(keys[1])
    expect(keys[0]?.cipher).toBe(9)
    for (const { unlocked: key } of [...people, { unlocked }]) {
      expect(await engine.open(sealed, [key])).toMatchObject({ outcome: 'opened', text: 'hello' })
    }
    expect(await engine.open(sealed, [mallory.unlocked])).toEqual({ outcome: 'not-recipient' })
  })

  test('openpgp.js by itself seals to a classical subkey, and fails for a certificate without one', async () => {
    const request = { text: 'hello', signer: bot.unlocked, cipher: 'aes256' as const }
    const sealed = await library.seal({ ...request, certificates: [carol.certificate] })
    expect(packetsIn(sealed).map(({ body }) => body[9])).not.toContain(35)
    await expect(library.seal({ ...request, certificates: [dave.certificate] })).rejects.toThrow(
      'cannot be sealed to',
    )
  })
})

describe('opening', () => {
  const to = mlKemPkesk(carol.kem, KEY)
  test.each([
    ['of the usual form', to, literal('hello')],
    ['with compressed text', to, compressed(literal('hello'), 2)],
    [
      'with a packet for the other subkey too',
      concat(pkesk(carol.subkey, KEY), to),
      literal('hello'),
    ],
  ])('a message to an ML-KEM subkey %s opens with both engines', async (_, packets, inner) => {
    const armored = armor(concat(packets, seipd(inner, KEY)))
    for (const one of [engine, library]) {
      expect(await one.open(armored, [carol.unlocked])).toMatchObject({
        text: 'hello',
        openedWith: carol.primary.fingerprint,
      })
    }
  })

  test('a message with an anonymous ML-KEM PKESK packet opens with both engines', async () => {
    const named = Buffer.from(to)
    named.fill(0, 4, 12)
    const armored = armor(concat(named, seipd(literal('hello'), KEY)))
    for (const one of [engine, library]) {
      expect(await one.open(armored, [alice.unlocked, carol.unlocked])).toMatchObject({
        text: 'hello',
      })
      expect(await one.open(armored, [alice.unlocked])).toEqual({ outcome: 'not-recipient' })
    }
  })

  test('an ML-KEM PKESK packet with any changed field is damaged as `decryption` in both engines', async () => {
    const at = 3 + 10
    const changed = (place: number, by = 1): Buffer => {
      const copy = Buffer.from(to)
      copy[place] = (copy[place] ?? 0) ^ by
      return copy
    }
    const lowOrder = Buffer.from(to)
    lowOrder.fill(0, at, at + 32)
    const spoilt = [
      ['the point', changed(at)],
      ['a point of low order', lowOrder],
      ['the ciphertext of ML-KEM', changed(at + 40)],
      ['the length', changed(at + SEALED_BYTES)],
      ['the cipher', changed(at + SEALED_BYTES + 1, 0x0f)],
      ['the cipher, by another AES', changed(at + SEALED_BYTES + 1, 9 ^ 7)],
      ['the wrapped key', changed(to.length - 1)],
    ] as const
    for (const [what, packet] of spoilt) {
      const armored = armor(concat(packet, seipd(literal('hello'), KEY)))
      for (const one of [engine, library]) {
        const opened = await one.open(armored, [carol.unlocked])
        expect(opened, what).toEqual({ outcome: 'damaged', reason: 'decryption' })
      }
    }
  })

  test('the two sample messages of the ML-KEM draft open and verify with both engines', async () => {
    const key = unlockedFrom(await readPrivateKey({ armoredKey: draftVector('sk') }))
    for (const name of ['message-v1', 'message-v2']) {
      for (const one of [engine, library]) {
        const opened = await one.open(draftVector(name), [key])
        expect(opened).toMatchObject({ text: 'Testing\n' })
        const signed =
          opened.outcome === 'opened'
            ? opened.signed
            : { document: Buffer.alloc(0), signatures: [] }
        expect(await one.verify(signed, draftVector('pk'), NOW_MS)).toEqual(['valid'])
      }
    }
  })
})

describe("a bot's key with an ML-KEM subkey", () => {
  test('a generated `pqc` key has two subkeys and is sealed to by ML-KEM', async () => {
    expect(unlocked.keyIds).toHaveLength(3)
    expect(unlocked.sizes.recipient).toEqual({ aes256: 1175, aes128: 1159 })
    expect(await engine.judge(own.certificate)).toMatchObject({
      unusable: null,
      algorithm: 'ML-KEM-768+X25519',
      encryptionKeys: unlocked.fingerprints.slice(1).toReversed(),
    })
  })

  test('a key that is generated without an algorithm has no ML-KEM subkey', async () => {
    const o = { userId: 'bot', createdMs: MADE_MS, passphrase: PASSPHRASE, isRandom: true }
    const classic = await engine.generate(o)
    expect((await engine.unlock(classic.locked, PASSPHRASE)).keyIds).toHaveLength(2)
  })

  test('a relocked `pqc` key opens with both subkeys under the new passphrase alone', async () => {
    const relocked = await engine.relock(own.locked, {
      from: PASSPHRASE,
      to: 'words',
      isRandom: true,
    })
    for (const one of [engine, library]) {
      const again = await one.unlock(relocked, 'words')
      expect(Buffer.from(again.bytes).equals(unlocked.bytes)).toBe(true)
      await expect(one.unlock(relocked, PASSPHRASE)).rejects.toThrow('wrong-passphrase')
    }
    const adopted = await engine.adopt(Buffer.from(relocked), {
      from: 'words',
      to: PASSPHRASE,
      isRandom: true,
    })
    const key =
      adopted.outcome === 'adopted' ? await engine.unlock(adopted.key.locked, PASSPHRASE) : null
    expect(key?.keyIds).toEqual(unlocked.keyIds)
    const wrong = await engine.adopt(Buffer.from(relocked), { from: 'other', to: PASSPHRASE })
    expect(wrong).toEqual({ outcome: 'unfit', reason: 'passphrase-wrong' })
  })

  test('`lock` rejects an ML-KEM secret of another key', async () => {
    const quick = { to: 'a', isRandom: true }
    const key = await readPrivateKey({ binaryKey: carol.unlocked.bytes })
    const locked = await lock(key, quick)
    expect(Buffer.from((await unlock(locked, 'a')).bytes)).toEqual(carol.secret)
    await expect(unlock(locked, 'b')).rejects.toThrow('wrong-passphrase')
    const packet = key.subkeys[1]?.keyPacket as unknown as { privateParams: { secret: Uint8Array } }
    packet.privateParams.secret[40]! ^= 1
    await expect(lock(key, quick)).rejects.toThrow('Key is invalid')
  })
})

test('`openpgp.check` reports messages for ML-KEM subkeys as `unchecked`', async () => {
  const checked = createEngine({ threads: 1, check: 'all', nowMs })
  onTestFinished(() => checked[Symbol.asyncDispose]())
  const ended: EngineCheck[] = []
  checked.onCheck((check) => ended.push(check))
  const certificates = [carol.certificate, alice.certificate]
  const seal = async (signer: UnlockedKey): Promise<string> =>
    await checked.seal({ text: 'hello', certificates, signer, cipher: 'aes256', atMs: NOW_MS })
  await checked.open(await seal(unlocked), [unlocked])
  await checked.open(await seal(bot.unlocked), [carol.unlocked])
  await expect
    .poll(() => ended.map(({ result }) => result))
    .toEqual(['unchecked', 'unchecked', 'same', 'unchecked'])
})
