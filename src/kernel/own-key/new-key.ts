/** A new key: it is made for the first publication or a rotation, and that of a rotation may be abandoned. */
import { refusedError } from '../../errors.ts'
import { beginAttempt } from './attempt.ts'
import { codeOf, type Transition, type Handlers } from './transition.ts'
import type { Errand } from './life.ts'
import { beginRotation, endRotation } from './rotation.ts'

export const NEW_KEY_STEPS: Handlers<'making' | 'discarding'> = {
  making: { done: made, failed: notMade },
  discarding: {
    done: (change, { fingerprint, errand }) => {
      change.report('abandoned')
      change.log('info', { fingerprint }, 'the rotation was abandoned')
      endRotation(change, 'abandoned')
      change.finish(errand, { isSettled: true })
    },
    failed: abort,
  },
}

export function make(change: Transition, errand: Errand): void {
  change.act({ step: 'making', errand }, { kind: 'make-key' })
}

/** Whether a key is made for a rotation, which the operator or the setting asks for. */
function isForRotation(change: Transition, errand: Errand): boolean {
  return errand === 'rotate' || (errand === 'compare' && change.life.remote === 'equal')
}

function made(change: Transition, { errand }: { errand: Errand }): void {
  const { pending } = change
  if (pending === undefined) throw new Error('a key was made and is not there')
  const { fingerprint } = pending
  change.log('info', { fingerprint }, 'made a key for the bot')
  if (isForRotation(change, errand)) {
    beginRotation(change, 'the new key is on disk')
    change.log('info', { ...change.life.rotation.current }, 'rotating the bot’s key')
  }
  const isLeft = errand === 'rotate' || errand === 'make-first'
  if (isLeft) change.finish(errand, { isSettled: true })
  else beginAttempt(change, pending, errand)
}

function notMade(
  change: Transition,
  { errand }: { errand: Errand },
  { error }: { error: unknown },
): void {
  const isRotation = isForRotation(change, errand)
  if (isRotation) change.effects.push({ kind: 'rotation-attempt', outcome: 'not-made' })
  if (!isRotation || errand === 'rotate') return change.finish(errand, { error })
  change.log('warn', { code: codeOf(error) }, 'a planned rotation could not be begun')
  change.finish(errand, { isSettled: true })
}

/** Forgets the key of a rotation, while the service cannot know it. */
export function abandon(change: Transition): void {
  change.set({ isDropping: false })
  const { pending } = change
  const refuse = (message: string, hint: string): void =>
    change.finish('abandon', { error: refusedError(message, hint) })
  if (pending === undefined || change.life.rotation.current === null) {
    return refuse('no rotation is under way', '`postern key list` shows them')
  }
  if (pending.offeredAtMs !== null) {
    return refuse(
      'the service may have the new key already: this rotation is finished, not abandoned',
      '`postern key rotate --watch` follows it to its end',
    )
  }
  const { fingerprint } = pending
  const task = { step: 'discarding', errand: 'abandon', fingerprint } as const
  change.act(task, { kind: 'discard', fingerprint })
}

/** The task fails. */
export function abort(
  change: Transition,
  { errand }: { errand: Errand },
  { error }: { error: unknown },
): void {
  change.finish(errand, { error })
}
