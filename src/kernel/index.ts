/** The only door of the kernel: what everybody else may use of it. */
export { loadKernel, type Kernel } from './load.ts'
export type { JudgingClock, KeyList, KeyLookups, ModeAnswer, ModeLookups, Time } from './lookups.ts'
export * from './memory.ts'
export {
  examine,
  isProtectedIn,
  isProtectedSince,
  type Arrival,
  type ExamineParts,
} from './opening/examine.ts'
export { judgeFile, mayStillGive, type FileParts, type GivenVerdict } from './opening/file.ts'
export type { FoundMessage, MessagesOfUpdate } from './opening/find-messages.ts'
export {
  deliversText,
  finalOf,
  transientErrorIn,
  unexamined,
  type ExaminedMessage,
  type MessageFinding,
} from './opening/finding.ts'
export { NamedMedia } from './opening/named-media.ts'
export { ReplayMemory } from './opening/replay-memory.ts'
export { strangerIn, whyStranger } from './opening/sender-rules.ts'
export { settle, stillStanding, type NumberedMessage, type Settled } from './opening/settle.ts'
export type { Judged } from './opening/signatures.ts'
export {
  delivers,
  type Reason,
  type Reasoned,
  type TransientError,
  type Verdict,
  type VerifyPolicy,
} from './opening/verdict.ts'
export {
  beginLife,
  requirePublished,
  type Action,
  type ActionResult,
  type Effect,
  type Errand,
  type Facts,
  type KeyEvent,
  type KeyLife,
  type PublicationState,
  type RemoteKeyState,
  type RotationOutcome,
  type RotationPhase,
} from './own-key/life.ts'
export { advance } from './own-key/machine.ts'
export {
  fromRow,
  isReady,
  type OwnKeyRecord,
  type OwnKeys,
  type ReadyKey,
} from './own-key/own-key.ts'
export type { Certificates } from './people/certificates.ts'
export type { Policies } from './people/decisions.ts'
export type { Journal, TrustChange } from './people/journal.ts'
export type { People } from './people/people.ts'
export type { Person } from './people/person.ts'
export {
  chooseRecipients,
  recipientRules,
  recipientsOf,
  whyNot,
  type RecipientParts,
  type RecipientRules,
  type Recipients,
  type Skipped,
} from './people/recipients.ts'
export type { Trust } from './people/trust.ts'
export {
  unobserved,
  type Readers,
  type SeenChat,
  type Sightings,
  type UnseenUpdates,
  type UpdateHead,
  type SeenUpdates,
} from './sightings.ts'
export { Unseen } from './unseen.ts'
export { bindPerson, correctKind, liftLatches, liftPrivateChats } from './wall/chat-decisions.ts'
export { ClearFields, type ClearField } from './wall/clear-fields.ts'
export { Freshness } from './wall/freshness.ts'
export { Guard, isOutbound, type Outbound, type PermitTarget, type Rule } from './wall/guard.ts'
export { KnownChats } from './wall/known-chats.ts'
export { Presses } from './wall/presses.ts'
