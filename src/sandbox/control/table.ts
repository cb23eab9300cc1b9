import type { z } from 'zod'
import { deriveCalls, type AnyOperation, type Calls } from '../../rpc/operation.ts'
import { BACKSTAGE } from './backstage.ts'
import { BOTS } from './bots.ts'
import { CHATS } from './chats.ts'
import { MEDIA } from './media.ts'
import type { Backstage } from './operation.ts'
import { PEOPLE } from './people.ts'
import { WORDS } from './words.ts'

/** Every control operation, by name. */
export const OPERATIONS = { ...PEOPLE, ...BOTS, ...CHATS, ...WORDS, ...MEDIA, ...BACKSTAGE }

/** The operations as one calls them, in this process or over the control listener. */
export type Control = Calls<typeof OPERATIONS>

export type OperationName = keyof typeof OPERATIONS

/** The operations by name, for whoever walks them. */
export const ALL_OPERATIONS: readonly [OperationName, AnyOperation<Backstage, z.ZodObject>][] =
  Object.entries(OPERATIONS) as [OperationName, AnyOperation<Backstage, z.ZodObject>][]

/** Binds the operations to a world. What one changed is kept before it gives its result. */
export function bindControl(on: Backstage): Control {
  return deriveCalls(OPERATIONS, async (name, input) => {
    const { run } = OPERATIONS[name] as AnyOperation<Backstage>
    const result = await run(on, input as never)
    await on.world.keep.settled()
    return result
  })
}
