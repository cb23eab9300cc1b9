/** Secrets: their sources, their rules, and a wrapper that cannot be printed. */
import { realpathSync, statSync, type Stats } from 'node:fs'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { isWebUrl } from '../api/common.ts'
import { OperatorError } from '../errors.ts'
import { readBounded } from './files.ts'
import { lookOf } from '../util/file-owners.ts'
import { isPlainHttp } from './urls.ts'

const MAX_BYTES = 64 * 1024
/** Container runtimes put secrets here, readable by all inside and by nobody outside. */
const RUNTIME_SECRETS = '/run/secrets/'

/** A secret value. However it is printed, logged or serialised, it shows `[secret]`. */
export class SecretSource {
  #value: string
  /** The file that it was read from, absolute; null when it was given itself. */
  readonly file: string | null
  readonly #rule: SecretRule
  #look: string

  private constructor(value: string, file: string | null, rule: SecretRule) {
    this.#value = value
    this.file = file
    this.#rule = rule
    this.#look = lookOf(file)
  }

  /**
   * @param value the secret itself
   * @throws OperatorError `settings` when it is empty or holds what it must not
   */
  static fromValue(value: string, rule: SecretRule = 'passphrase'): SecretSource {
    return new SecretSource(accept(value, rule), null, rule)
  }

  /**
   * @param file its path; the trailing newline is no part of the secret
   * @throws OperatorError `settings` when it cannot be read, others can read it, or it holds what it must not
   */
  static fromFile(file: string, rule: SecretRule = 'passphrase'): SecretSource {
    return new SecretSource(readSecretFile(file, rule), resolve(file), rule)
  }

  /** The value; hand it to what needs it and to nothing else. */
  reveal(): string {
    return this.#value
  }

  /**
   * Reads its file again. A file that is gone or wrong now leaves the value as it was.
   * @returns true when the value changed
   */
  async reload(): Promise<boolean> {
    if (this.file === null) return false
    try {
      // A pipe was emptied by the first reading; a second one would wait for ever.
      if (!statSync(this.file).isFile()) return false
      this.#look = lookOf(this.file)
      const value = readSecretFile(this.file, this.#rule)
      const changed = value !== this.#value
      this.#value = value
      return changed
    } catch {
      return false
    }
  }

  /** Whether its file's metadata has changed since it was read: cheap for frequent callers. */
  looksChanged(): boolean {
    return lookOf(this.file) !== this.#look
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

/**
 * `token`: goes into a header, so visible ASCII alone. `passphrase`: people's words, spaces between
 * them included. `url`: where something is POSTed to. `database`: a URL of PostgreSQL.
 */
export type SecretRule = 'token' | 'passphrase' | 'url' | 'database'

function readSecretFile(file: string, rule: SecretRule): string {
  const read = readBounded(file, MAX_BYTES)
  if ('problem' in read) refuse(read.problem)
  const exposed = describeExposure(file, read.facts)
  if (exposed !== null) refuse(exposed)
  return accept(read.text.replace(/[\r\n]+$/, ''), rule)
}

/**
 * The warning that a file of ours with a secret is readable by others, or null. The mode of another
 * owner's file is not ours to change, and one under /run/secrets is how containers get theirs.
 */
export function describeExposure(file: string, facts: Stats): string | null {
  const ours = facts.uid === process.getuid?.()
  if (!facts.isFile() || !ours || (facts.mode & 0o077) === 0) return null
  if (realpathSync(file).startsWith(RUNTIME_SECRETS)) return null
  const mode = (facts.mode & 0o777).toString(8).padStart(4, '0')
  return `holds a secret and others can read it (mode ${mode}); run chmod 600 on it`
}

function accept(value: string, rule: SecretRule): string {
  if (value.trim() === '') refuse('is empty')
  if (rule === 'url' && !isTarget(value)) refuse('is no https URL, and no http URL on loopback')
  if (rule === 'database' && !/^postgres(ql)?:\/\//.test(value)) {
    refuse('is no URL that begins with postgres://')
  }
  if (rule !== 'passphrase') {
    if (/[^\x21-\x7e]/.test(value)) {
      refuse('holds a space, a line break or a character outside ASCII')
    }
  } else if (/\p{Cc}/u.test(value) || value !== value.trim() || !value.isWellFormed()) {
    refuse('holds a line break, a control character or a space at an end')
  }
  return value
}

/** Without credentials, which `fetch` refuses. */
const isTarget = (text: string): boolean => isWebUrl(text) && !isPlainHttp(text)

/** The message must never repeat the secret. */
function refuse(problem: string): never {
  throw new OperatorError('settings', problem, 'give the secret alone, in a file of mode 0600')
}
