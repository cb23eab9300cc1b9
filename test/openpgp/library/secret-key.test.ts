import { expect, test } from 'vitest'
import { generateKey, readKey } from 'openpgp'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import type { OwnKey, UnlockedKey } from '../../../src/openpgp/engine.ts'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { MADE_MS, alice } from '../../support/openpgp-people.ts'
import { useEngineHere } from '../../support/openpgp-jobs-here.ts'
import { armor } from '../../support/openpgp-framing.ts'
import { flipByte } from '../../support/openpgp-flips.ts'

const PASSPHRASE = 'correct horse, battery; staple ü'
const engine = useEngineHere()
/** A key under a passphrase that counts as random, so that a short hash locks it. */
const made = (more: Partial<Parameters<typeof engine.generate>[0]> = {}): Promise<OwnKey> => {
  const options = { userId: 'echo_bot', createdMs: MADE_MS, passphrase: PASSPHRASE }
  return engine.generate({ ...options, isRandom: true, ...more })
}
/** A locked key without its armor. */
const bytesOf = ({ locked }: OwnKey): Buffer =>
  Buffer.from(dearmor(locked, 'PRIVATE KEY BLOCK') ?? [])
const unlockedOf = ({ locked }: OwnKey): Promise<UnlockedKey> => engine.unlock(locked, PASSPHRASE)

/** Packets of the certificate: tag and body. */
const packets = (own: OwnKey): { tag: number; body: Buffer }[] =>
  [...packetsOf(dearmor(own.certificate, 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0))].map(
    ({ tag, body }) => ({ tag, body: Buffer.from(body) }),
  )
const bodiesOf = (own: OwnKey, tag: number): Buffer[] =>
  packets(own).flatMap((packet) => (packet.tag === tag ? [packet.body] : []))

test('a generated key is version 4 with Ed25519 and Curve25519 in the legacy encodings', async () => {
  const own = await made()
  const [primary] = bodiesOf(own, 6)
  const [subkey] = bodiesOf(own, 14)
  expect(packets(own).map(({ tag }) => tag)).toEqual([6, 13, 2, 14, 2])
  expect(primary?.subarray(0, 16).toString('hex')).toBe('046955b90016092b06010401da470f01')
  expect(subkey?.subarray(0, 17).toString('hex')).toBe('046955b900120a2b060104019755010501')
  expect(subkey?.subarray(-4).toString('hex')).toBe('03010807')
  expect(primary?.readUInt32BE(1)).toBe(MADE_MS / 1000)
  expect(bodiesOf(own, 13)[0]?.toString()).toBe('echo_bot')
})

test('a generated key never expires, and prefers what every program reads', async () => {
  const own = await made()
  expect(await engine.judge(own.certificate)).toMatchObject({
    unusable: null,
    expiresMs: Infinity,
    fingerprint: own.fingerprint,
  })
  const [self, binding] = bodiesOf(own, 2).map(hashedSubpackets)
  expect(self?.get(27)).toBe('03')
  expect(binding?.get(27)).toBe('0c')
  expect(self?.get(30)).toBe('01')
  expect([11, 21, 22].map((kind) => self?.get(kind))).toEqual(['0907', '0a08', '00'])
  expect(self?.has(9)).toBe(false)
})

function hashedSubpackets(body: Buffer): Map<number, string> {
  const found = new Map<number, string>()
  const end = 6 + body.readUInt16BE(4)
  for (let at = 6; at < end; at += 1 + (body[at] ?? 0)) {
    const length = body[at] ?? 0
    found.set((body[at + 1] ?? 0) & 0x7f, body.subarray(at + 2, at + 1 + length).toString('hex'))
  }
  return found
}

test('an unlocked key has the fingerprints and key ids of its primary key and subkey', async () => {
  const own = await made()
  const unlocked = await unlockedOf(own)
  expect(unlocked.fingerprint).toBe(own.fingerprint)
  expect(unlocked.fingerprints[0]).toBe(own.fingerprint)
  expect(unlocked.fingerprints).toHaveLength(2)
  expect(unlocked.keyIds).toEqual(unlocked.fingerprints.map((one) => one.slice(-16)))
  expect(own.fingerprint).toMatch(/^[0-9a-f]{40}$/)
})

test.each([
  ['the maximal iterated S2K', false, 255],
  ['a short S2K for a random passphrase', true, 0],
])(
  'a generated key is locked under AES-256 by %s and contains no readable secret',
  async (_, isRandom, count) => {
    const own = await made({ isRandom })
    const unlocked = await unlockedOf(own)
    const bytes = bytesOf(own)
    const [locked, open] = [bytes, unlocked.bytes].map((all) =>
      [...packetsOf(all)].filter(({ tag }) => tag === 5 || tag === 7),
    )
    expect(locked).toHaveLength(2)
    for (const [index, tag] of [6, 14].entries()) {
      const publicLength = bodiesOf(own, tag)[0]?.length ?? 0
      const protection = Buffer.from(locked?.[index]?.body.subarray(publicLength) ?? [])
      expect(protection.subarray(0, 4).toString('hex')).toBe('fe090308')
      expect(protection[12]).toBe(count)
      const secret = open?.[index]?.body.subarray(publicLength + 3, publicLength + 30) ?? []
      expect(bytes.includes(Buffer.from(secret))).toBe(false)
    }
  },
)

test('a generated key is certified by `certifiedBy` at the later creation time of the two', async () => {
  for (const createdMs of [MADE_MS - 60_000, MADE_MS + 60_000]) {
    const own = await made({ createdMs, certifiedBy: alice.unlocked })
    const [user] = (await readKey({ armoredKey: own.certificate })).users
    const [certification, ...others] = user?.otherCertifications ?? []
    expect(certification?.issuerKeyID.toHex()).toBe(alice.primary.keyId)
    expect(certification?.created?.getTime()).toBe(Math.max(MADE_MS, createdMs))
    expect(others).toEqual([])
    const certifiers = [await readKey({ armoredKey: alice.certificate })]
    const verified = await user?.verifyAllCertifications(certifiers)
    expect(verified?.filter(({ valid }) => valid)).toHaveLength(1)
  }
})

test.each(['', `${PASSPHRASE} `])(
  'a key does not unlock with the passphrase %j',
  async (passphrase) => {
    const own = await made()
    await expect(engine.unlock(own.locked, passphrase)).rejects.toThrow('wrong-passphrase')
  },
)

test.each<[string, (own: OwnKey) => string]>([
  ['a certificate', (own) => own.certificate],
  ['text without armor', () => 'hello'],
  ['a truncated secret key', (own) => own.locked.slice(0, 400)],
  [
    'a certificate in a private key block',
    (own) => own.certificate.replaceAll('PUBLIC', 'PRIVATE'),
  ],
])('`unlock` rejects %s', async (_, text) => {
  await expect(engine.unlock(text(await made()), PASSPHRASE)).rejects.toThrow()
})

test('`unlock` rejects a key that is not locked', async () => {
  const open = armor((await unlockedOf(await made())).bytes, { type: 'PRIVATE KEY BLOCK' })
  await expect(engine.unlock(open, PASSPHRASE)).rejects.toThrow('not-locked')
})

test('`relock` locks a key under another passphrase, and needs the former one', async () => {
  const own = await made()
  const to = 'another one'
  const relocked = await engine.relock(own.locked, { from: PASSPHRASE, to, isRandom: true })
  expect(await engine.unlock(relocked, to)).toEqual(await unlockedOf(own))
  await expect(engine.unlock(relocked, PASSPHRASE)).rejects.toThrow('wrong-passphrase')
  const wrong = { from: to, to: PASSPHRASE, isRandom: true }
  await expect(engine.relock(own.locked, wrong)).rejects.toThrow('wrong-passphrase')
})

test('`unlock` rejects a locked key with a changed byte', async () => {
  const own = await made()
  const bytes = bytesOf(own)
  const unlock = (of: Buffer) => engine.unlock(armor(of, { type: 'PRIVATE KEY BLOCK' }), PASSPHRASE)
  expect((await unlock(bytes)).fingerprint).toBe(own.fingerprint)
  for (const at of [60, 75, 100]) {
    const damaged = flipByte(bytes, at, 4)
    await expect(unlock(damaged)).rejects.toThrow()
  }
})

test('`unlock` rejects a key of version 6', async () => {
  const { privateKey } = await generateKey({
    type: 'curve25519',
    userIDs: [{ name: 'new' }],
    config: { v6Keys: true },
    format: 'armored',
  })
  await expect(engine.unlock(privateKey, '')).rejects.toThrow('version 4')
})
