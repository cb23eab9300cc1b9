/**
 * What a guess of a passphrase costs: some tenths of a second and 64 MiB that Argon2id (RFC 9106)
 * writes three times, or 128 MiB that scrypt (RFC 7914) writes once. A stored record with a lower
 * cost is refused. `tables.ts` has what n, r and p are. Tests put a low cost in the place of this
 * file.
 */
export const PASSPHRASE_COST = {
  argon2id: { n: 2 ** 16, r: 3, p: 1 },
  scrypt: { n: 2 ** 17, r: 8, p: 1 },
}
