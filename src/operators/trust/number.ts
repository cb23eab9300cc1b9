/** The safety number of two certificates, which both sides show and people compare: README.md. */
import { pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import { usageError, type OperatorError } from '../../errors.ts'
import { counted } from '../../printable.ts'

/** An account and the fingerprint of its certificate: 40 hexadecimal characters in lower case. */
export interface CertificateHolder {
  userId: number
  fingerprint: string
}

/** The two whose certificates a number is of. */
export type NumberHolders = Record<'bot' | 'person', CertificateHolder>

/** Whose part of the number is another one, by another certificate or a mistyped digit. */
export type NumberResult = 'equal' | 'bot' | 'person' | 'both'

const ITERATIONS = 10_000
const GROUP_BYTES = 5
const GROUPS_OF_HALF = 6
const HALF_DIGITS = 30
const PICTURE =
  /^POSTERN-NUMBER:1:(-?[1-9][0-9]{0,15}:[0-9A-F]{40}):(-?[1-9][0-9]{0,15}:[0-9A-F]{40})$/

const derive = promisify(pbkdf2)

/** The same whichever of the two computes it. */
export async function safetyNumber({ bot, person }: NumberHolders) {
  const halves = await Promise.all([digitsOf(bot), digitsOf(person)])
  const holders = [bot, person].toSorted((one, other) => one.userId - other.userId)
  return {
    /** Sixty digits: twelve groups of five. */
    digits: halves.toSorted().join(''),
    /** Both accounts with their fingerprints, for a QR code. */
    text: ['POSTERN-NUMBER:1', ...holders.map(textOf)].join(':'),
  }
}

/**
 * Compares a number or a picture's text, as a person gave it, with the number of two certificates.
 * @param given blanks and line breaks in it are ignored
 * @throws OperatorError `usage` when it is neither, or of another version
 */
export async function compareNumber(given: string, holders: NumberHolders): Promise<NumberResult> {
  const compact = given.replaceAll(/\s/g, '')
  const parts = readParts(compact)
  const { digits, text } = await safetyNumber(holders)
  if (compact === digits || compact === text) return 'equal'
  const isGiven = async (holder: CertificateHolder): Promise<boolean> =>
    parts.includes(textOf(holder)) || parts.includes(await digitsOf(holder))
  const [isBot, isPerson] = [await isGiven(holders.bot), await isGiven(holders.person)]
  // in an order that no app writes
  if (isBot && isPerson) throw noNumber(compact)
  return isBot ? 'person' : isPerson ? 'bot' : 'both'
}

/** The parts of a number, one of each account. @throws OperatorError `usage` */
function readParts(compact: string): string[] {
  if (/^[0-9]{60}$/.test(compact))
    return [compact.slice(0, HALF_DIGITS), compact.slice(HALF_DIGITS)]
  const [, ...parts] = PICTURE.exec(compact) ?? []
  if (parts.length > 0) return parts
  if (!/^POSTERN-NUMBER:(?!1:)[0-9]{1,9}:/.test(compact)) throw noNumber(compact)
  const hint = 'compare the digits, or bring Postern and the app up to date'
  throw usageError('this QR code is of another version of the safety number', hint)
}

const noNumber = ({ length }: string): OperatorError =>
  usageError(
    `this is no safety number: 60 digits are one, and this has ${counted(length, 'character')}`,
    'give all twelve groups of five digits, or the text of the QR code; blanks do no harm',
  )

const textOf = ({ userId, fingerprint }: CertificateHolder): string =>
  `${userId}:${fingerprint.toUpperCase()}`

/** Thirty digits of one account and its certificate. */
async function digitsOf({ userId, fingerprint }: CertificateHolder): Promise<string> {
  const bytes = await derive(
    `${userId}:${fingerprint}`,
    'postern-number:1',
    ITERATIONS,
    GROUPS_OF_HALF * GROUP_BYTES,
    'sha512',
  )
  const groups = Array.from({ length: GROUPS_OF_HALF }, (_, group) =>
    bytes.readUIntBE(group * GROUP_BYTES, GROUP_BYTES),
  )
  return groups.map((group) => String(group % 100_000).padStart(5, '0')).join('')
}
