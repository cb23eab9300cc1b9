import { PosternError, Refusal, ServiceError } from '../../errors.ts'
import { publishableKey, readyKey, stateWhileShown } from '../../kernel/index.ts'
import type { Facts, PublicationState, ReadyKey } from '../../kernel/index.ts'
import type { Action, ActionResult, Effect, Ending, Errand, KeyLife } from './life.ts'
import type { RotationOutcome, RotationPhase, Step, Task, TaskStep } from './life.ts'

/** What the steps of a task do on each result of their action. */
export type Handlers<S extends Step> = {
  [K in S]: {
    [E in ActionResult['kind']]?: (
      change: Transition,
      task: Extract<Task, { step: K }>,
      result: Extract<ActionResult, { kind: E }>,
    ) => void
  }
}

/** One transition of the key's life while it is put together: the life after it, and its effects. */
export class Transition {
  life: KeyLife
  readonly facts: Facts
  readonly effects: Effect[] = []

  constructor(life: KeyLife, facts: Facts) {
    this.life = life
    this.facts = facts
  }

  /** The published key, which signs. */
  get active(): ReadyKey | undefined {
    return readyKey(this.facts.keys, 'active')
  }

  /** The key that waits for its publication. */
  get pending(): ReadyKey | undefined {
    return readyKey(this.facts.keys, 'pending')
  }

  /** The only key of ours that may be published. */
  get newest(): ReadyKey | undefined {
    return publishableKey(this.facts)
  }

  set(part: Partial<KeyLife>): void {
    this.life = { ...this.life, ...part }
  }

  get errand(): Errand {
    const { task } = this.life
    if (task.step === 'idle') throw new Error('no task is under way')
    return task.errand
  }

  /** Goes on with the task, whose next step waits for the action. */
  act(step: TaskStep, action: Action, errand = this.errand): void {
    this.set({ task: { ...step, errand } })
    this.effects.push(action)
  }

  /** Ends the task. A publication that the operator asked for must be seen at the service. */
  finish(ending: Ending, errand = this.errand): void {
    const isCommand = errand === 'publish' || errand === 'replace'
    const isUnseen = isCommand && 'isSettled' in ending && !ending.isSettled
    const end = isUnseen ? { error: new Refusal('postern_key_unpublished') } : ending
    this.set({ task: { step: 'idle' } })
    this.effects.push({ kind: 'ended', ...end })
  }

  /** @param detail for operators */
  become(state: PublicationState, detail: string): void {
    if (this.life.publication !== state) this.log('debug', { state }, 'the bot’s key')
    this.set({ publication: state })
    this.effects.push({ kind: 'state', state, detail })
  }

  /** The service shows the active key. */
  becomeShown(): void {
    const state = stateWhileShown(this.facts)
    const isExpired = state === 'expired'
    this.become(state, isExpired ? 'phones seal nothing to it any more' : 'the key is published')
  }

  /** A step of the rotation under way, for people. @param waitMs until the next attempt */
  showRotation(phase: RotationPhase, detail: string, waitMs: number | null = null): void {
    if (this.life.rotation.current === null) return
    this.effects.push({ kind: 'rotation-step', phase, detail, waitMs })
  }

  /** The outcome of an attempt at a rotation, where one is under way. */
  report(outcome: RotationOutcome): void {
    if (this.life.rotation.current === null) return
    this.effects.push({ kind: 'rotation-attempt', outcome })
  }

  log(level: 'debug' | 'info' | 'warn', fields: Record<string, unknown>, message: string): void {
    this.effects.push({ kind: 'log', level, fields, message })
  }
}

/** The code of an error for log and status; others have none. */
export const codeOf = (error: unknown): string =>
  error instanceof PosternError ? error.code : 'failed'

/** What the service refuses a call with (spec, Errors); another status proves nothing. */
const REFUSED_WITH = [400, 401, 403, 404, 409, 410, 413, 429]

/** Whether the service certainly did not do what it was asked for. */
export const isRefused = (error: unknown): boolean =>
  error instanceof ServiceError && REFUSED_WITH.includes(error.status)

/** How long the service asks to wait, in ms. */
export const retryAfterMs = (error: unknown): number =>
  error instanceof ServiceError ? (error.retryAfterSeconds ?? 0) * 1000 : 0
