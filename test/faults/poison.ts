/** Messages that nobody can open, each in a way of its own, and that must hold up nobody. */
import { randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { seeded } from '../support/openpgp-bytes.ts'
import type { Random } from '../support/faults-random.ts'
import {
  TAG,
  armor,
  compressed,
  container,
  keyIdsOf,
  literal,
  packet,
  recipients,
  sealArmored,
} from '../support/faults-packets.ts'
import { partialPacket } from '../support/openpgp-framing.ts'

/** How a message is spoilt; gets the bot's certificate. */
type Brew = (certificate: string) => Promise<string>

const BREWS: Record<string, Brew> = {
  'flood-of-strangers': () => Promise.resolve(armor(join(recipients(900, '00112233aabbccdd')))),
  'flood-of-anonymous': () => Promise.resolve(armor(join(recipients(900)))),
  'flood-for-us': async (certificate) =>
    armor(join(recipients(900, (await keyIdsOf(certificate)).at(-1)))),
  'one-for-us': async (certificate) =>
    armor(join(recipients(1, (await keyIdsOf(certificate)).at(-1)))),
  'no-base64': () =>
    Promise.resolve('-----BEGIN PGP MESSAGE-----\n\n@@@@\n-----END PGP MESSAGE-----'),
  'no-armor': () => Promise.resolve('these are no words of anybody'),
  'small-chunks': () =>
    Promise.resolve(
      armor(
        Buffer.concat([
          recipients(1),
          partialPacket(TAG.seipd, randomBytes(20_000), Array(19_999).fill(0)),
        ]),
      ),
    ),
  'two-containers': () =>
    Promise.resolve(armor(Buffer.concat([recipients(1), container(64), container(64)]))),
  'bare-bomb': () =>
    Promise.resolve(
      armor(compressed(2, deflateSync(packet(TAG.literal, Buffer.alloc(60_000_000))))),
    ),
  'sealed-bomb': (certificate) =>
    sealArmored(compressed(2, deflateSync(literal(Buffer.alloc(60_000_000, 32)))), [certificate]),
  'sealed-noise': (certificate) => sealArmored(seeded('noise', 2000), [certificate]),
  'sealed-nothing': (certificate) => sealArmored(Buffer.alloc(0), [certificate]),
}

const join = (packets: Buffer): Buffer => Buffer.concat([packets, container(256)])

/** Brews one, by chance. */
export async function brew(
  random: Random,
  certificate: string,
): Promise<{ name: string; armored: string }> {
  const name = random.pick(Object.keys(BREWS))
  const armored = (await BREWS[name]?.(certificate)) ?? ''
  return { name, armored }
}
