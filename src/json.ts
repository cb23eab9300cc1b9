/**
 * JSON on its way through: numbers keep their exact spelling, and what two parsers could read
 * differently is refused.
 */
import { Refusal } from './errors.ts'

const MAX_DEPTH = 32
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g

/** JavaScript's source text access (ECMA-262), which the type library does not name yet. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown
const exact = JSON as unknown as {
  parse(text: string, reviver: Reviver): unknown
  rawJSON(source: string): unknown
}

/**
 * Parses JSON so that `stringify` writes every number as it was spelt: one that JavaScript would
 * change (beyond 2^53, `1.0`, `1e400`) is kept as raw JSON, which no integer schema accepts.
 * @throws SyntaxError, or RangeError when nested beyond what the engine can walk
 */
export function parseExact(text: string): unknown {
  return exact.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? exact.rawJSON(source)
      : value,
  )
}

/** Writes what `parseExact` read. */
export function stringify(value: unknown): string {
  return JSON.stringify(value)
}

/**
 * Parses a request body. Takes its bytes.
 * @throws Refusal `bad_request`: not UTF-8, not JSON, nested beyond 32, a key twice in one object,
 *   a key named `__proto__`, or a string that holds a lone surrogate
 */
export function parseBody(bytes: Buffer): unknown {
  const text = decode(bytes)
  let value: unknown
  try {
    refuseAmbiguous(text)
    value = parseExact(text)
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal('bad_request', 'the body is not JSON')
  }
  return value
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal('bad_request', 'the body is not UTF-8')
  }
}

/** Walks the tokens only; that the text is JSON at all is for the parser to find. */
function refuseAmbiguous(text: string): void {
  const open: (Set<string> | null)[] = []
  let last: string | null = null
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : null)
      if (open.length > MAX_DEPTH) throw new Refusal('bad_request', 'the body is nested too deep')
    } else if (token === '}' || token === ']') {
      open.pop()
    } else if (token === ':') {
      if (last !== null) refuseKey(last, open.at(-1))
    } else {
      refuseString(token)
    }
    last = token.startsWith('"') ? token : null
  }
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
