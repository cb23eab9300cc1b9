/** A service that lists a person's certificate without the post-quantum subkey that it had. */
import { expect, test } from 'vitest'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { packetsOf } from '../../src/openpgp/format/packets.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  subkeyRevocation,
  userId,
} from '../support/openpgp-certificate.ts'
import { bothPerson, openMlKem } from '../support/openpgp-ml-kem.ts'
import { known, lines } from '../support/double-sends.ts'
import { canary } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { useTrustStage } from './trust-scene.ts'
import { concat } from '../support/openpgp-bytes.ts'

const { stage, policy, accept } = useTrustStage()
const MADE_MS = Date.now() - 86_400_000

/** Key ids of a message that was sent, with the numbers of their algorithms. */
async function packetsSent(chat: DoubleChat): Promise<Record<string, Buffer>> {
  const since = stage.double.mark()
  const { status, text } = await stage.send(chat, canary())
  expect(status, text).toBe(201)
  const [{ armored }] = stage.bodies(since)
  const packets = [...packetsOf(dearmor(armored, 'MESSAGE') ?? Buffer.alloc(0))]
  const recipients = packets.filter(({ tag }) => tag === 1).map(({ body }) => Buffer.from(body))
  return Object.fromEntries(recipients.map((body) => [body.toString('hex', 1, 9), body]))
}

test.each(['accept', 'first-use', 'pinned'] as const)(
  'a post-quantum subkey that the service omits is still sealed to under %s, until it is revoked',
  async (under) => {
    const { person, chat } = await known(stage)
    const { primary, subkey, kem } = bothPerson(`carol ${under}`, MADE_MS)
    const id = userId(primary, 'carol')
    const classical = boundSubkey(primary, subkey)
    const list = (...parts: Buffer[]): unknown =>
      Object.assign(person, {
        key: {
          certificate: armoredCertificate(keyPacket(primary), ...parts),
          fingerprint: primary.fingerprint,
        },
      })
    list(id, classical, boundSubkey(primary, kem))
    await packetsSent(chat)
    await policy(under)
    if (under !== 'accept') await accept(person)
    const whole = await packetsSent(chat)
    expect(openMlKem(whole[kem.keyId] ?? Buffer.alloc(0), kem).data).toHaveLength(32)

    list(id, classical)
    for (let times = 0; times < 2; times++) {
      const sent = await packetsSent(chat)
      expect(Object.keys(sent)).toContain(kem.keyId)
      expect(Object.keys(sent)).not.toContain(subkey.keyId)
    }
    const entries = await lines(stage, 'trust', 'log', '--json')
    const stripped = entries.filter(
      ({ kind, userId: of }) => kind === 'subkey-stripped' && of === person.id,
    )
    expect(stripped).toMatchObject([
      { detail: { fingerprint: primary.fingerprint, subkey: kem.fingerprint } },
    ])
    await stage.restart()
    expect(Object.keys(await packetsSent(chat))).toContain(kem.keyId)

    const renewed = userId(primary, 'carol', { atMs: MADE_MS + 1000 })
    list(renewed, classical)
    expect(Object.keys(await packetsSent(chat))).toContain(kem.keyId)

    const revoked = concat(
      boundSubkey(primary, kem),
      subkeyRevocation(primary, kem, { atMs: MADE_MS + 2000 }),
    )
    list(renewed, classical, revoked)
    expect(Object.keys(await packetsSent(chat))).toContain(subkey.keyId)
    list(renewed, classical)
    expect(Object.keys(await packetsSent(chat))).toContain(subkey.keyId)
  },
)
