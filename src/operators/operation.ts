import { z } from 'zod'
import type { Clients } from '../clients/clients.ts'
import type { Journal, KnownChats, People, Trust } from '../kernel/index.ts'
import type { Modes } from '../service/lookups/modes.ts'
import type { StoreMemory } from '../store/memory.ts'
import type { Outcomes } from '../store/outcomes.ts'
import type { Directory } from '../service/lookups/directory.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { KeyUsage } from '../store/key-usage.ts'
import type { Names } from '../store/names.ts'
import type { Engine } from '../openpgp/index.ts'
import type { Publication } from '../keys/publication.ts'
import type { Transfer } from '../keys/transfer.ts'
import type { OutboxEntries } from '../outbox/entries.ts'
import type { CheckLine } from './doctor/check-line.ts'
import { operationsOn } from '../util/operation.ts'
import type { SecretWrapper } from '../store/protection.ts'
import type { Store } from '../store/store.ts'
import type { Forgotten } from '../store/forgotten.ts'
import type { JournalHeads } from '../keys/journal-heads.ts'
import type { ChatPreview } from '../translate/chat-preview.ts'
import type { OpenReport, StatusReport } from './reports.ts'

/** The parts of a sidecar that operations work on, whether it runs or not. */
export interface OperationParts {
  store: Store
  keyring: Keyring
  keyUsage: KeyUsage
  transfer: Transfer
  /** What wraps the secret of the store; null where the settings name no command. */
  wrapper: SecretWrapper | null
  /** Null when the sidecar manages no key. */
  publication: Publication | null
  knownChats: KnownChats
  /** Whether readable text is forbidden in a chat, by the sidecar's memory. */
  mustSeal: (chatId: number) => boolean
  modes: Modes
  outcomes: Outcomes
  trust: Trust
  people: People
  names: Names
  journal: Journal
  journalHeads: JournalHeads
  forgotten: Forgotten
  memory: StoreMemory
  engine: Pick<Engine, 'judge' | 'readSigned' | 'readKeyring' | 'verify'>
  clients: Clients
  outbox: OutboxEntries
  directory: Directory
  /** Null while no token names it, and the service was not asked. */
  botId: () => number | null
  /** Names of the copies of the store that upgrades left beside it, with keys in them. */
  storeCopies: () => string[]
  /** Asks the service now which key it shows for the bot; null when none. */
  publishedKey: () => Promise<string | null>
  /** Called when the operator allowed readable text in private chats again. */
  onPrivateReadable: () => void
  /** Previews a text for a chat, once the bot's key is published. */
  previewChat: (chatId: number) => Promise<ChatPreview>
  status: () => StatusReport
  check: (about: 'everything' | 'store') => Promise<CheckLine[]>
  open: (armored: string) => Promise<OpenReport>
}

/** Describes an operation. Its `run` rejects with a PosternError when it refuses or fails. */
export const operation = operationsOn<OperationParts>()

export const nothing = z.strictObject({})
export const ChatInput = z.strictObject({ chatId: z.int() })
export const PersonInput = z.strictObject({ userId: z.int() })
export const fingerprint = z.string().max(64)
export const passphrase = z.string().min(1).max(65_536)

/** ISO 8601 in UTC; null stays null. */
export function iso<T extends number | null>(ms: T): T extends null ? null : string
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
