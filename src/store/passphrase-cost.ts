/**
 * The cost of scrypt for a passphrase: 128 MiB and some tenths of a second for each guess. A stored
 * record with a lower cost is refused. Tests put a low cost in the place of this file.
 */
export const PASSPHRASE_COST = { n: 2 ** 17, r: 8, p: 1 }
