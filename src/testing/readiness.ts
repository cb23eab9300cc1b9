import { setImmediate as nextTurn } from 'node:timers/promises'
import { PosternError } from '../errors.ts'
import type { Health, HealthReason, ReasonCode } from '../observe/health.ts'
import { nextCall } from '../util/listeners.ts'

/** The sidecar runs, and is not ready by `/readyz`. */
export class NotReadyError extends PosternError {
  override readonly name = 'NotReadyError'
  /** The first reason, such as `upstream` or `token`. */
  readonly code: ReasonCode
  /** What to do about it. */
  readonly hint: string
  /** All reasons, the oldest first. */
  readonly reasons: readonly Pick<HealthReason, 'code' | 'message' | 'hint'>[]

  constructor(reasons: readonly HealthReason[]) {
    const causes = reasons.filter(({ code }) => !CONSEQUENCES.has(code))
    const told = causes.length > 0 ? causes : reasons
    const [first] = told
    super(`the sidecar is not ready: ${told.map(({ message }) => message).join('; ')}`)
    this.code = first?.code ?? 'starting'
    this.hint = first === undefined ? '' : hintOf(first)
    this.reasons = reasons.map((reason) => {
      return { code: reason.code, message: reason.message, hint: hintOf(reason) }
    })
  }
}

/** Hints in a test, where they differ from those for a sidecar in use. */
const HINTS: Partial<Record<ReasonCode, string>> = {
  'key-conflict':
    'a sidecar before this one published its key for the same bot: give each sidecar a bot of its own (`sandbox.control.addBot`), or both the same `dataDir`',
  clock:
    'give the sandbox whose clock was moved as `clock` to `startSidecar`, which then follows it',
  token: 'give the token that the bot has at this `upstream`',
}

const hintOf = ({ code, hint }: HealthReason): string => HINTS[code] ?? hint

/** Reasons that are consequences of another reason. */
const CONSEQUENCES: ReadonlySet<ReasonCode> = new Set(['starting', 'key-unpublished'])

/** At a start, nothing but somebody's deed ends these. */
const LASTING: ReadonlySet<ReasonCode> = new Set([
  'token',
  'identity',
  'paused',
  'key-conflict',
  'key-expired',
  'bot-unprotected',
  'clock',
])

/**
 * Waits until nothing keeps the sidecar from its job.
 * @param o `isStart`: does not wait for reasons that waiting cannot end
 * @throws NotReadyError
 */
export async function untilReady(
  health: Pick<Health, 'ready' | 'all' | 'onChange'>,
  { withinMs, isStart }: { withinMs: number; isStart: boolean },
): Promise<void> {
  const timeout = AbortSignal.timeout(Math.ceil(withinMs))
  while (!health.ready) {
    const reasons = health.all()
    if (timeout.aborted || isHopeless(reasons, isStart)) throw new NotReadyError(reasons)
    await nextCall(health.onChange, timeout)
    // One answer of the service may end a reason and bring up the next.
    await nextTurn()
  }
}

const isHopeless = (reasons: readonly HealthReason[], isStart: boolean): boolean =>
  reasons.some(({ code }) => code === 'stopping' || (isStart && LASTING.has(code)))
