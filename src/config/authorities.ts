/** Belief without the operator, as settings describe it: `trust.after`, `continuity`, `authorities`. */
import { z } from 'zod'
import { OperatorError } from '../errors.ts'
import { ClientName, msOf, textLike } from './client-entry.ts'
import { readBounded } from './files.ts'

const AFTER = /^([1-9]\d{0,3})(min|h|d)$/

/** How long a changed certificate waits. */
export const After = z.string().regex(AFTER)

/** An authority: its certificate, and which of its certifications name a person. */
export const AuthorityEntry = z
  .strictObject({
    name: ClientName,
    file: z.string().min(1),
    notation: textLike(/^[^@\s=]+@[^@\s=]+$/, 'a notation such as user-id@example.org').optional(),
    userIds: textLike(
      /^[^{}]*\{userId\}[^{}]*$/,
      'a user id with {userId} once, such as {userId}@bots.example',
    ).optional(),
  })
  .refine(({ notation, userIds }) => (notation === undefined) !== (userIds === undefined), {
    error: 'expected one of notation and userIds',
  })

const MAX_BYTES = 65_536

/**
 * The settings of `trust` with times in ms and the authorities' certificates.
 * @returns `revoked`: names of authorities whose certificate is revoked, which are left out
 * @throws OperatorError `settings` for a file without one OpenPGP certificate
 */
export async function firstUseOf(
  trust: {
    after?: string | undefined
    continuity: boolean
    authorities: readonly z.output<typeof AuthorityEntry>[]
  },
  engine: {
    judge(armored: string): Promise<{ fingerprint: string | null; unusable: string | null }>
  },
) {
  const afterMs = trust.after === undefined ? null : msOf(trust.after)
  const read = trust.authorities.map(async ({ name, file, notation = null, userIds = '' }) => {
    const found = readBounded(file, MAX_BYTES)
    const armored = 'problem' in found ? '' : found.text
    const { fingerprint, unusable } = await engine.judge(armored)
    if (fingerprint === null) {
      const problem = 'problem' in found ? found.problem : (unusable ?? 'unparseable')
      throw new OperatorError(
        'settings',
        `trust.authorities ${name}: ${file}: expected one OpenPGP certificate (${problem})`,
        'write it with `gpg --armor --export-options export-minimal --export <fingerprint>`',
      )
    }
    // proofs by another rule or key do not count
    const id = [name, fingerprint, notation ?? userIds].join(' ')
    return { id, name, fingerprint, armored, notation, userIds, isRevoked: unusable === 'revoked' }
  })
  const all = await Promise.all(read)
  return {
    firstUse: { afterMs, authorities: all.filter(({ isRevoked }) => !isRevoked) },
    revoked: all.filter(({ isRevoked }) => isRevoked).map(({ name }) => name),
  }
}
