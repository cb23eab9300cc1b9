/** The lines of ASCII armor (RFC 9580, 6.2). */

/** Block types that are ever read. */
export type ArmorType = 'MESSAGE' | 'PUBLIC KEY BLOCK' | 'PRIVATE KEY BLOCK'

/** Lines that may stand in a block; line ends and trailing space are taken off before. */
export const BASE64_LINE = /^[A-Za-z0-9+/]+={0,2}$/
export const HEADER_LINE = /^[A-Za-z][A-Za-z0-9-]{0,31}: .*$|^[A-Za-z][A-Za-z0-9-]{0,31}:$/
export const CHECKSUM_LINE = /^=[A-Za-z0-9+/]{4}$/
