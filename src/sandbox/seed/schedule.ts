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
export function scheduleOf(world: World) {
  const errors: ControlContext['schedule']['errors'][number][] = []
  const steps = world.persistence.map<number, ScheduledStep>(STEP_KIND)

  const next = (): [number, ScheduledStep] | undefined =>
    [...steps].toSorted(([, a], [, b]) => a.atMs - b.atMs)[0]

  /** Gives why it failed, or null. */
  const perform = async (control: Control, { action, input }: ScheduledStep) => {
    const chat = world.chats.get(Number(input['chatId']))
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

  return {
    errors,
    /** How many steps are left. */
    get left() {
      return steps.size
    },
    add: (step: ScheduledStep): void => void steps.set(steps.size + 1, step),
    /** Moves every step that is left into the future by milliseconds. */
    postpone: (ms: number): void => {
      for (const step of steps.values()) step.atMs += ms
    },
    /**
     * Performs the steps that are left, each when it is due, until the world closes. Never rejects.
     * @param onError called for each step that fails
     */
    run: async (control: Control, onError: (error: StepError) => void): Promise<void> => {
      const { clock, closing, background, persistence } = world
      for (let due = next(); due !== undefined; due = next()) {
        const [n, step] = due
        const waitMs = Math.max(step.atMs - clock.now(), 0)
        if (!(await clock.wait(waitMs, closing.signal))) break
        await background.run(async () => {
          const reason = await perform(control, step)
          if (reason !== null) {
            const error = { atMs: step.atMs, action: step.action, reason }
            errors.push({ n: errors.length + 1, ...error })
            onError(error)
          }
          steps.delete(n)
          world.emit({ kind: 'step', action: step.action, reason })
          await persistence.flush().catch(() => undefined)
        })
      }
    },
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
