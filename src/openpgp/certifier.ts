/** Types of certifications by other keys (RFC 9580, 5.2.1.4 to 5.2.1.8). */

/**
 * Which certifications of a certifier count: those with a notation, whose value is signed too; those of
 * a user id, or of one with that address in angle brackets; or those of a user id of its own.
 */
export type CertificationSubject =
  { notation: string; value: string } | { userId: string } | 'own-user-id'

/** A key whose certifications are asked for. */
export interface Certifier {
  /** Of its primary key, 40 lower-case hexadecimal characters. */
  fingerprint: string
  /** Its armored certificate. */
  armored: string
  subject: CertificationSubject
  /**
   * An earlier copy of the certified certificate, whose revocations of the certifier must not be
   * forgotten; empty where only is known that there were some, null for none.
   */
  known: string | null
}

/** What one certifier states of a certificate. */
export interface Certified {
  /** Its certifications that hold: when the newest was made, and when the last ends, ms; null: none. */
  period: { madeMs: number; untilMs: number } | null
  /** Whether it ever revoked a certification, or replaced one by a newer one of another subject. */
  isWithdrawn: boolean
  /** The copy to be given as `known` from now on; null: the same as before. */
  remember: string | null
}

/**
 * A statement that was verified with the primary key of a certifier, on a user id; a certification only
 * of one that the owner binds to the key, and of a certifier that was valid then and was never revoked.
 */
export interface CertifierStatement {
  /** The user id as text. */
  userId: string
  /** Of the bytes of the user id: SHA-256, hexadecimal. */
  userIdDigest: string
  /** It revokes the earlier certifications of this user id (type 0x30). */
  isRevocation: boolean
  /** Ms since the epoch. */
  createdMs: number
  /** When the certification, the certifier or the user id ends, ms; `NEVER_MS` for never. */
  expiresMs: number
  /** Names and values of its notations, which are signed. */
  notations: readonly (readonly [name: string, value: string])[]
  /** The certifier has the same user id, by a certification of its own. */
  isOfOwnUserId: boolean
}
