/** What an operator can ask of a sidecar, running or not. Times are ISO 8601 in UTC. */
import type { ExplainOperations } from './explain.ts'
import type { TrustOperations } from './trust.ts'

import type { Method } from '../store/protection.ts'

/** Why the sidecar is not ready, or what an operator should look at. */
export interface Reason {
  code: string
  message: string
  hint: string
  /** ms since epoch */
  sinceMs: number
}

/** What `/status` says, and `postern status` shows to people. */
export interface StatusReport {
  version: string
  pid: number
  startedAt: string
  ready: boolean
  reasons: Reason[]
  /** Null until the service has answered `GET /me` once. */
  bot: { id: number; username: string; mode: string; fingerprint: string | null } | null
  /** The key that signs; null when there is none. */
  key: { fingerprint: string; state: string; publishedAt: string | null } | null
  /** The rotation under way, or the last one since the start. */
  rotation: RotationReport | null
  upstream: { url: string; reachable: boolean }
  chats: { known: number; latched: number; refused: number }
  /** The bot's own, to which the sidecar delivers; null when none is set. */
  webhook: {
    origin: string
    failures: number
    lastError: string | null
    nextAttemptAt: string | null
  } | null
  /** How many updates wait at the service, as it last said, and how long the oldest; null: unknown. */
  updates: { waiting: number | null; oldestSeconds: number | null }
  /** Calls of the sidecar's own. */
  calls: { usedLastMinute: number; limit: number }
}

/** One of the bot's own keys. */
export interface KeyRow {
  fingerprint: string
  /** `pending`, `active`, `retired` or `destroyed` */
  state: string
  createdAt: string
  publishedAt: string | null
  retiredAt: string | null
  destroyedAt: string | null
  /** Until when it opens; null: without end, or not at all when it is destroyed. */
  opensUntil: string | null
  /** Whether it opens now. */
  opens: boolean
  /** What it has opened so far, and when it last did. */
  openedMessages: number
  openedMedia: number
  lastOpenedAt: string | null
}

/** How a rotation goes. */
export interface RotationReport {
  /** Fingerprints of the key before and of the new one. */
  from: string
  to: string
  /** `made`, `holding`, `publishing`, `confirming`, `waiting`, `done` or `abandoned` */
  phase: string
  startedAt: string
  endedAt: string | null
  /** Attempts at publishing since the sidecar started. */
  attempts: number
  /** What is waited for, for people. */
  detail: string
  nextAttemptAt: string | null
}

/** What deleting a key would do. */
export interface DeletionReport {
  key: KeyRow
  /** What becomes unreadable, for people, a line each. */
  loses: string[]
  /** What cannot be promised of its destruction, a line each. */
  unsure: string[]
}

/** What became of a key; `message` is for people. */
export interface KeyDone {
  fingerprint: string
  state: string
  message: string
}

/** What is known of a chat. */
export interface ChatRow {
  id: number
  kind: string | null
  /** As the service last said it. */
  mode: string | null
  latched: boolean
  /** Readable text for it was refused since it was last lifted. */
  refused: boolean
}

/** Which chats may take readable text again. */
export type Lift = { chatIds: number[] } | { pending: true } | { private: true }

/** What became of an armored message; `verdict` is one of DESIGN's, or why it was not opened. */
export interface OpenReport {
  opened: boolean
  text?: string | undefined
  verdict: string
  reason?: string | undefined
  /** Fingerprint of whoever signed, when that is known. */
  signer?: string | undefined
}

/** One line of `postern check`. */
export interface CheckLine {
  name: string
  level: 'pass' | 'warn' | 'fail'
  message: string
  hint?: string | undefined
}

/** Each rejects with a PosternError when it is refused or fails. */
export interface Operations extends TrustOperations, ExplainOperations {
  status(): Promise<StatusReport>
  keyList(): Promise<KeyRow[]>
  /** @param fingerprint the active key when absent */
  keyShow(
    fingerprint?: string,
  ): Promise<{ fingerprint: string; state: string; certificate: string }>
  /** @param o `replace` puts ours in place of a key that is not ours */
  keyPublish(o: { replace: boolean }): Promise<KeyDone>
  /** Begins a rotation, or joins the one under way; `keyRotation` tells how it goes on. */
  keyRotate(): Promise<RotationReport>
  keyRotation(): Promise<RotationReport | null>
  /** Abandons a rotation before the service is told of the new key. */
  keyAbandon(): Promise<RotationReport>
  /** What deleting a key would do; refuses like `keyDelete`. */
  keyDeletion(fingerprint: string): Promise<DeletionReport>
  /** Destroys the secret of an old key for good. */
  keyDelete(fingerprint: string): Promise<{ fingerprint: string; message: string }>
  /** Makes the bot's first key and does not publish it. */
  keyGenerate(): Promise<KeyDone>
  /** @param o `fingerprint` the active key when absent; `passphrase` locks what is given */
  keyExport(o: {
    fingerprint?: string | undefined
    passphrase: string
  }): Promise<{ fingerprint: string; state: string; armored: string }>
  /** @param o `file` base64 of an exported secret key; `passphrase` opens it, null without one */
  keyImport(o: { file: string; passphrase: string | null }): Promise<KeyDone>
  /** Moves the store. @param o `passphrase` the new one, null for the other protections */
  keyProtect(o: {
    protection: Method
    passphrase: string | null
  }): Promise<{ protection: Method; message: string }>
  /** @returns the path of a copy in `dataDir`, for the caller to take away */
  backupCreate(): Promise<{ file: string; protection: Method | null }>
  /** Lets a restored store run. @param o `isLatest`: nothing ran after the backup was taken */
  backupAccept(o: { isLatest: boolean }): Promise<{ message: string }>
  chatList(): Promise<ChatRow[]>
  chatAllowReadable(lift: Lift): Promise<{ lifted: number[]; message: string }>
  /** @param armored one armored message, at most 1 MiB */
  open(armored: string): Promise<OpenReport>
}

/** What the control socket offers: the operations, and the doctor's look from inside. */
export interface Controlled extends Operations {
  check(): Promise<CheckLine[]>
}
