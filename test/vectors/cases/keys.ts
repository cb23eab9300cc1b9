/** The keys that the vectors name, by file name. */
import { armor } from '../../support/openpgp-framing.ts'
import type { SigningKey } from '../../support/openpgp-key.ts'
import {
  NOW_MS,
  alice,
  bot,
  mallory,
  revokedCertificate,
  rsaKey,
  testPerson,
} from '../../support/openpgp-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'

const yesterdayMs = NOW_MS - 86_400_000
const old = testPerson('old')
const { primary, subkey } = alice
const secret = (octetsOf: Uint8Array): string => armor(octetsOf, { type: 'PRIVATE KEY BLOCK' })

const signing = (key: SigningKey, name: string): string =>
  armoredCertificate(keyPacket(key), userId(key, name))

/** File names without `.asc`, and what is in them. */
export const KEYS: Record<string, string> = {
  bot: bot.certificate,
  'bot.secret': secret(bot.secret),
  old: old.certificate,
  'old.secret': secret(old.secret),
  alice: alice.certificate,
  'alice.secret': secret(alice.secret),
  mallory: mallory.certificate,
  'mallory.secret': secret(mallory.secret),
  'alice-compromised': revokedCertificate(alice, { atMs: yesterdayMs, code: 2 }),
  'alice-retired': revokedCertificate(alice, { atMs: yesterdayMs, code: 3 }),
  'alice-claims-mallory': armoredCertificate(
    keyPacket(primary),
    userId(primary, 'alice'),
    boundSubkey(primary, subkey),
    boundSubkey(primary, mallory.primary, { flags: 2 }),
  ),
  'rsa-1024': signing(rsaKey(1024), 'rsa'),
  'rsa-2048': signing(rsaKey(2048), 'rsa'),
}
