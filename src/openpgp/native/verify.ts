/** Statements of signatures of the common form (RFC 9580, 5.2.4); the library reads all others. */
import { BOUNDS } from '../bounds.ts'
import type { SigningKey, Statement } from '../crypto/algorithm.ts'
import { fingerprintOf, signatureAlgorithm } from '../crypto/public-key.ts'
import type { Signed, SignedAtLength, SignatureResult } from '../engine.ts'
import { TAG, packetAt } from '../format/packets.ts'
import { SUBPACKET } from '../format/packet-writer.ts'
import { BINARY, TEXT, canonicalText, madeOver, type MadeOver } from '../format/signature-claim.ts'
import {
  createdS,
  hasOnly,
  isIssuedBy,
  issuersIn,
  readSignatureForm,
  statementOf,
  statementOn,
  type SignaturePacketForm,
} from './signature-packet.ts'
import { holdsAt } from '../certificate-statuses.ts'
import type { CertificateInfo } from '../certificate-info.ts'

/**
 * Subpackets allowed on a message signature: creation time and issuer, a note that is not critical,
 * intended recipients, which are judged elsewhere, and the signer's user id, which is ignored.
 */
const HASHED = new Set<number>([
  SUBPACKET.created,
  SUBPACKET.issuer,
  SUBPACKET.notation,
  SUBPACKET.issuerFingerprint,
  SUBPACKET.signerUserId,
  SUBPACKET.intendedRecipient,
])

/** The result of a signature without a cryptographic check, or the statement to verify. */
export type CheckedClaim = 'bad' | 'other-key' | Statement

/**
 * Checks signatures against a certificate's info as the library's `verify` does, all but their
 * cryptography.
 * @param nowMs our clock
 * @returns in the order of the signatures; null where any of them is not of the common form
 */
export function checkClaims(
  signed: Signed | SignedAtLength,
  info: CertificateInfo,
  nowMs: number,
): CheckedClaim[] | null {
  const all: CheckedClaim[] = []
  for (const [index, packet] of signed.signatures.entries()) {
    const form = formOf(packet)
    const claimed = form && claimOf(form, madeOver(signed, index), { info, nowMs })
    if (!claimed) return null
    all.push(claimed)
  }
  return all
}

/** Key ids of all keys in the certificate. */
function keyIdsOf(info: CertificateInfo): string[] {
  const { fingerprint, recipientKey, signingKey } = info
  const subkeys = [recipientKey, ...(signingKey === null || info.primarySigns ? [] : [signingKey])]
  return [Buffer.from(fingerprint), ...subkeys.map(fingerprintOf)].map((one) =>
    one.toString('hex', 12),
  )
}

function claimOf(
  form: SignaturePacketForm,
  over: MadeOver,
  { info, nowMs }: { info: CertificateInfo; nowMs: number },
): CheckedClaim | null {
  const madeS = createdS(form)
  const isOnDocument = form.type === BINARY || form.type === TEXT
  if (!isOnDocument || !hasOnly(form, HASHED) || madeS === null) return null
  const { signingKey, fingerprint, primarySigns } = info
  const signer = primarySigns || signingKey === null ? fingerprint : fingerprintOf(signingKey)
  if (signingKey !== null && isIssuedBy(form, signer)) {
    if (madeS * 1000 > nowMs + BOUNDS.clockToleranceMs) return null
    if (!holdsAt(info, madeS * 1000)) return null
    return statementBy(form, over, signingKey) ?? 'bad'
  }
  const named = issuerOf(form)
  if (named === null || !info.hasNoOtherKey) return null
  return keyIdsOf(info).includes(named) ? null : 'other-key'
}

function statementBy(form: SignaturePacketForm, over: MadeOver, key: SigningKey): Statement | null {
  if ('digest' in over) return statementOn(form, over.digest, key)
  const { document } = over
  return statementOf(form, form.type === TEXT ? canonicalText(document) : document, key)
}

/** The one key id that it names; null when it names several, none, or not in a common way. */
function issuerOf(form: SignaturePacketForm): string | null {
  const names = new Set(issuersIn(form).map((one) => one?.slice(-16) ?? null))
  const [name = null, ...others] = names
  return others.length === 0 ? name : null
}

function formOf(packet: Uint8Array): SignaturePacketForm | null {
  if (packet.length === 0) return null
  const { tag, body } = packetAt(packet, 0)
  return tag === TAG.signature ? readSignatureForm(body) : null
}

/** On libuv's pool at once: all else that uses it gets its turn, and it has work for a turn of the loop. */
const AT_ONCE = 10

export class Verifier {
  readonly #isBusy: () => boolean
  /** Each is called with true to verify here, or false to use a free place of the pool. */
  readonly #waiting: ((isHere: boolean) => void)[] = []
  #running = 0

  /** @param isBusy whether there is anything else to do here that signatures can be verified beside */
  constructor(isBusy: () => boolean) {
    this.#isBusy = isBusy
  }

  /**
   * Verifies signatures against a certificate's info, as the library's `verify` does.
   * @returns null where any of them is not of the common form, before any is verified
   */
  async verify(...claimed: Parameters<typeof checkClaims>): Promise<SignatureResult[] | null> {
    const all = checkClaims(...claimed)
    if (all === null) return null
    const results: SignatureResult[] = []
    for (const one of all) {
      results.push(typeof one === 'string' ? one : (await this.#holds(one)) ? 'valid' : 'bad')
    }
    return results
  }

  /** Verifies here what waits for the pool, beside it, one in a turn of the loop. */
  help(): void {
    const next = this.#isBusy() ? undefined : this.#waiting.shift()
    next?.(true)
    if (next) setImmediate(() => this.help())
  }

  async #holds(statement: Statement): Promise<boolean> {
    const algorithm = signatureAlgorithm(statement.algorithm)
    if (this.#running === 0 && !this.#isBusy()) {
      // Alone it is sooner verified here than on libuv's pool; one in a turn of the loop, no more.
      this.#running++
      setImmediate(() => this.#end())
      return algorithm.holds(statement)
    }
    if (this.#running < AT_ONCE) this.#running++
    else if (await new Promise<boolean>((resolve) => this.#waiting.push(resolve))) {
      return algorithm.holds(statement)
    }
    try {
      return await algorithm.holdsAside(statement)
    } finally {
      this.#end()
    }
  }

  /** The next one that waits gets the place of one that ended. */
  #end(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running--
    else next(false)
  }
}
