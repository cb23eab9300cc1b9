import { bindCalls, type Calls } from '../rpc/operation.ts'
import { BACKUPS } from './backups.ts'
import { CHATS } from './chats.ts'
import { EXPLAIN } from './explain.ts'
import { KEYS } from './keys.ts'
import type { Parts } from './operation.ts'
import { ROTATION } from './rotation.ts'
import { SECRETS } from './secrets.ts'
import { SIDECAR } from './sidecar.ts'
import { TRUST } from './trust.ts'

/** What an operator can ask of a sidecar, by name. */
export const OPERATIONS = {
  ...SIDECAR,
  ...KEYS,
  ...ROTATION,
  ...SECRETS,
  ...BACKUPS,
  ...CHATS,
  ...TRUST,
  ...EXPLAIN,
}

/** The operations as one calls them: in this process, or over the control socket. */
export type Operations = Calls<typeof OPERATIONS>

/** Binds the operations to the parts of a sidecar. */
export function bindOperations(parts: Parts): Operations {
  return bindCalls(OPERATIONS, parts)
}
