/** What opening established, and what is delivered for it (DESIGN: Opening). */
import type { Reason } from './reasons/reason-descriptions.ts'

/** Every verdict, with whether its text reaches the bot under each setting of `open.verify`. */
export const VERDICTS = {
  verified: { flag: true, require: true, off: true },
  unsigned: { flag: true, require: false, off: true },
  'before-key': { flag: true, require: false, off: true },
  'unknown-signer': { flag: false, require: false, off: true },
  'signer-unavailable': { flag: false, require: false, off: true },
  'bad-signature': { flag: false, require: false, off: true },
  replayed: { flag: false, require: false, off: true },
  'plaintext-in-protected': { flag: false, require: false, off: true },
  'not-recipient': { flag: false, require: false, off: false },
  damaged: { flag: false, require: false, off: false },
  'too-large': { flag: false, require: false, off: false },
  locked: { flag: false, require: false, off: false },
  'mode-unknown': { flag: false, require: false, off: false },
} as const satisfies Record<string, Record<VerifyPolicy, boolean>>

/** Setting `open.verify`. */
export type VerifyPolicy = 'flag' | 'require' | 'off'
export type Verdict = keyof typeof VERDICTS

/** A verdict with a word of ours that says why. */
export interface Reasoned {
  verdict: Verdict
  reason?: Reason
}

/** Whether text that was judged so is given to the bot. */
export function delivers({ verdict, reason }: Reasoned, policy: VerifyPolicy): boolean {
  const isHeldBack = reason === 'signed-long-before' && policy === 'require'
  return VERDICTS[verdict][policy] && !isHeldBack
}
