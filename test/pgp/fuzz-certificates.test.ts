import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../src/pgp/create.ts'
import { paperRsa } from '../support/openpgp-generated.ts'
import { armor } from '../support/openpgp-framing.ts'
import { ecdhBody, ed25519, identify } from '../support/openpgp-key.ts'
import { mutate, randomFrom, seeds } from '../support/openpgp-mutate.ts'
import { octets } from '../support/openpgp-octets.ts'
import { MADE_MS, NOW_MS, alice, bot, mallory, rsaKey } from '../support/openpgp-people.ts'
import {
  boundSubkey,
  keyPacket,
  keyRevocation,
  signingSubkey,
  subkeyRevocation,
  userId,
} from '../support/openpgp-certificate.ts'

const killed: string[] = []
const engine = createEngine({ threads: 2, killed: (job) => killed.push(job) })
afterAll(() => engine[Symbol.asyncDispose]())

const { primary, subkey } = alice
const rsa = rsaKey(2048)
const revocation = keyRevocation(primary, { atMs: NOW_MS - 1000 })
const CERTIFICATES = [
  octets(keyPacket(primary), userId(primary, 'alice'), boundSubkey(primary, subkey)),
  octets(
    keyPacket(primary),
    userId(primary, 'alice'),
    boundSubkey(primary, subkey),
    signingSubkey(primary, ed25519('sign', MADE_MS)),
  ),
  octets(keyPacket(rsa), userId(rsa, 'rsa'), boundSubkey(rsa, identify(paperRsa(2048), MADE_MS))),
  octets(
    keyPacket(primary),
    userId(primary, 'alice'),
    userId(primary, 'again'),
    boundSubkey(primary, mallory.subkey),
    boundSubkey(primary, subkey),
  ),
]
const REVOKED = [
  octets(keyPacket(primary), revocation, userId(primary, 'alice'), boundSubkey(primary, subkey)),
  octets(
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

test(
  'any spoilt certificate is judged, and never sealed to by mistake',
  { timeout: 120_000 },
  async () => {
    const all = seeds(500)
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
          const judgement = await engine.judge(given, known)
          expect(judgement.unusable, `FUZZ_SEED=${seed}`).not.toBe('deadline')
          if (judgement.unusable === null) {
            expect(judgement.fingerprint, `FUZZ_SEED=${seed}`).toMatch(/^[0-9a-f]{40}$/)
            expect(judgement.recipientBytes.aes128, `FUZZ_SEED=${seed}`).toBeGreaterThan(50)
          }
        }),
      )
      expect(killed, `FUZZ_SEED=${chunk[0]} FUZZ_RUNS=${chunk.length}`).toEqual([])
    }
  },
)

test('no spoilt copy makes a revoked certificate usable again', { timeout: 120_000 }, async () => {
  const known = armored(REVOKED[0] ?? Buffer.alloc(1))
  for (const seed of seeds(200)) {
    const random = randomFrom(seed)
    const given = armored(mutate(CERTIFICATES[0] ?? Buffer.alloc(1), random))
    const { fingerprint, unusable } = await engine.judge(given, known)
    if (fingerprint === primary.fingerprint) {
      expect(unusable, `FUZZ_SEED=${seed}`).toBe('revoked')
    }
  }
})

test(
  'whatever people bind to their own key, what is judged usable is sealed to, and nothing else',
  { timeout: 120_000 },
  async () => {
    const bodies = [
      subkey.body,
      paperRsa(2048),
      ...CURVES.map(([curve, oid]) => ecdhBody(curve, oid, MADE_MS)),
    ]
    const judged = { usable: 0, unusable: 0 }
    for (const seed of seeds(250)) {
      const random = randomFrom(seed)
      const body = mutate(bodies[random(bodies.length)] ?? Buffer.alloc(1), random)
      const bound = boundSubkey(primary, identify(body, MADE_MS))
      const given = armored(octets(keyPacket(primary), userId(primary, 'alice'), bound))
      const { unusable } = await engine.judge(given)
      judged[unusable === null ? 'usable' : 'unusable']++
      if (unusable !== null) continue
      const certificates = [mallory.certificate, given]
      const request = {
        text: 'hello',
        certificates,
        signer: bot.unlocked,
        cipher: 'aes256',
      } as const
      await expect(engine.seal(request), `FUZZ_SEED=${seed}`).resolves.toContain('BEGIN PGP')
    }
    expect(judged.unusable, 'spoilt ones').toBeGreaterThan(0)
    if (process.env['FUZZ_SEED'] === undefined) expect(judged.usable).toBeGreaterThan(0)
  },
)
