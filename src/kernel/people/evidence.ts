/** What certifications prove of people's certificates, by the engine and the settings of `trust`. */
import type { Engine } from '../../openpgp/index.ts'
import type { JudgingClock } from '../clocks.ts'
import type { Vouched } from '../memory.ts'
import type { Evidence, EvidenceLookup } from './pins.ts'

/** An authority of the setting `trust.authorities`, and which of its certifications name a person. */
export interface Authority {
  /** Name, fingerprint and rule: proofs by another rule or key do not count. */
  id: string
  fingerprint: string
  /** Its armored certificate. */
  armored: string
  /** The notation whose value is the person's id; null: `userIds` decides. */
  notation: string | null
  /** The certified user id, or its address, with `{userId}` for the person's id. */
  userIds: string
}

const NONE: Evidence = { vouched: null, withdrawnBy: [], follows: null, revocations: [] }

/**
 * @param o without `continuity`, no certificate follows another
 * @returns undefined where nothing is asked; the look-up throws EngineUnavailableError
 */
export function evidenceBy(o: {
  engine: Pick<Engine, 'certifications'>
  authorities: readonly Authority[]
  /** Setting `trust.continuity`. */
  continuity: boolean
  clocks: Pick<JudgingClock, 'expiryNowMs'>
}): EvidenceLookup | undefined {
  const { engine, authorities, clocks } = o
  if (!o.continuity && authorities.length === 0) return undefined
  return async ({ userId, pin, certificateStatus: { fingerprint, armored } }, certificates) => {
    if (fingerprint === null) return NONE
    const former = o.continuity && pin?.fingerprint === pin?.listed ? pin?.listed : null
    const copy = former && former !== fingerprint ? await certificates.copyOf(former) : null
    const before = former && copy !== null ? { fingerprint: former, armored: copy } : null
    const value = String(userId)
    const asked = authorities.map(({ notation, userIds, ...one }) => {
      const named = userIds.replace('{userId}', value)
      return { ...one, subject: notation === null ? { userId: named } : { notation, value } }
    })
    const by = before === null ? asked : [...asked, { ...before, subject: 'own-user-id' as const }]
    const nameOf = (one: { fingerprint: string }): string => `${fingerprint} ${one.fingerprint}`
    const known = await Promise.all(by.map((one) => certificates.revokedCopyOf(nameOf(one))))
    const certifiers = by.map((one, at) => ({ ...one, known: known[at] ?? null }))
    const found = await engine.certifications(armored, certifiers, clocks.expiryNowMs())
    const vouches = asked.flatMap(({ id }, at): Vouched[] => {
      const period = found[at]?.period ?? null
      return period === null ? [] : [{ fingerprint, by: id, ...period }]
    })
    const withdrawnBy = asked.filter((_, at) => found[at]?.isWithdrawn === true)
    return {
      vouched: vouches.sort((a, b) => b.untilMs - a.untilMs)[0] ?? null,
      withdrawnBy: withdrawnBy.map(({ id }) => id),
      follows: found.at(-1)?.period == null ? null : (before?.fingerprint ?? null),
      revocations: found.flatMap(({ remember: whole }, at) => {
        if (whole === null) return []
        return [{ fingerprint: nameOf(by[at]!), revocations: true, armored: whole }]
      }),
    }
  }
}
