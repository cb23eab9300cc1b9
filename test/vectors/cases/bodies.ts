import { concat } from '../../support/openpgp-bytes.ts'

/** Bodies by the name of their vector: packets, to be armored, or text as it is. */
export type Bodies = Record<string, Uint8Array | string>

/** The same, each made of several packets. */
export const concatenated = (rows: Record<string, Uint8Array[]>): Record<string, Buffer> =>
  Object.fromEntries(Object.entries(rows).map(([name, packets]) => [name, concat(...packets)]))

/** Those that are small and unpack to little, for tests that open many. */
export const small = (rows: Record<string, Buffer>): [name: string, bytes: Buffer][] =>
  Object.entries(rows).filter(([name, { length }]) => length < 3000 && !name.includes('bomb'))
