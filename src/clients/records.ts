/** Records of the clients of the bot's door, and the memory of them. */
import type { KeptRecords, Memory, Records } from '../kernel/index.ts'

/** A right to certain calls of the bot's door. */
export type Right = 'read' | 'send' | 'edit' | 'delete' | 'answer' | 'typing'

/** The rights of a client, and where they count. */
export interface ClientScope {
  may: readonly Right[]
  /** Chats by id, or all. */
  chats: readonly (number | 'all')[]
  /** People whose private chats count besides. */
  persons: readonly number[]
  /** UTF-16 units of one text; null: only the limit of the service. */
  maxChars: number | null
  /** Its messages may have buttons. */
  buttons: boolean
  /** Whether its sends and edits are made later where it asks for that, or always. */
  outbox: 'asked' | 'always'
  /** `read` covers files. */
  files: boolean
  /** So many sends and edits in `perMs`; null: any number. */
  rate: { calls: number; perMs: number } | null
  /** It may make no call until the operator confirms it: a backup was restored. */
  isSuspended?: true
  /** ms since the epoch; null: without end. */
  expiresAtMs: number | null
}

/** A client of the bot's door, beside the bot itself. */
export interface Client extends ClientScope {
  name: string
  /** SHA-256 of its token, hexadecimal; or `certificate` and that of its TLS certificate. */
  credential: string
  /** Null for one of the settings. */
  createdAtMs: number | null
}

export interface ClientRecords extends KeptRecords<Client> {
  save(client: Client): Promise<void>
  remove(name: string): Promise<void>
  /** When it may send next, ms since the epoch; 0 before its first send. */
  nextAtMs(name: string): Promise<number>
  /** @throws OvertakenError when it is not `beforeMs` any more */
  setNextAt(name: string, atMs: number, beforeMs: number): Promise<void>
}

/** The memory of clients, which the store keeps beside the kernel's records. */
export type ClientMemory = Memory<Records & { readonly clients: ClientRecords }, 'clients'>
