import { Readable } from 'node:stream'
import { ENVELOPE_NAMES, OWN_NAME } from '../api/judged-names.ts'
import { unusable } from './errors.ts'

/** A text is read in parts, so that each character is read once, in pieces of any size. */
const TOKEN = {
  outside: /[ \t\n\r]+|[{}[\],:"]|[-+.\deE]+|true|false|null/y,
  // oxlint-disable-next-line no-control-regex -- a text of JSON has none as they are
  text: /[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})|"/y,
}
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const DIGITS = /^[-+.\deE]/
/** Characters of a number, of an unfinished token, and of blanks behind the end. */
const MAX_REST = 128
const MAX_NAME = 4096
const MAX_DEPTH = 128
/** What a token may be. */
type Next = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end'

/**
 * A success of which nothing is judged, in memory for two pieces of any number: JSON in UTF-8, in the
 * envelope, without any name that reads as ours. Its last piece leaves when all is proved: an answer
 * that is none of these, or ends early, parses nowhere.
 * @throws NoResponseError `postern_upstream_invalid` in place of the rest
 */
export const provedSuccess = (body: Readable, status: number): Readable =>
  // a generator that never began ends nothing
  Readable.from(proved(body, status), { objectMode: false }).once('close', () => body.destroy())

async function* proved(body: AsyncIterable<Buffer>, status: number): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const success = new Success()
  const held: Buffer[] = []
  try {
    for await (const piece of body) {
      success.read(decoder.decode(piece, { stream: true }))
      if (!success.isOver) yield* held.splice(0)
      held.push(piece)
    }
    success.requireEnd(decoder.decode())
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error
    throw unusable('no JSON in the envelope', status).error
  }
  yield* held
}

/** The grammar of a success, in tokens. All methods throw SyntaxError for any other text. */
class Success {
  readonly #open: ('[' | '{')[] = []
  readonly #seen = new Set<string>()
  #next: Next = 'value'
  #mode: keyof typeof TOKEN = 'outside'
  /** The name that is being read, as it is spelt. */
  #name: string | null = null
  #isOk = false
  /** An unfinished token, or blanks behind the end. */
  #rest = ''

  get isOver(): boolean {
    return this.#next === 'end'
  }

  read(piece: string): void {
    const text = this.#rest + piece
    let at = 0
    while (at < text.length && !this.isOver) {
      const pattern = TOKEN[this.#mode]
      pattern.lastIndex = at
      const [part] = pattern.exec(text) ?? []
      if (part === undefined) break
      // a number may have more digits in the next piece
      if (this.#mode === 'outside' && at + part.length === text.length && DIGITS.test(part)) break
      this.#take(part)
      at += part.length
    }
    this.#rest = text.slice(at)
    if (this.#rest.length > MAX_REST || (this.isOver && !/^[ \t\n\r]*$/.test(this.#rest)))
      throw wrong()
  }

  requireEnd(piece: string): void {
    this.read(piece)
    if (!this.isOver || !this.#seen.has('ok') || !this.#seen.has('result')) throw wrong()
  }

  #take(token: string): void {
    if (this.#mode === 'text') return this.#part(token)
    const [first = ''] = token
    if (' \t\n\r'.includes(first)) return
    if (this.#open.length === 0 && first !== '{') throw wrong()
    if (first === ']' || first === '}') this.#close(first)
    else if (first === ',' || first === ':') this.#separate(first)
    else this.#begin(token, first)
  }

  #begin(token: string, first: string): void {
    const isText = first === '"'
    const isName = this.#next === 'name' || this.#next === 'first name'
    if (isName ? !isText : this.#next !== 'value' && this.#next !== 'first value') throw wrong()
    if (this.#isOk && token !== 'true') throw wrong()
    this.#isOk = false
    this.#next = isName ? 'colon' : 'comma'
    if (isText) {
      this.#mode = 'text'
      this.#name = isName ? '' : null
    } else if (first === '[' || first === '{') {
      if (this.#open.push(first) > MAX_DEPTH) throw wrong()
      this.#next = first === '[' ? 'first value' : 'first name'
    } else if (!/^[tfn]/.test(first) && !NUMBER.test(token)) throw wrong()
  }

  #part(token: string): void {
    if (token === '"') {
      this.#mode = 'outside'
      if (this.#name !== null) this.#judge(JSON.parse(`"${this.#name}"`) as string)
    } else if (this.#name !== null) {
      this.#name += token
      if (this.#name.length > MAX_NAME) throw wrong()
    }
  }

  #judge(name: string): void {
    if (OWN_NAME.isImpostor(name)) throw wrong()
    if (this.#open.length > 1) return
    if (ENVELOPE_NAMES.isImpostor(name) || name === 'error' || this.#seen.has(name)) throw wrong()
    this.#seen.add(name)
    this.#isOk = name === 'ok'
  }

  #separate(sign: ',' | ':'): void {
    if (this.#next !== (sign === ',' ? 'comma' : 'colon')) throw wrong()
    this.#next = sign === ',' && this.#open.at(-1) === '{' ? 'name' : 'value'
  }

  #close(sign: ']' | '}'): void {
    const [opening, empty] = sign === ']' ? ['[', 'first value'] : ['{', 'first name']
    if (this.#open.pop() !== opening) throw wrong()
    if (this.#next !== 'comma' && this.#next !== empty) throw wrong()
    this.#next = this.#open.length === 0 ? 'end' : 'comma'
  }
}

const wrong = (): SyntaxError => new SyntaxError('not JSON in the envelope')
