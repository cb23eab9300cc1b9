/** Texts and files signed in the open: made, and read for their signatures to be verified. */
import {
  createCleartextMessage,
  enums,
  readCleartextMessage,
  readKeys,
  readSignature,
  sign,
} from 'openpgp'
import type { CleartextMessage, Key, Signature, SignaturePacket } from 'openpgp'
import { bufferOf } from '../bytes.ts'
import { BOUNDS } from '../bounds.ts'
import type { Engine, ListedCertificate, Signed, UnlockedKey } from '../engine.ts'
import { dearmor } from '../format/armor.ts'
import { beginLine } from '../format/armor-writer.ts'
import { readDecrypted } from '../format/decrypted-message.ts'
import { framePacket } from '../format/packet-writer.ts'
import { TAG, tagOf } from '../format/packets.ts'
import { secretKeyOf } from './key-cache.ts'
import { statementsOf } from './owner-statements.ts'
import { newest } from './owner-terms.ts'

/** Signs a text under the cleartext signature framework (RFC 9580, 7). */
export const signText = async (text: string, signer: UnlockedKey, atMs: number): Promise<string> =>
  await sign({
    message: await createCleartextMessage({ text }),
    signingKeys: await secretKeyOf(signer),
    date: new Date(atMs),
  })

/** The library's types omit the field. */
type WithSignature = CleartextMessage & { signature: Signature }

/** Certificates in one block of armor. */
const BLOCK = /-----BEGIN PGP PUBLIC KEY BLOCK-----[^]*?-----END PGP PUBLIC KEY BLOCK-----/g
const CLEARTEXT = '-----BEGIN PGP SIGNED MESSAGE-----'
const noBzip2 = (): Promise<never> => Promise.reject(new Error('bzip2'))

/**
 * Reads a signed file: a cleartext or inline-signed one, or one with a detached signature. A file of
 * another form is a document without signatures.
 * @returns null for a signed form that cannot be read
 */
export const readSigned: Engine['readSigned'] = async (file, detached) => {
  try {
    if (detached !== null) {
      const text = bufferOf(detached).toString('latin1')
      const isArmored = text.trimStart().startsWith('-----')
      const signature = isArmored
        ? await readSignature({ armoredSignature: text })
        : await readSignature({ binarySignature: detached })
      return signedBy(file, signature.packets)
    }
    const text = bufferOf(file).toString().trimStart()
    if (text.startsWith(CLEARTEXT)) {
      const message = (await readCleartextMessage({ cleartextMessage: text })) as WithSignature
      // one of another type was made over something else (RFC 9580, 7)
      const isOfText = (one: SignaturePacket) => one.signatureType === enums.signature.text
      const packets = message.signature.packets.filter(isOfText)
      return signedBy(Buffer.from(message.getText()), packets)
    }
    const isArmored = text.startsWith(beginLine('MESSAGE'))
    if (!isArmored && !isMessage(file)) return { document: file, signatures: [] }
    const packets = isArmored ? dearmor(text, 'MESSAGE') : file
    const read = packets && (await readDecrypted(packets, noBzip2))
    if (read?.outcome !== 'document') return null
    return { document: new Uint8Array(read.document), signatures: read.signaturePackets }
  } catch {
    return null
  }
}

function signedBy(document: Uint8Array, packets: readonly SignaturePacket[]): Signed {
  const signatures = packets.slice(0, BOUNDS.signatures).map((one) => {
    return framePacket(TAG.signature, one.write())
  })
  return { document: new Uint8Array(document), signatures }
}

/** Whether a file begins with a packet of an inline-signed message. */
function isMessage(file: Uint8Array): boolean {
  const first = file[0] ?? 0
  const tags: number[] = [TAG.onePassSignature, TAG.signature, TAG.compressed, TAG.literal]
  return (first & 0x80) !== 0 && tags.includes(tagOf(first))
}

/**
 * The certificates of a keyring, armored or binary, each with the user ids and notations that its own
 * key certifies at `nowMs`.
 * @returns null when it cannot be read whole, or holds more than `most`
 */
export const readKeyring: Engine['readKeyring'] = async (file, { most, nowMs }) => {
  try {
    const blocks = bufferOf(file).toString('latin1').match(BLOCK)
    const keys: Key[] = []
    if (blocks === null) keys.push(...(await readKeys({ binaryKeys: file })))
    for (const armoredKeys of blocks ?? []) keys.push(...(await readKeys({ armoredKeys })))
    if (keys.length > most) return null
    const listed: ListedCertificate[] = []
    for (const key of keys) listed.push(await describe(key, new Date(nowMs)))
    return listed
  } catch {
    return null
  }
}

async function describe(key: Key, at: Date): Promise<ListedCertificate> {
  if (key.isPrivate()) throw new Error('a secret key is no certificate')
  const { users } = await statementsOf(key)
  const certified = users.flatMap(({ part, own, revoked }) => {
    const self = newest(own, at.getTime())
    return self === null || revoked.length > 0 || part.userID === null ? [] : [{ part, self }]
  })
  return {
    armored: key.armor(),
    userIds: certified.map(({ part }) => part.userID?.userID ?? ''),
    notations: certified.flatMap(({ self }) =>
      self.rawNotations.map(({ name, value }) => ({ name, value: bufferOf(value).toString() })),
    ),
  }
}
