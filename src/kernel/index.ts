/** The only door of the kernel: what everybody else may use of it. */
export { loadKernel, type Kernel } from './load.ts'
export type { JudgingClock, KeyList, KeyLookups, ModeAnswer, ModeLookups, Time } from './lookups.ts'
export * from './memory.ts'
export { examine, isProtectedIn, isProtectedSince } from './opening/examine.ts'
export type * from './opening/examine.ts'
export { judgeFile, mayStillGive, type FileParts, type GivenVerdict } from './opening/file.ts'
export type { FoundMessage, MessagesOfUpdate } from './opening/find-messages.ts'
export { deliversText, finalOf, transientErrorIn, unexamined } from './opening/finding.ts'
export type * from './opening/finding.ts'
export { NamedMedia } from './opening/named-media.ts'
export { ReplayMemory } from './opening/replay-memory.ts'
export { strangerIn, whyStranger } from './opening/sender-rules.ts'
export { settle, stillStanding, type NumberedMessage, type Settled } from './opening/settle.ts'
export type { Judged } from './opening/signatures.ts'
export { delivers } from './opening/verdict.ts'
export type * from './opening/verdict.ts'
export {
  readyKey,
  remoteKeyStateOf,
  requirePublished,
  stateAtStart,
  stateWhileShown,
} from './own-key/key-state.ts'
export type * from './own-key/key-state.ts'
export {
  fromRow,
  isReady,
  type OwnKeyRecord,
  type OwnKeys,
  type ReadyKey,
} from './own-key/own-key.ts'
export {
  AFTER_ME,
  afterAttempt,
  commandRefusal,
  mayDiscard,
  publishableKey,
  type Attempt,
} from './own-key/publication-rules.ts'
export type { Certificates } from './people/certificates.ts'
export type { Policies } from './people/decisions.ts'
export type { Journal, TrustChange } from './people/journal.ts'
export type { People } from './people/people.ts'
export type { Person } from './people/person.ts'
export { chooseRecipients, recipientRules, recipientsOf, whyNot } from './people/recipients.ts'
export type * from './people/recipients.ts'
export type { Trust } from './people/trust.ts'
export { unobserved } from './sightings.ts'
export type * from './sightings.ts'
export { Unseen } from './unseen.ts'
export { bindPerson, correctKind, liftLatches, liftPrivateChats } from './wall/chat-decisions.ts'
export type { Clients } from './wall/clients.ts'
export { NEEDS, type ClientAct, type ClientCall, type Need } from './wall/may-client.ts'
export { ClearFields, type ClearField } from './wall/clear-fields.ts'
export { Freshness } from './wall/freshness.ts'
export { Guard, isOutbound, type Outbound, type PermitTarget, type Rule } from './wall/guard.ts'
export { KnownChats } from './wall/known-chats.ts'
export { Presses } from './wall/presses.ts'
