import type { Envelope } from '../../api/envelope.ts'
import { deriveCalls, type Calls } from '../../util/operation.ts'
import { splitAddress } from '../http/control-token.ts'
import { ADMIN } from './admin.ts'
import { BOTS } from './bots.ts'
import { CHATS } from './chats.ts'
import { MEDIA } from './media.ts'
import { ControlError, type AnyControlOperation, type ControlContext } from './operation.ts'
import { PEOPLE } from './people.ts'
import { RENAMES } from './handles.ts'
import { EDITS, MESSAGES } from './messages.ts'
import { PHONES } from './phones.ts'
import { SNAPSHOTS, WORLDS } from './worlds.ts'

/** Every control operation, by name. */
export const OPERATIONS = {
  ...PEOPLE,
  ...BOTS,
  ...CHATS,
  ...RENAMES,
  ...MESSAGES,
  ...EDITS,
  ...MEDIA,
  ...PHONES,
  ...ADMIN,
  ...SNAPSHOTS,
  ...WORLDS,
}

/** The operations as one calls them, in this process or over the control listener. */
export type Control = Calls<typeof OPERATIONS>

export type OperationName = keyof typeof OPERATIONS

/** The operations by name, to iterate over. */
export const ALL_OPERATIONS = Object.entries(OPERATIONS) as readonly [
  OperationName,
  AnyControlOperation,
][]

/**
 * Binds the operations to the world that there is when one is called. An operation gives its result
 * once its changes are written.
 */
export const bindControl = (current: () => ControlContext): Control =>
  deriveCalls(OPERATIONS, (name, input) => runOperation(current(), name, input))

/** Runs an operation; gives its result once its changes are written. @param input not validated */
export async function runOperation(on: ControlContext, name: OperationName, input: object) {
  const { run } = OPERATIONS[name] as AnyControlOperation
  try {
    const result = await run(on, input as never)
    await on.world.persistence.flush()
    return result
  } catch (error) {
    if (!on.world.closing.signal.aborted) throw error
    throw new ControlError('the world was closed, reset or restored meanwhile; call again')
  }
}

/**
 * The same operations over a control listener, for programs outside the sandbox's process.
 * @param controlUrl printed by `postern sandbox --json`, with its token if it has one
 * @throws ControlError (each operation) when the sandbox refuses
 */
export function createControlClient(controlUrl: string): Control {
  const { url, headers } = splitAddress(controlUrl)
  return deriveCalls(OPERATIONS, async (name, input) => {
    const answer = await fetch(`${url}/${name}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    })
    const envelope = (await answer.json()) as Envelope
    if (envelope.ok) return envelope.result
    throw new ControlError(envelope.error.message)
  })
}
