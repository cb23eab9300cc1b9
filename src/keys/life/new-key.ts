/** A new key: it is made for the first publication or a rotation, and that of a rotation may be abandoned. */
import { refusedError } from '../../errors.ts'
import { beginAttempt } from './attempt.ts'
import { codeOf, type Transition, type Handlers } from './transition.ts'
import { mayDiscard } from '../../kernel/index.ts'
import { beginRotation, endRotation } from './rotation.ts'

export const NEW_KEY_STEPS: Handlers<'making' | 'discarding'> = {
  making: { done: made, failed: notMade },
  discarding: {
    done: (change, { fingerprint }) => {
      change.report('abandoned')
      change.log('info', { fingerprint }, 'the rotation was abandoned')
      endRotation(change, 'abandoned')
      change.finish({ isSettled: true })
    },
    failed: abort,
  },
}

export const make = (change: Transition): void =>
  change.act({ step: 'making' }, { kind: 'make-key' })

/** Whether a key is made for a rotation, which the operator or the setting asks for. */
const isForRotation = ({ errand, life }: Transition): boolean =>
  errand === 'rotate' || (errand === 'compare' && life.remote === 'equal')

function made(change: Transition): void {
  const { pending } = change
  if (pending === undefined) throw new Error('a key was made and is not there')
  const { fingerprint } = pending
  change.log('info', { fingerprint }, 'made a key for the bot')
  if (isForRotation(change)) {
    beginRotation(change, 'the new key is on disk')
    change.log('info', { ...change.life.rotation.current }, 'rotating the bot’s key')
  }
  const isLeft = change.errand === 'rotate' || change.errand === 'make-first'
  if (isLeft) change.finish({ isSettled: true })
  else beginAttempt(change, pending)
}

function notMade(change: Transition, _task: unknown, { error }: { error: unknown }): void {
  const isRotation = isForRotation(change)
  if (isRotation) change.effects.push({ kind: 'rotation-attempt', outcome: 'not-made' })
  if (!isRotation || change.errand === 'rotate') return change.finish({ error })
  change.log('warn', { code: codeOf(error) }, 'a planned rotation could not be begun')
  change.finish({ isSettled: true })
}

/** Forgets the key of a rotation, while the service cannot know it. */
export function abandon(change: Transition): void {
  change.set({ isDropping: false })
  const { pending } = change
  const refuse = (message: string, hint: string): void =>
    change.finish({ error: refusedError(message, hint) }, 'abandon')
  if (pending === undefined || change.life.rotation.current === null) {
    return refuse('no rotation is under way', '`postern key list` shows them')
  }
  if (!mayDiscard(pending)) {
    return refuse(
      'the service may have the new key already: this rotation is finished, not abandoned',
      '`postern key rotate --watch` follows it to its end',
    )
  }
  const { fingerprint } = pending
  change.act({ step: 'discarding', fingerprint }, { kind: 'discard', fingerprint }, 'abandon')
}

/** The task fails. */
export function abort(change: Transition, _task: unknown, { error }: { error: unknown }): void {
  change.finish({ error })
}
