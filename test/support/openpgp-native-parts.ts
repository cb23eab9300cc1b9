/** Parts of native sealing in the test's own thread. */
import { packRecipientKeys } from '../../src/openpgp/crypto/recipient.ts'
import { describeOwnKey } from '../../src/openpgp/library/certificate-info.ts'
import { readCommonCertificate } from '../../src/openpgp/native/common-certificate.ts'
import { NativeOwnKeys, type NativeOwnKey } from '../../src/openpgp/native/own-keys.ts'
import type { RecipientList } from '../../src/openpgp/native/recipient-packets.ts'
import { publicKeyOf, isRecipientKey } from '../../src/openpgp/crypto/public-key.ts'
import type { Opened, UnlockedKey } from '../../src/openpgp/engine.ts'
import type { EncryptedMessage } from '../../src/openpgp/format/encrypted-message.ts'
import { agree, finish, recipientIn } from '../../src/openpgp/native/opener.ts'
import './openpgp-engine.ts'
import { NOW_MS, bot, type TestPerson } from './openpgp-people.ts'
import type { CertificateInfo } from '../../src/openpgp/certificate-info.ts'

export type Sealing = NonNullable<NativeOwnKey['seals']>

const own = new NativeOwnKeys(describeOwnKey)

/** What seals with a key of ours. */
export async function sealing(key = bot.unlocked): Promise<Sealing> {
  const seals = (await own.of(key))?.seals
  if (!seals) throw new Error('does not seal')
  return seals
}

/** What is known of a common certificate. */
export function infoOf(certificate: string): CertificateInfo {
  const info = readCommonCertificate(certificate, NOW_MS)
  if (info === null) throw new Error('not common')
  return info
}

/** A list of these people, sealed to natively, and of certificates that are the library's. */
export function listTo(people: Pick<TestPerson, 'subkey'>[], others: string[] = []): RecipientList {
  const keys = people.map(({ subkey }) => {
    const key = publicKeyOf(subkey.body)
    if (key === null || !isRecipientKey(key)) throw new Error('not native')
    return key
  })
  return {
    name: people.map(({ subkey }) => subkey.keyId).join(' '),
    kind: '',
    recipientKeys: packRecipientKeys(keys),
    others,
    names: Buffer.alloc(0),
    readAes256: true,
    fromS: 0,
    untilS: 0xffff_ffff,
  }
}

/**
 * Opens what was parsed of a message as the opener does, alone.
 * @returns null where it is the library's
 */
export async function openNatively(
  encrypted: EncryptedMessage,
  keys: UnlockedKey[],
  ownKeys: NativeOwnKeys,
): Promise<Opened | null> {
  const begun = encrypted.container[0] === 1 ? await recipientIn(encrypted, keys, ownKeys) : null
  return begun && finish({ encrypted, ...begun }, agree(begun.recipient))
}
