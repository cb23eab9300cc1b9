/** How a safety number is shown to a person: digits, the words of a call, and a QR code. */
import { usageError } from '../../errors.ts'
import type { NumberReport } from '../safety-numbers.ts'

const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']
/** Modules of light around a QR code (ISO/IEC 18004, 9.1), and pixels of a module in a PNG. */
const MARGIN = 4
const SCALE = 8

/** The words of a call to the person. */
export const INVITATION =
  'Read it to the person by voice or face to face, never by message, and say:\n' +
  '“Open our chat in your app, and its safety number. I read twelve groups of\n' +
  'five digits; stop me at the first digit that is another one on your screen.”'

/** Whose certificates a number is of, in lines. */
export function describeHolders(o: Omit<NumberReport, 'digits' | 'text'>): string[] {
  const names = [`person ${o.userId}`, `bot ${o.botId}`]
  const width = Math.max(...names.map(({ length }) => length))
  const [person = '', bot = ''] = names.map((name) => name.padEnd(width))
  const lines = [`${person}  ${o.fingerprint}  ${o.standing}`, `${bot}  ${o.botFingerprint}`]
  if (o.listed === o.fingerprint) return lines
  const now =
    o.listed === null
      ? 'no certificate of theirs'
      : `another certificate of theirs, ${o.listed}; \`--listed\` is about that one`
  return [...lines, `this is the one that is believed; the service lists ${now}`]
}

/** Four lines of three groups of digits. */
export const digitLines = (digits: string): string[] => linesOf(digits, 3)

/** The digits as they are spoken, two groups a line. */
export const spokenLines = (digits: string): string[] =>
  linesOf(digits, 2).map((line) =>
    line
      .replace(' ', ', ')
      .replaceAll(/\d(?=\d)/g, '$& ')
      .replaceAll(/\d/g, (digit) => WORDS[Number(digit)] ?? ''),
  )

function linesOf(digits: string, groups: number): string[] {
  const lines = digits.match(new RegExp(`\\d{${5 * groups}}`, 'g')) ?? []
  return lines.map((line) => line.replaceAll(/\d{5}(?=\d)/g, '$& '))
}

/**
 * A QR code in half blocks, line by line.
 * @param o `isInverted`: for light letters on a dark ground, else for dark ones on a light ground
 */
export async function qrLines(text: string, o: { isInverted: boolean }): Promise<string[]> {
  const { default: QRCode } = await import('qrcode')
  const color = o.isInverted ? { color: { dark: '#ffffff', light: '#000000' } } : {}
  return (await QRCode.toString(text, { type: 'utf8', margin: MARGIN, ...color })).split('\n')
}

/** @throws OperatorError `usage` for the name of a file that is neither .svg nor .png */
export function pictureKind(file: string): 'svg' | 'png' {
  const kind = (['svg', 'png'] as const).find((ending) => file.toLowerCase().endsWith(`.${ending}`))
  if (kind !== undefined) return kind
  throw usageError('a QR code is written as .svg or .png', 'end the file’s name in one of them')
}

/** The content of a file with a QR code. */
export async function qrFile(text: string, kind: 'svg' | 'png'): Promise<string | Uint8Array> {
  const { default: QRCode } = await import('qrcode')
  if (kind === 'svg') return await QRCode.toString(text, { type: 'svg', margin: MARGIN })
  return await QRCode.toBuffer(text, { scale: SCALE, margin: MARGIN })
}
