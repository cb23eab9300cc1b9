import { ADMIN } from './admin.ts'
import { BOTS } from './bots.ts'
import { CHATS } from './chats.ts'
import { MEDIA } from './media.ts'
import type { AnyOperation, ControlContext } from './operation.ts'
import { PEOPLE } from './people.ts'
import { MESSAGES } from './messages.ts'

/** Every control operation, by name. */
export const OPERATIONS = { ...PEOPLE, ...BOTS, ...CHATS, ...MESSAGES, ...MEDIA, ...ADMIN }

type Table = typeof OPERATIONS

/** The operations as one calls them, in this process or over the control listener. */
export type Control = {
  [Name in keyof Table]: Table[Name]['run'] extends (on: ControlContext, input: infer I) => infer R
    ? (input: I) => Promise<Awaited<R>>
    : never
}

export type OperationName = keyof Table

/** All operations with their names, to iterate over. */
export const ALL_OPERATIONS = Object.entries(OPERATIONS) as [OperationName, AnyOperation][]

/** Binds the operations to a world. An operation gives its result once its changes are written. */
export function bindControl(on: ControlContext): Control {
  const bound = ALL_OPERATIONS.map(([name, { run }]) => [
    name,
    async (input: object): Promise<unknown> => {
      const result = await run(on, input as never)
      await on.world.persistence.flush()
      return result
    },
  ])
  return Object.fromEntries(bound) as Control
}
