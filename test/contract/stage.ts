import type { Control } from '../../src/sandbox/control/table.ts'
import type { stageOf } from './ways/control-stage.ts'
import type { ownerOf } from './ways/owner.ts'
import type { personOf } from './ways/person.ts'

/**
 * The partner of the cases. `direct`: the sandbox with an open bot. `protected`: through
 * the sidecar with a protected bot. `open`: through the sidecar with `key.publish: false`.
 * `live`: any base URL and token.
 */
export type Way = 'direct' | 'protected' | 'open' | 'live'

/** The service's value, and the sidecar's where it differs by design. */
export type PerWay<T> = { service: T } & Partial<Record<Way, T>>

/** A person with a phone, which seals and opens as real ones do. */
export type Person = ReturnType<typeof personOf>

/** The bot's owner, in the console of the chat app. */
export type Owner = ReturnType<typeof ownerOf>

/**
 * A group, unless `kind` is given, of alice, who owns it, bob, other `members`, and the bot, unless
 * `bot` is false. Its history is open by default as in `group()`.
 */
export type RoomOptions = Partial<Omit<Input<'addRoom'>, 'historyVisible'>> & {
  readable?: boolean
  bot?: false
}

/** `deletes`: the delete-messages right, for an administrator. */
export type MembershipOptions = Omit<Input<'setMembership'>, 'chatId' | 'userId' | 'rights'> & {
  deletes?: boolean
}

type Input<Name extends keyof Control> = Parameters<Control[Name]>[0]

/** The means of a case, which finds the bot swept, its queue empty and its windows free. */
export type Stage = ReturnType<typeof stageOf>
