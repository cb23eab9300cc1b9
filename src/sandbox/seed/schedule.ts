import type { ControlContext, StepError } from '../control/operation.ts'
import type { Control } from '../control/table.ts'
import type { RecordKind } from '../persistence/persistence.ts'
import type { ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { actionInput, type ActionName } from './actions.ts'
import { replaceReferences } from './walk.ts'

/** An action of a seed's schedule, with ids in the place of names. */
export interface ScheduledStep {
  atMs: number
  action: ActionName
  /** Messages may still be `last`, or `last by ID`; they are resolved when the step is due. */
  input: Record<string, unknown>
}

type StoredStep = Omit<ScheduledStep, 'action'> & { deed: ActionName }

/** How steps are stored: files of the first version call the action `deed`. */
const STEP_KIND: RecordKind<ScheduledStep> = {
  name: 'step',
  write: ({ action, ...rest }): StoredStep => ({ ...rest, deed: action }),
  read: (stored) => {
    const { deed, ...rest } = stored as StoredStep
    return { ...rest, action: deed }
  },
}

/** The scheduled steps of a world, on its clock. Remaining steps are stored. */
export class Schedule {
  readonly errors: ControlContext['schedule']['errors'][number][] = []
  readonly #world: World
  readonly #steps: Map<number, ScheduledStep>

  constructor(world: World) {
    this.#world = world
    this.#steps = world.persistence.map(STEP_KIND)
  }

  /** How many steps are left. */
  get left(): number {
    return this.#steps.size
  }

  add(step: ScheduledStep): void {
    this.#steps.set(this.#steps.size + 1, step)
  }

  /** Moves every step that is left into the future by milliseconds. */
  postpone(ms: number): void {
    for (const step of this.#steps.values()) step.atMs += ms
  }

  #next(): [number, ScheduledStep] | undefined {
    const [first, ...others] = this.#steps
    return others.reduce(
      (next, other) => (other[1].atMs < (next?.[1].atMs ?? 0) ? other : next),
      first,
    )
  }

  /**
   * Performs the steps that are left, each when it is due, until the world closes. Never rejects.
   * @param onError called for each step that fails
   */
  async run(control: Control, onError: (error: StepError) => void): Promise<void> {
    const { clock, closing, background, persistence } = this.#world
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [n, step] = next
      const waitMs = Math.max(step.atMs - clock.now(), 0)
      if (!(await clock.wait(waitMs, closing.signal))) break
      await background.run(async () => {
        const reason = await this.#perform(control, step)
        if (reason !== null) {
          const error = { atMs: step.atMs, action: step.action, reason }
          this.errors.push({ n: this.errors.length + 1, ...error })
          onError(error)
        }
        this.#steps.delete(n)
        this.#world.emit({ kind: 'step', action: step.action, reason })
        await persistence.flush().catch(() => undefined)
      })
    }
  }

  /** Gives why it failed, or null. */
  async #perform(control: Control, { action, input }: ScheduledStep): Promise<string | null> {
    const chat = this.#world.chats.get(Number(input['chatId']))
    try {
      const withIds = replaceReferences(actionInput(action), input, ({ kind, name }) =>
        kind === 'message' ? newestMessageId(chat, /\d+$/.exec(name)?.[0]) : name,
      )
      await (control[action] as (input: object) => Promise<unknown>)(withIds)
      return null
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : 'it failed'
    }
  }
}

/** @throws Error when there is none */
function newestMessageId(chat: ChatState | undefined, authorId: string | undefined): number {
  const messages = [...(chat?.messages.values() ?? [])]
  const newest = messages.findLast(
    ({ kind, fromId }) =>
      kind === 'user' && (authorId === undefined || fromId === Number(authorId)),
  )
  if (newest === undefined) throw new Error('there is no such message')
  return newest.id
}
