/** Names that decisions depend on, and the names that another parser would read as one of them. */

/** The names of the envelope (spec, What the service does, 2). */
const ENVELOPE = ['ok', 'result', 'error']
/** The names of the error object (spec, Error object). */
const ERROR = ['status', 'code', 'message', 'retryAfter', 'expected']
/** All that an update is judged by, and all that the spec names in an update. */
const UPDATE = `updateId kind message id chat from date replyTo text armored media markup
  username firstName lastName isBot url data inlineKeyboard callbackData`.split(/\s+/)
/** Names that the sidecar reads or writes in a bot, a chat, a webhook and a sent message. */
const RESULT = `id kind mode date text armored historyVisible memberCount me fingerprint status
  webhook queued limits url hasSecret pending failures lastError`.split(/\s+/)

/** All that the spec names in the body of a request, and the time of a call of the outbox. */
const REQUEST = `chatId text armored replyTo markup silent sendId inlineKeyboard callbackData url
  alert typing scope commands command description name publicKey fingerprint secret deliverAt`.split(
  /\s+/,
)

/** Letters of a name that could be any of these, with some to spare. */
const LONGEST = 20
/** How many names are remembered, and how long they may be. */
const REMEMBERED = { names: 2000, letters: 40 }

/**
 * A closed set of names. An impostor is a name that some parser reads as one of them or as
 * `postern`, a name that the service never uses, without being it.
 */
export class JudgedNames {
  readonly #names: ReadonlySet<string>
  readonly #folded: ReadonlySet<string>
  readonly #known = new Map<string, boolean>()

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
    this.#folded = new Set([...names.map((name) => fold(name) ?? name), OURS])
  }

  isImpostor(name: string): boolean {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const isImpostor = this.#judge(name)
    if (name.length > REMEMBERED.letters) return isImpostor
    if (this.#known.size >= REMEMBERED.names) this.#known.clear()
    this.#known.set(name, isImpostor)
    return isImpostor
  }

  #judge(name: string): boolean {
    if (this.#names.has(name) || name === DATABASE_ID) return false
    if (name === '__proto__') return true
    const folded = fold(name)
    return folded !== null && this.#folded.has(folded)
  }
}

const OURS = 'postern'
/** Many databases have it beside `id`; nothing is decided on either. */
const DATABASE_ID = '_id'

export const ENVELOPE_NAMES = new JudgedNames(ENVELOPE)
export const ERROR_NAMES = new JudgedNames(ERROR)
export const UPDATE_NAMES = new JudgedNames(UPDATE)
export const REQUEST_NAMES = new JudgedNames(REQUEST)
export const RESULT_NAMES = new JudgedNames(RESULT)
/** Where nothing is judged: only our own name is kept free. */
export const OWN_NAME = new JudgedNames([])

/**
 * A name as the most lenient parser compares it: without case, by Unicode's simple folding (Go's
 * encoding/json: U+017F is s, U+212A is k) and Java's (U+0130 and U+0131 are i), without `-` and
 * `_` (Go's json/v2 with `case:ignore`), and up to the first NUL (parsers in C).
 * @returns null for a name longer than any in the set, without scanning it
 */
function fold(name: string): string | null {
  let letters = ''
  for (const letter of name) {
    if (letter === '\0') break
    if (letter === '-' || letter === '_') continue
    if (letters.length >= LONGEST) return null
    letters += letter === '\u0130' ? 'i' : letter
  }
  return letters.toUpperCase().toLowerCase()
}

/** True for an error code that only we give, however it is spelt. */
export const isOurCode = (code: string): boolean =>
  fold(code.trim().slice(0, OURS_SPELT))?.startsWith(OURS) === true

/** Enough of a code to see how it begins. */
const OURS_SPELT = 16
