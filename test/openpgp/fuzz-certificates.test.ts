import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/openpgp/create.ts'
import { paperRsa } from '../support/openpgp-generated.ts'
import { armor } from '../support/openpgp-framing.ts'
import { ecdhBody, ed25519, identify } from '../support/openpgp-key.ts'
import { isUsual, seeds } from '../support/chance.ts'
import { mutate, randomFrom, type Random } from '../support/openpgp-mutate.ts'
import { concat, seeded } from '../support/openpgp-bytes.ts'
import { MADE_MS, NOW_MS, alice, bot, mallory, rsaKey } from '../support/openpgp-people.ts'
import {
  boundSubkey,
  directKey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyRevocation,
  userId,
} from '../support/openpgp-certificate.ts'
import {
  expiresAfter,
  keyExpiresAfter,
  keyFlags,
  notation,
  preferredCiphers,
  subpacket,
} from '../support/openpgp-signature.ts'

const killed: string[] = []
const engine = createEngine({ threads: 2 })
engine.onThreadKilled((job) => killed.push(job))
afterAll(() => engine[Symbol.asyncDispose]())

const { primary, subkey } = alice
const rsa = rsaKey(2048)
const revocation = keyRevocation(primary, { atMs: NOW_MS - 1000 })
const CERTIFICATES = [
  concat(keyPacket(primary), userId(primary, 'alice'), boundSubkey(primary, subkey)),
  concat(
    keyPacket(primary),
    userId(primary, 'alice'),
    boundSubkey(primary, subkey),
    signingSubkey(primary, ed25519('sign', MADE_MS)),
  ),
  concat(keyPacket(rsa), userId(rsa, 'rsa'), boundSubkey(rsa, identify(paperRsa(2048), MADE_MS))),
  concat(
    keyPacket(primary),
    userId(primary, 'alice'),
    userId(primary, 'again'),
    boundSubkey(primary, mallory.subkey),
    boundSubkey(primary, subkey),
  ),
]
const REVOKED = [
  concat(keyPacket(primary), revocation, userId(primary, 'alice'), boundSubkey(primary, subkey)),
  concat(
    keyPacket(primary),
    userId(primary, 'alice'),
    boundSubkey(primary, subkey),
    subkeyRevocation(primary, subkey, { atMs: NOW_MS }),
  ),
]
const armored = (bytes: Uint8Array): string => armor(bytes, { type: 'PUBLIC KEY BLOCK' })
/** Names of node:crypto, and object identifiers as OpenPGP writes them. */
const CURVES = [
  ['P-256', '082a8648ce3d030107'],
  ['brainpoolP256r1', '092b2403030208010107'],
] as const
const CHUNK = 40

test('a mutated certificate is judged in time, and a message is sealed to it when it is usable', async () => {
  const all = seeds(200)
  for (let at = 0; at < all.length; at += CHUNK) {
    const chunk = all.slice(at, at + CHUNK)
    await Promise.all(
      chunk.map(async (seed) => {
        const random = randomFrom(seed)
        const pool = [...CERTIFICATES, ...REVOKED]
        const given = armored(mutate(pool[random(pool.length)] ?? Buffer.alloc(1), random))
        const known =
          random(2) === 0
            ? undefined
            : armored(mutate(REVOKED[random(2)] ?? Buffer.alloc(1), random))
        const status = await engine.judge(given, known)
        expect(status.unusable, `FUZZ_SEED=${seed}`).not.toBe('deadline')
        if (status.unusable === null) {
          expect(status.fingerprint, `FUZZ_SEED=${seed}`).toMatch(/^[0-9a-f]{40}$/)
          expect(status.recipientBytes.aes128, `FUZZ_SEED=${seed}`).toBeGreaterThan(50)
          const certificates = [status.armored, mallory.certificate]
          const sealing = engine.seal({
            text: 'hello',
            certificates,
            signer: bot.unlocked,
            cipher: 'aes256',
          })
          await expect(sealing, `FUZZ_SEED=${seed}`).resolves.toContain('BEGIN PGP')
        }
      }),
    )
    expect(killed, `FUZZ_SEED=${chunk[0]} FUZZ_RUNS=${chunk.length}`).toEqual([])
  }
})

test('a mutated copy of a revoked certificate never makes that usable again', async () => {
  const known = armored(REVOKED[0] ?? Buffer.alloc(1))
  for (const seed of seeds(80)) {
    const random = randomFrom(seed)
    const given = armored(mutate(CERTIFICATES[0] ?? Buffer.alloc(1), random))
    const { fingerprint, unusable } = await engine.judge(given, known)
    if (fingerprint === primary.fingerprint) {
      expect(unusable, `FUZZ_SEED=${seed}`).toBe('revoked')
    }
  }
})

test('a usable certificate with a mutated subkey under a valid binding can be sealed to', async () => {
  const bodies = [
    subkey.body,
    paperRsa(2048),
    ...CURVES.map(([curve, oid]) => ecdhBody(curve, oid, MADE_MS)),
  ]
  const judged = { usable: 0, unusable: 0 }
  for (const seed of seeds(100)) {
    const random = randomFrom(seed)
    const body = mutate(bodies[random(bodies.length)] ?? Buffer.alloc(1), random)
    const bound = boundSubkey(primary, identify(body, MADE_MS))
    const given = armored(concat(keyPacket(primary), userId(primary, 'alice'), bound))
    const { unusable } = await engine.judge(given)
    judged[unusable === null ? 'usable' : 'unusable']++
    if (unusable !== null) continue
    const certificates = [mallory.certificate, given]
    const request = { text: 'hello', certificates, signer: bot.unlocked, cipher: 'aes256' } as const
    await expect(engine.seal(request), `FUZZ_SEED=${seed}`).resolves.toContain('BEGIN PGP')
  }
  expect(judged.unusable, 'spoilt ones').toBeGreaterThan(0)
  if (isUsual) expect(judged.usable).toBeGreaterThan(0)
})

/** Random options of a self-signature. */
function randomOptions(random: Random): { atMs: number; flags: number; hashed: Buffer[] } {
  const about = [
    () => keyExpiresAfter(random(2) === 0 ? random(100) : 2 ** 31 + random(1000)),
    () => expiresAfter(random(2) === 0 ? random(100) : 2 ** 31),
    () => preferredCiphers(...Array.from({ length: random(4) }, () => random(12))),
    () => subpacket(30, concat(random(16))),
    () => subpacket(25, concat(random(2))),
    () => keyFlags(random(256)),
    () => notation('odd@example.org', 'x', random(3) === 0),
    () => subpacket(random(45), seeded(`random ${random(99)}`, random(30)), random(3) === 0),
  ]
  const hashed = Array.from(
    { length: random(4) },
    () => about[random(about.length)]?.() ?? concat(),
  )
  const now = Date.now()
  const times = [MADE_MS, MADE_MS + 1000, now - 1000, now + 200_000, now + 3_600_000, 1000]
  const flags = [12, 12, 12, 4, 8, 2, 3, 0, 0x80][random(9)] ?? 12
  return { atMs: random(3) > 0 ? MADE_MS : (times[random(times.length)] ?? now), flags, hashed }
}

test('a usable certificate with random self-signatures can be sealed to with both ciphers', async () => {
  const [curve, oid] = CURVES[0]
  const other = identify(ecdhBody(curve, oid, MADE_MS), MADE_MS)
  let usable = 0
  const all = seeds(120)
  for (const seed of all) {
    const random = randomFrom(seed)
    const parts = [keyPacket(primary)]
    if (random(3) === 0) parts.push(directKey(primary, randomOptions(random)))
    const self = random(2) === 0 ? { flags: 3, hashed: [] } : { ...randomOptions(random), flags: 3 }
    parts.push(userId(primary, 'alice', self))
    if (random(3) === 0) parts.push(userId(primary, 'again', randomOptions(random)))
    for (const one of [subkey, other, subkey]) {
      if (random(2) === 0) parts.push(boundSubkey(primary, one, randomOptions(random)))
    }
    const given = armored(concat(...parts))
    const { unusable } = await engine.judge(given)
    if (unusable !== null) continue
    usable++
    const certificates = [mallory.certificate, given]
    for (const cipher of ['aes256', 'aes128'] as const) {
      const sealing = engine.seal({ text: 'hello', certificates, signer: bot.unlocked, cipher })
      await expect(sealing, `FUZZ_SEED=${seed}`).resolves.toContain('BEGIN PGP')
    }
  }
  if (all.length >= 100) expect(usable).toBeGreaterThan(all.length / 20)
})
