/**
 * JSON to relay: numbers keep their exact spelling, and text that two parsers could read
 * differently is refused.
 */
import { inSlices } from './scheduling.ts'
import { Refusal } from '../errors.ts'

/** Nesting of a request body, and of an answer, which is written anew and must not overflow. */
const MAX_DEPTH = { body: 32, answer: 128 }
/** Values in one text: more than any answer of the service holds, few enough to scan in one go. */
const MAX_TOKENS = { body: 20_000, answer: 250_000 }
/** The same where numbers must keep their spelling, which costs more for each value. */
const MAX_TOKENS_EXACT = 100_000
/** Matches every number that JavaScript spells differently, and other text. */
const ODD_NUMBER = /\d{16}|\d[.eE]|-0/
const SCALAR = /[-\d.eE+]+|true|false|null/y
const BLANK = /[ \t\n\r]*/y
const [QUOTE, COMMA, NINE, COLON, BACKSLASH] = [0x22, 0x2c, 0x39, 0x3a, 0x5c]
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** JavaScript's source text access (ECMA-262), which the type library does not name yet. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const exact = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(source: string): unknown
  isRawJSON(value: unknown): boolean
}

/**
 * Parses JSON so that `stringify` writes every number as it was spelt: one that JavaScript would
 * change (beyond 2^53, `1.0`, `1e400`) is kept as raw JSON, which no integer schema accepts.
 * @throws SyntaxError, also for too many values
 */
export const parseExact = (text: string): unknown =>
  isPlain(text) ? JSON.parse(text) : parseScanned(text, { isExact: scan(text) })

/** A quick check for text that any parser reads alike. Most answers pass it. */
function isPlain(text: string): boolean {
  if (text.length > MAX_TOKENS.answer || ODD_NUMBER.test(text)) return false
  let openings = 0
  for (const opening of '{[') {
    for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
      if (++openings > MAX_DEPTH.answer) return false
    }
  }
  return true
}

/** How an answer that is a list begins. */
const LIST = '{"ok":true,"result":['
/** Answers of so many characters or more are read item by item. */
const LONG = 100_000

/** Whether an answer is read in slices. */
export const isLong = (text: string): boolean => text.length >= LONG

/**
 * The same for an answer of the service. Items of a long list are parsed one by one, and the event
 * loop runs in between.
 * @returns the value; of a long list its promise
 * @throws SyntaxError as `parseExact` does
 */
export function parseAnswer(text: string): unknown {
  return isLong(text) && text.startsWith(LIST) ? parseList(text) : parseExact(text)
}

async function parseList(text: string): Promise<unknown> {
  const ends: number[] = []
  const isExact = scan(text, { ends })
  const last = ends.at(-1)
  const isOneList = text.slice(last) === ']}' && ends.every((at) => text[at] === ',' || at === last)
  if (ends.length < 2 || !isOneList) return parseScanned(text, { isExact })
  const result: unknown[] = []
  let from = LIST.length
  for await (const end of inSlices(ends)) {
    const one = text.slice(from, end)
    result.push(isExact ? JSON.parse(one) : parseExact(one))
    from = end + 1
  }
  return { ok: true, result }
}

/** Undoes `parseExact`. */
export const stringify = (value: unknown): string => JSON.stringify(value)

/**
 * The same for an answer of the service, in which a list may be megabytes. Its items are written
 * one by one, and the event loop runs in between.
 */
export async function stringifyAnswer(answer: Record<string, unknown>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (const [name, value] of Object.entries(answer)) {
    const start = `${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`
    if (!Array.isArray(value)) {
      pieces.push(Buffer.from(`${start}${stringify(value)}`))
      continue
    }
    pieces.push(Buffer.from(`${start}[`))
    for await (const [index, one] of inSlices(value.entries())) {
      pieces.push(Buffer.from(`${index === 0 ? '' : ','}${stringify(one)}`))
    }
    pieces.push(Buffer.from(']'))
  }
  return Buffer.concat([...pieces, Buffer.from(pieces.length === 0 ? '{}' : '}')])
}

/** The number of names in a JSON text; each occurrence of a duplicate counts. */
export function countNames(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = stringEnd(text, at)
    const next = text.charCodeAt(at)
    if (next === COLON || (next <= 0x20 && text.charCodeAt(blankEnd(text, at)) === COLON)) count++
  }
  return count
}

/** True for a number that `parseExact` kept as it was spelt; in JavaScript it is an object. */
export const isRawNumber = (value: unknown): boolean => exact.isRawJSON(value)

/**
 * Parses a request body. An integer may be spelt in any way (`11.0`, `1.1e1`), as many languages spell
 * theirs.
 * @throws Refusal `bad_request`: not UTF-8, not JSON, nested beyond 32, a key twice in one object,
 *   a key named `__proto__`, or a string that holds a lone surrogate
 */
export function parseBody(bytes: Buffer): unknown {
  const text = decode(bytes)
  try {
    return parseScanned(text, { isExact: scan(text, { open: [] }), reads: Number.isSafeInteger })
  } catch (error) {
    if (error instanceof Refusal) throw error
    if (error instanceof TooMuch) throw new Refusal('bad_request', `the body ${error.message}`)
    throw new Refusal('bad_request', 'the body is not JSON')
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal('bad_request', 'the body is not UTF-8')
  }
}

/** The text is too much to scan in one go, valid or not. */
class TooMuch extends SyntaxError {}

/** @param o `reads`: a number that is read however it is spelt */
function parseScanned(
  text: string,
  { isExact, reads = () => false }: { isExact: boolean; reads?: (value: number) => boolean },
): unknown {
  if (isExact) return JSON.parse(text)
  return exact.parse(text, (_key, value, { source }) =>
    typeof value !== 'number' || source === undefined || String(value) === source || reads(value)
      ? value
      : exact.rawJSON(source),
  )
}

/** Keys of each object that is open; null for an array. */
type Open = (Set<string> | null)[]

/**
 * Scans the tokens once, in time linear in the length of any text. It does not check that
 * they make JSON; the parser does.
 * @param into `open` for a body, where ambiguous JSON is refused; `ends` receives the end offset of
 *   each value of a list in an object
 * @returns whether JavaScript writes every number as it is spelt
 * @throws SyntaxError, TooMuch
 */
function scan(text: string, { open, ends }: { open?: Open; ends?: number[] } = {}): boolean {
  const kind = open === undefined ? 'answer' : 'body'
  let isExact = true
  let tokens = 0
  let depth = 0
  let last: string | null = null
  for (let at = blankEnd(text, 0); at < text.length; at = blankEnd(text, at)) {
    if (++tokens > MAX_TOKENS[kind]) throw new TooMuch('holds too many values')
    const start = at
    const first = text.charCodeAt(at)
    if (first === QUOTE) at = stringEnd(text, at)
    else if (first === COLON || first === COMMA) {
      if (first === COMMA && depth === 2) ends?.push(at)
      at++
    } else if (OPENING.has(first)) {
      at++
      if (++depth > MAX_DEPTH[kind]) throw new TooMuch('is nested too deep')
    } else if (CLOSING.has(first)) {
      if (depth-- === 2) ends?.push(at)
      at++
    } else {
      at = skip(SCALAR, text, at)
      isExact &&= first > NINE || isSpeltAlike(text.slice(start, at))
    }
    if (at === start) throw new SyntaxError('not JSON')
    if (open !== undefined) last = judge(text.slice(start, at), last, open)
  }
  if (!isExact && tokens > MAX_TOKENS_EXACT) throw new TooMuch('holds too many values')
  return isExact
}

/** True for a number that JavaScript writes as it is spelt here. */
const isSpeltAlike = (number: string): boolean => String(Number(number)) === number

/** The first place from `at` on that is not blank; most tokens follow one another at once. */
const blankEnd = (text: string, at: number): number =>
  text.charCodeAt(at) > 0x20 ? at : skip(BLANK, text, at)

/** The place behind a string's closing quote; where it begins when it has none. */
function stringEnd(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (at !== -1) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at + 1
    at = text.indexOf('"', at + 1)
  }
  return start
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** Gives the token when it is a string, which may turn out to be a key. */
function judge(token: string, last: string | null, open: Open): string | null {
  if (token === '{' || token === '[') open.push(token === '{' ? new Set() : null)
  else if (token === '}' || token === ']') open.pop()
  else if (token === ':' && last !== null) refuseKey(last, open.at(-1))
  else if (token.startsWith('"')) {
    refuseString(token)
    return token
  }
  return null
}

function refuseKey(token: string, keys: Set<string> | null | undefined): void {
  const key = String(JSON.parse(token))
  if (key === '__proto__') throw new Refusal('bad_request', '__proto__: no such field')
  if (keys?.has(key)) throw new Refusal('bad_request', `${key.slice(0, 64)}: given twice`)
  keys?.add(key)
}

function refuseString(token: string): void {
  if (token.includes('\\u') && !String(JSON.parse(token)).isWellFormed()) {
    throw new Refusal('bad_request', 'the body holds a lone surrogate')
  }
}
