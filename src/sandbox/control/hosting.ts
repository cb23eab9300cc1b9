import type { ChatKind, ChatMode } from '../../api/chat.ts'
import type { EventLog } from '../events/log.ts'

/** A world as it lives on across restores. */
export interface WorldHost {
  /** What happened, across restores too. */
  readonly events: EventLog
  /** Aborted when the world ends for good. */
  readonly ended: AbortSignal
  /** Gives the names of the snapshots, oldest first. */
  readonly snapshots: readonly string[]
  /** Takes a snapshot; one of the same name is replaced. Gives its name. */
  snapshot(name?: string): string
  /** @throws ControlError when there is no snapshot of that name */
  removeSnapshot(name: string): void
  /** Puts the world back as it was at a snapshot. @throws ControlError when there is none of that name */
  restore(name: string): Promise<void>
  /** Puts the world back as it was when it was ready. */
  reset(): Promise<void>
}

/** What begins with a world beside the others. */
export interface WorldInput {
  name?: string | undefined
  world?: 'home' | 'empty' | undefined
  /** As a seed file holds it, parsed; instead of `world`. */
  seed?: object | undefined
  clock?: 'running' | 'still' | undefined
  rates?: 'spec' | 'off' | undefined
  webhooks?: 'public' | 'local' | undefined
}

/** A world as `postern sandbox --json` and `addWorld` describe it. */
export interface WorldDescription {
  name: string
  /** Of its API, below the sandbox's own address. */
  path: string
  url: string
  controlUrl: string
  bots: { id: number; username: string; token: string }[]
  people: { id: number; username: string }[]
  chats: { id: number; kind: ChatKind; mode: ChatMode }[]
}

/** The worlds that one sandbox serves. */
export interface WorldList {
  /** Every world, the sandbox's own first. */
  list(): WorldDescription[]
  /** @throws ControlError when the name is taken or malformed, or the seed is refused */
  add(input: WorldInput): Promise<WorldDescription>
  /** Ends a world with all its calls. @throws ControlError when there is none, or it is the sandbox's own */
  remove(name: string): Promise<void>
}
