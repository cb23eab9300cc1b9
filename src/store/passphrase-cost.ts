/**
 * What scrypt costs for a passphrase: 128 MiB and some tenths of a second for each guess. A stored
 * record that asks for less is refused. Tests put a low cost in the place of this file.
 */
export const PASSPHRASE_COST = { n: 2 ** 17, r: 8, p: 1 }
