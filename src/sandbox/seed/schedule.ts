import type { Control } from '../control/table.ts'
import { plainKind } from '../persistence/persistence.ts'
import type { ChatState } from '../state.ts'
import type { World } from '../world.ts'
import { actionInput, referencesIn, type ActionName } from './actions.ts'

/** One thing of a script, when it is to happen and with ids for names. */
export interface ScheduledStep {
  atMs: number
  deed: ActionName
  /** Messages may still be `last`, or `last by ID`: they are looked for when the time comes. */
  input: Record<string, unknown>
}

/** What could not happen, and why. */
export interface StepError {
  atMs: number
  deed: ActionName
  why: string
}

/** The script of a world: what is to happen in it, by its clock. What is left of it is kept. */
export class Schedule {
  readonly mishaps: StepError[] = []
  readonly #world: World
  readonly #steps: Map<number, ScheduledStep>
  #control: Control | null = null
  #told: (mishap: StepError) => void = () => undefined
  #acted = Promise.withResolvers<void>()

  constructor(world: World) {
    this.#world = world
    this.#steps = world.persistence.map(plainKind<ScheduledStep>('step'))
  }

  /** How many steps are still to come. */
  get left(): number {
    return this.#steps.size
  }

  add(step: ScheduledStep): void {
    this.#steps.set(this.#steps.size + 1, step)
  }

  /** Lets it begin, or go on. @param told of each thing that could not happen */
  start(control: Control, told: (mishap: StepError) => void): void {
    this.#control = control
    this.#told = told
    void this.#run()
  }

  /** Resolves when everything that is due by now has happened. */
  async caughtUp(): Promise<void> {
    while (this.#isDue() && !this.#world.closing.signal.aborted) await this.#acted.promise
  }

  #isDue(): boolean {
    const [, next] = this.#next() ?? []
    return this.#control !== null && next !== undefined && next.atMs <= this.#world.clock.now()
  }

  #next(): [number, ScheduledStep] | undefined {
    const [first, ...others] = this.#steps
    return others.reduce(
      (next, other) => (other[1].atMs < (next?.[1].atMs ?? 0) ? other : next),
      first,
    )
  }

  async #run(): Promise<void> {
    const { clock, closing } = this.#world
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [n, step] = next
      const waitMs = Math.max(step.atMs - clock.now(), 0)
      if (!(await clock.wait(waitMs, closing.signal))) break
      await this.#act(step)
      this.#steps.delete(n)
      await this.#world.persistence.flush().catch(() => undefined)
      this.#acted.resolve()
      this.#acted = Promise.withResolvers()
    }
    this.#acted.resolve()
  }

  async #act({ atMs, deed, input }: ScheduledStep): Promise<void> {
    try {
      const act = this.#control?.[deed] as (given: object) => Promise<unknown>
      await act(this.#withMessages(deed, input))
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it failed'
      const mishap = { atMs, deed, why }
      this.mishaps.push(mishap)
      this.#told(mishap)
    }
  }

  #withMessages(deed: ActionName, input: Record<string, unknown>): Record<string, unknown> {
    const found = { ...input }
    for (const [field, of] of referencesIn(actionInput(deed))) {
      const meant = input[field]
      if (of !== 'message' || typeof meant !== 'string') continue
      const chat = this.#world.chats.get(Number(input['chatId']))
      found[field] = newestIn(chat, /\d+$/.exec(meant)?.[0])
    }
    return found
  }
}

/** @throws Error when there is none */
function newestIn(chat: ChatState | undefined, byId: string | undefined): number {
  const messages = [...(chat?.messages.values() ?? [])]
  const newest = messages.findLast(
    ({ kind, fromId }) => kind === 'user' && (byId === undefined || fromId === Number(byId)),
  )
  if (newest === undefined) throw new Error('there is no such message')
  return newest.id
}
