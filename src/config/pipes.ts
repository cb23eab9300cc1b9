/** Secrets and settings in pipes, whose content can be read once. */
import { statSync } from 'node:fs'
import { OperatorError } from '../errors.ts'
import { SecretSource, type SecretRule } from './secrets.ts'

/** Reads each secret; one from a pipe is kept for later readers, such as the next bot. */
export class SecretReader {
  readonly #kept = new Map<string, SecretSource>()
  #mayWait = true

  /** From now on no pipe is waited for: that would hold up everything that is served. */
  waitNoMore(): void {
    this.#mayWait = false
  }

  /** Whether a file is a pipe that is not waited for any more. */
  isLate(path: string): boolean {
    return !this.#mayWait && isPipe(path)
  }

  /** @throws OperatorError `settings` as `SecretSource.fromFile` does, and when it would have to wait */
  read(path: string, rule: SecretRule): SecretSource {
    if (!isPipe(path)) return SecretSource.fromFile(path, rule)
    const kept = this.#kept.get(path)
    if (kept !== undefined) return kept
    if (this.isLate(path)) throw new OperatorError('settings', LATE_PIPE, 'name a file')
    const secret = SecretSource.fromFile(path, rule)
    this.#kept.set(path, secret)
    return secret
  }
}

/** Why it is not read. */
export const LATE_PIPE = 'is a pipe, which is read at a start alone'

const isPipe = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isFIFO() === true
