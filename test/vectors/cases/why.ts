/** Why each outcome is right: the rule behind it, in a sentence. */

/** By the reason of a message that is not opened; without one, by its outcome. */
const MESSAGES: Record<string, string> = {
  armor: 'Lenient armor lets text beside a block pass as part of the message.',
  compression: 'Compressed data inside compressed data grows without a bound.',
  'container-version': 'A version that the reader does not implement has an unknown layout.',
  decompressed: 'What a few octets decompress to must not fill the memory of the reader.',
  decryption:
    'Unauthenticated plaintext is an oracle (RFC 9580, 13.8), and nothing of it is shown.',
  encoding: 'Text in another encoding, or not in any, reads differently in each program.',
  header: 'A packet header with a missing bit starts no packet (RFC 9580, 4.2).',
  length: 'A packet ends where its length ends, and the rest of the data is no packet.',
  literal: 'A literal packet that ends early has no content that was signed.',
  'one-pass': 'Signatures and one-pass signatures form pairs (RFC 9580, 10.3).',
  'partial-length': 'The first partial length has at least 512 octets (RFC 9580, 4.2.1.4).',
  'partial-tag': 'Only data packets may have partial lengths (RFC 9580, 4.2.1.4).',
  structure: 'Data outside the grammar of a message (RFC 9580, 10.3) may be taken for signed text.',
  'too-many-anonymous': 'Each recipient packet without a key id costs a decryption with each key.',
  'too-many-packets': 'A message of many packets costs its reader more than its writer.',
  'trailing-data': 'Data after the message is neither encrypted nor signed.',
  'not-recipient': 'No recipient packet names a key at hand, or opens with one.',
}

/** By the outcome of each signature. */
const SIGNATURES: Record<string, string> = {
  none: 'The message keeps to the grammar (RFC 9580, 10.3), and has no signature to verify.',
  valid: 'The message keeps to the grammar, and each signature is over its text by a valid key.',
  bad: 'The message is whole; a signature over other data, or by an invalid key, proves nothing.',
  'other-key': 'The message is whole; a signature by an unknown key proves nothing of a person.',
}

/** By the reason of a certificate that is not sealed to. */
const CERTIFICATES: Record<string, string> = {
  expired: 'Its owner wanted no message sealed to it after this time (RFC 9580, 5.2.3.13).',
  'no-encryption-subkey': 'No key of it has a flag and a valid binding for encryption.',
  'not-yet-valid': 'A key that is not yet created cannot have been given out by its owner.',
  revoked: 'A revocation is for ever where its reason does not say otherwise (RFC 9580, 5.2.3.31).',
  'secret-key': 'Who lists a secret key has lost it: everybody can open what is sealed to it.',
  'several-certificates': 'Of two certificates in one place nobody knows which is meant.',
  'too-large': 'A certificate of any size would cost each of its readers, each time.',
  unparseable: 'What is not read whole may hold a revocation that was not read.',
  version: 'A version that the reader does not implement has an unknown layout.',
  'weak-algorithm': 'Its signatures or its encryption can be forged or opened at a known cost.',
}

/** By the outcome of a chat. */
const CHATS: Record<string, string> = {
  'bad-signature': 'A signature that proves nothing, where one is due, is worse than none.',
  'before-key': 'Before there was a key, nobody could seal to the bot.',
  'not-recipient': 'A signature names for whom the text was written (RFC 9580, 5.2.3.36).',
  'plaintext-in-protected': 'In an encrypted chat, readable text has no author that can be proved.',
  postern_recipient_unusable: 'A revocation that was seen is remembered, whatever is listed later.',
  postern_recipients_inconsistent:
    'A key list that contradicts itself was not made by its members.',
  replayed: 'The same encrypted data is one message of one chat.',
  sent: 'The key list names members alone, and each of them with one key.',
  unsigned: 'Who never signed is not known to sign, and the reader is told so.',
  verified: 'The signature is by a key of the sender, at a time that both clocks allow.',
}

function sentence(table: Record<string, string>, key: string): string {
  const found = table[key]
  if (found === undefined) throw new Error(`no sentence for ${key}`)
  return found
}

/** @param outcome of a message; `opened` by its signatures */
export function whyOfMessage(outcome: string, reason?: string, signatures: string[] = []): string {
  if (outcome !== 'opened') return sentence(MESSAGES, reason ?? outcome)
  const worst = ['bad', 'other-key', 'valid'].find((word) => signatures.includes(word))
  return sentence(SIGNATURES, worst ?? 'none')
}

/** @param unusable the reason; absent for a certificate that is sealed to */
export function whyOfCertificate(unusable?: string): string {
  if (unusable !== undefined) return sentence(CERTIFICATES, unusable)
  return 'Its newest valid self-signatures name a key for encryption, which holds at that time.'
}

export const whyOfChat = (outcome: string): string => sentence(CHATS, outcome)
