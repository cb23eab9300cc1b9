/**
 * What no log may hold, and the logs that are searched for it: the words that anybody writes or
 * reads over HTTP while a test file runs, the secrets that its processes are given, and any block
 * of OpenPGP. `canaries-setup.ts` makes the search after every file; nothing has to be asked for.
 */
import { readFileSync } from 'node:fs'
import { spellings } from './spellings.ts'

/** Names of fields that hold somebody's words, or armor. */
const WORDS = new Set(['text', 'withheldText', 'description', 'callbackData'])
const ARMOR = new Set(['armored', 'publicKey'])
/** Shorter ones stand in ordinary lines by chance. */
const LEAST_WORD = 8
const LEAST_SECRET = 4
/** So much of a long text gives it away. */
const ENOUGH = 48

interface Log {
  name: string
  read: () => string
}

/** Words and logs of one test file. */
export class Canaries {
  readonly #forbidden = new Set<string>()
  readonly #logs: Log[] = []

  /** A token, a passphrase: may stand nowhere. */
  secret(value: string): void {
    if (value.length >= LEAST_SECRET) this.#forbidden.add(value)
  }

  /** The secrets among environment variables of a `postern`, given as values or as files. */
  environment(env: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value = ''] of Object.entries(env)) {
      if (/_(TOKEN|PASSPHRASE)$/.test(name)) this.secret(value)
      if (/_(TOKEN|PASSPHRASE)_FILE$/.test(name)) this.secret(contentOf(value))
    }
  }

  /** Something that a person or a bot wrote. */
  words(text: string): void {
    const lines = text.split(/[\r\n]+/).map((line) => line.trim().slice(0, ENOUGH))
    const [longest = ''] = lines.toSorted((a, b) => b.length - a.length)
    if (longest.length >= LEAST_WORD) this.#forbidden.add(longest)
  }

  /** A body of the API's, request or answer: whatever in it is words or armor. */
  body(bytes: Uint8Array): void {
    try {
      this.#collect(JSON.parse(Buffer.from(bytes).toString()), '')
    } catch {
      // no JSON: nobody's words in any field
    }
  }

  /** A log that must hold none of it, read when the file is over. */
  watch(name: string, read: () => string): void {
    this.#logs.push({ name, read })
  }

  /** What was found where it may not be, one sentence each. */
  findings(): string[] {
    const forbidden = [...this.#forbidden].map((word) => ({ word, all: spellings(word) }))
    return this.#logs.flatMap(({ name, read }) => {
      const text = read()
      const bytes = Buffer.from(text)
      const found = forbidden.filter(({ all }) => all.some((spelling) => bytes.includes(spelling)))
      const armor = text.includes('BEGIN PGP') ? ['an OpenPGP block'] : []
      return [...found.map(({ word }) => JSON.stringify(word)), ...armor].map(
        (what) => `${name} holds ${what}`,
      )
    })
  }

  #collect(value: unknown, key: string): void {
    if (typeof value === 'string') {
      if (WORDS.has(key)) this.words(value)
      if (ARMOR.has(key)) this.#armor(value)
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) this.#collect(inner, name)
    }
  }

  /** A line from the middle: begin and end are the same for everybody. */
  #armor(text: string): void {
    const lines = text.split('\n').filter((line) => /^[A-Za-z0-9+/=]{40,}$/.test(line))
    const line = lines[Math.floor(lines.length / 2)]
    if (line !== undefined) this.#forbidden.add(line)
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

/** Those of the file that runs now. Outside a test run nothing is searched, and nothing is kept. */
let current: Canaries | null = null

export function setCanaries(those: Canaries): void {
  current = those
}

/** What collects for the test file that runs now; null outside of one. */
export const canaries = (): Canaries | null => current
