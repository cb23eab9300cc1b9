import { createHmac, randomBytes } from 'node:crypto'
import { presentedIn } from './auth.ts'
import { credentialOf, type CallerOf } from './client-calls.ts'

/** Unknown tokens make the tokens' sources be read again, at most once in this time. */
const REREAD_EVERY_MS = 1000

/** The token of one bot. */
export interface BotToken {
  /** The token that the local bot must present. */
  expected: () => string
  /** Reads the token from its source again. */
  reread: () => void
  /** Whether it has a client with this credential (`credentialOf`); one that is not served has none. */
  hasClient: (credential: string) => boolean
}

/**
 * Finds the bot of a token. Tokens are found by their keyed hashes, so that the time reveals
 * nothing about any token. `requireBearer` then compares the found bot's token once more.
 */
export class BotTokens<Bot> {
  readonly #bots = new Map<string, { bot: Bot; token: BotToken; hash: string; indexed: string }>()
  /** By hash; null where two bots expect the same, which then is nobody's. */
  readonly #byHash = new Map<string, string | null>()
  readonly #key = randomBytes(32)
  readonly #onTwins: (names: [string, string]) => void
  #rereadMs = -Infinity

  /** @param onTwins called with the names of two bots that expect the same token */
  constructor(onTwins: (names: [string, string]) => void) {
    this.#onTwins = onTwins
  }

  set(name: string, bot: Bot, token: BotToken): void {
    this.#bots.set(name, { bot, token, hash: '', indexed: '' })
    this.#index()
  }

  delete(name: string): void {
    this.#bots.delete(name)
    this.#index()
  }

  get(name: string): Bot | null {
    return this.#bots.get(name)?.bot ?? null
  }

  /** The bot whose token a request presents; null when that is nobody's, or not one token. */
  find(request: CallerOf): Bot | null {
    const credential = credentialOf(request)
    const isOwner = (token: BotToken): boolean => credential !== null && token.hasClient(credential)
    const owners = [...this.#bots.values()].filter(({ token }) => isOwner(token))
    // a token that is of clients of two bots is nobody's
    if (owners.length > 0) return owners.length === 1 ? (owners[0]?.bot ?? null) : null
    const [presented = null, ...more] = presentedIn(request.rawHeaders)
    if (presented === null || more.length > 0) return null
    const hash = this.#hash(presented)
    const found = this.#of(hash)
    if (found !== null || !this.#reread()) return found
    return this.#of(hash)
  }

  #of(hash: string): Bot | null {
    const name = this.#byHash.get(hash)
    return name == null ? null : this.get(name)
  }

  /** @returns whether anything may be otherwise now */
  #reread(): boolean {
    const nowMs = performance.now()
    if (nowMs - this.#rereadMs >= REREAD_EVERY_MS) {
      this.#rereadMs = nowMs
      for (const { token } of this.#bots.values()) token.reread()
    }
    const isOther = [...this.#bots.values()].some((one) => one.token.expected() !== one.indexed)
    if (isOther) this.#index()
    return isOther
  }

  #index(): void {
    this.#byHash.clear()
    const first = new Map<string, string>()
    for (const [name, one] of this.#bots) {
      const expected = one.token.expected()
      if (expected !== one.indexed) one.hash = this.#hash(expected)
      one.indexed = expected
      const other = first.get(one.hash)
      if (other === undefined) first.set(one.hash, name)
      else this.#onTwins([other, name])
      this.#byHash.set(one.hash, other === undefined ? name : null)
    }
  }

  #hash(token: string): string {
    return createHmac('sha256', this.#key).update(token).digest('base64')
  }
}
