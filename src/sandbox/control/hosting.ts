import { z } from 'zod'
import type { EventLog } from '../events/log.ts'
import { LimitsInput } from '../limits.ts'
import { described } from '../openapi/schemas.ts'
import { text } from './fields.ts'
import { Account, ChatSummary } from './results.ts'

/** A world as it lives on across restores. */
export interface WorldHost {
  /** What happened, across restores too. */
  readonly events: EventLog
  /** Aborted when the world ends for good. */
  readonly ended: AbortSignal
  /** Gives the names of the snapshots, oldest first. */
  readonly snapshots: readonly string[]
  /** Makes a snapshot; one of the same name is replaced. Gives its name. */
  snapshot(name?: string): string
  /** @throws ControlError when there is no snapshot of that name */
  removeSnapshot(name: string): void
  /** Puts the world back as it was at a snapshot. @throws ControlError when there is none of that name */
  restore(name: string): Promise<void>
  /** Puts the world back as it was when it was ready. */
  reset(): Promise<void>
}

/** What begins with a world beside the others; `seed` is as a seed file holds it, parsed. */
export const WorldInput = z.strictObject({
  name: text.optional(),
  world: z.enum(['home', 'empty']).optional(),
  seed: z.looseObject({}).optional(),
  clock: z.enum(['running', 'still']).optional(),
  rates: z.enum(['spec', 'off']).optional(),
  limits: LimitsInput.optional(),
  webhooks: z.enum(['public', 'local']).optional(),
})
export type WorldInput = z.output<typeof WorldInput>

/** A world as `postern sandbox --json` and `addWorld` describe it. */
export const WorldDescription = described('HostedWorld', 'A world and where it is served.', {
  name: text,
  path: text.describe('of the world, below the addresses of the sandbox; empty for `main`'),
  url: text.describe('base URL of its API'),
  controlUrl: text,
  bots: z.array(z.object({ id: z.int(), username: text, token: text })),
  people: z.array(Account),
  chats: z.array(ChatSummary),
})
export type WorldDescription = z.output<typeof WorldDescription>

/** The worlds that one sandbox serves. */
export interface WorldList {
  /** Every world, the sandbox's own first. */
  list(): WorldDescription[]
  /** @throws ControlError when the name is in use or malformed, or the seed is refused */
  add(input: WorldInput): Promise<WorldDescription>
  /** Ends a world with all its calls. @throws ControlError when there is none, or it is the sandbox's own */
  remove(name: string): Promise<void>
}
