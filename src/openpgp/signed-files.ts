/** The engine's calls for texts and files that are signed in the open. */

/** A certificate of a keyring, with what its own key certifies. */
export interface ListedCertificate {
  armored: string
  userIds: string[]
  /** Of the newest certification of each user id (RFC 9580, 5.2.3.24). */
  notations: { name: string; value: string }[]
}

/**
 * @template Signed a document with its signatures
 * @template Key an unlocked secret key
 */
export interface SignedFiles<Signed, Key> {
  /** Signs a text in the open, by the cleartext signature framework (RFC 9580, 7), dated `atMs`. */
  signText(text: string, signer: Key, atMs: number): Promise<string>
  /**
   * Reads a file that is signed inline, in cleartext or by a `detached` signature; nothing is verified.
   * @returns no signatures for any other form; null for a signed one that cannot be read
   */
  readSigned(file: Uint8Array, detached: Uint8Array | null): Promise<Signed | null>
  /**
   * Reads the certificates of a keyring, armored or binary; each must still be judged.
   * @param o `most` of them, `nowMs` when certifications must hold
   * @returns null when it cannot be read whole, or holds more
   */
  readKeyring(
    file: Uint8Array,
    o: { most: number; nowMs: number },
  ): Promise<ListedCertificate[] | null>
}
