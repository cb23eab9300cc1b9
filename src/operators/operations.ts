import { z } from 'zod'
import { bindCalls, type Calls } from '../util/operation.ts'
import { BACKUPS } from './backups.ts'
import { CHATS } from './chats.ts'
import { CLIENTS } from './clients.ts'
import { KEYS } from './keys.ts'
import { MESSAGES } from './messages.ts'
import { nothing, operation, type OperationParts } from './operation.ts'
import { OUTBOX } from './outbox.ts'
import { PEOPLE } from './people.ts'
import { ROTATION } from './rotation.ts'
import { SECRETS } from './secrets.ts'
import { SAFETY_NUMBERS } from './safety-numbers.ts'
import { TRUST } from './trust.ts'

/** The operations of a sidecar, by name. */
export const OPERATIONS = {
  /** How the sidecar is doing. */
  status: operation(nothing, ({ status }) => status()),
  /** What the doctor finds in everything, or in the store alone. */
  check: operation(
    z.strictObject({ about: z.enum(['everything', 'store']) }),
    ({ check }, { about }) => check(about),
  ),
  ...KEYS,
  ...ROTATION,
  ...SECRETS,
  ...BACKUPS,
  ...CHATS,
  ...TRUST,
  ...SAFETY_NUMBERS,
  ...PEOPLE,
  ...MESSAGES,
  ...CLIENTS,
  ...OUTBOX,
}

/** The operations as one calls them: in this process, or over the control socket. */
export type Operations = Calls<typeof OPERATIONS>

/** Binds the operations to the parts of a sidecar. */
export const bindOperations = (parts: OperationParts): Operations => bindCalls(OPERATIONS, parts)
