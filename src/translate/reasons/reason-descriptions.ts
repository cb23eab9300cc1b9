import type { Reason, Skipped, Verdict } from '../../kernel/index.ts'
import descriptions from './reason-descriptions.json' with { type: 'json' }
import skips from './skip-reasons.json' with { type: 'json' }

interface ReasonDescription {
  /** The verdicts that the reason may accompany. */
  with: readonly Verdict[]
  /** Its meaning. */
  what: string
  /** The operator's options. */
  hint: string
}

// the compiler asks for each; a test holds `with` to the verdicts that there are
descriptions satisfies Record<Reason, { [Name in keyof ReasonDescription]: unknown }>

/**
 * Every reason that may accompany a verdict: in `postern.reason`, in the log and in `postern
 * explain`. `npm run readme` makes the table in the README of this folder from these.
 */
export const REASON_DESCRIPTIONS = descriptions as Readonly<
  Record<Reason, Readonly<ReasonDescription>>
>

/** @returns null for a reason of another version */
export const describeReason = (reason: string): Readonly<ReasonDescription> | null =>
  Object.hasOwn(REASON_DESCRIPTIONS, reason) ? REASON_DESCRIPTIONS[reason as Reason] : null

/**
 * Why somebody gets no message of the bot's, in `postern.skipped`, in refusals, in the log and in
 * `postern explain --sent`. The compiler asks for each; the table in this folder's README is made
 * from it.
 */
export const SKIP_REASONS: Readonly<Record<Skipped['reason'], { what: string; hint: string }>> =
  skips

/** @returns null for a reason of another version */
export const describeSkip = (reason: string): { what: string; hint: string } | null =>
  Object.hasOwn(SKIP_REASONS, reason) ? SKIP_REASONS[reason as Skipped['reason']] : null
