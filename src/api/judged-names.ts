/** Names on which something is decided, and what another parser would take for them. */

/** The names of the envelope (spec, What the service does, 2). */
const ENVELOPE = ['ok', 'result', 'error']
/** The names of the error object (spec, Error object). */
const ERROR = ['status', 'code', 'message', 'retryAfter', 'expected']
/** All that an update is judged by, and all that the spec names in an update. */
const UPDATE = `updateId kind message id chat from date replyTo text armored media markup
  username firstName lastName isBot url data inlineKeyboard callbackData`.split(/\s+/)
/** What the sidecar reads or writes in a bot, a chat, a webhook and a sent message. */
const RESULT = `id kind mode date text armored historyVisible memberCount me fingerprint status
  webhook queued limits url hasSecret pending failures lastError`.split(/\s+/)

/** Longer names are not remembered. */
const LONGEST = 40
const REMEMBERED = 2000

/**
 * A closed set of names. An impostor is a name that some parser reads as one of them or as
 * `postern`, which the service never says, without being it.
 */
export class JudgedNames {
  readonly #names: ReadonlySet<string>
  readonly #folded: ReadonlySet<string>
  readonly #known = new Map<string, boolean>()

  constructor(names: readonly string[]) {
    this.#names = new Set(names)
    this.#folded = new Set([...names.map(fold), OURS])
  }

  isImpostor(name: string): boolean {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const isImpostor = this.#judge(name)
    if (name.length > LONGEST) return isImpostor
    if (this.#known.size >= REMEMBERED) this.#known.clear()
    this.#known.set(name, isImpostor)
    return isImpostor
  }

  #judge(name: string): boolean {
    if (this.#names.has(name) || name === DATABASE_ID) return false
    return name === '__proto__' || this.#folded.has(fold(name))
  }
}

const OURS = 'postern'
/** Many databases have it beside `id`; nothing is decided on either. */
const DATABASE_ID = '_id'

export const ENVELOPE_NAMES = new JudgedNames(ENVELOPE)
export const ERROR_NAMES = new JudgedNames(ERROR)
export const UPDATE_NAMES = new JudgedNames(UPDATE)
export const RESULT_NAMES = new JudgedNames(RESULT)
/** Where nothing is judged: only our own name is kept free. */
export const OWN_NAME = new JudgedNames([])

/**
 * A name as the most lenient parser compares it: without case, by Unicode's simple folding (Go's
 * encoding/json: U+017F is s, U+212A is k) and Java's (U+0130 and U+0131 are i), without `-` and
 * `_` (Go's json/v2 with `case:ignore`), and up to the first NUL (parsers in C).
 */
export function fold(name: string): string {
  const [read = ''] = name.split('\0', 1)
  return read.replaceAll(/[-_]/g, '').replaceAll('\u0130', 'i').toUpperCase().toLowerCase()
}

/** True for an error code that only we give, however it is spelt. */
export function isOurCode(code: string): boolean {
  return fold(code.trim()).startsWith(OURS)
}
