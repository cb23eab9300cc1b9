/** One of the bot's own keys, as a value; its state in the store. */
import type { UnlockedKey } from '../../openpgp/index.ts'
import type { OwnKeyRow } from '../memory.ts'

/** One of the bot's own keys. Times are ms since the epoch. */
export interface OwnKeyRecord extends Omit<OwnKeyRow, 'locked'> {
  /** Of all its keys that are known, the primary key first. */
  fingerprints: readonly string[]
  /** When it expires, ms since the epoch; Infinity: never; 0: before the start. */
  endsMs: number
  /** Null when it is destroyed, or one of too many old ones. */
  unlocked: UnlockedKey | null
}

/** A key that can sign and open. */
export type ReadyKey = OwnKeyRecord & { unlocked: UnlockedKey }

/** The key of a row of the store. @param o `fingerprints` of its subkeys */
export function fromRow(
  row: OwnKeyRow,
  { unlocked, endsMs, fingerprints }: Pick<OwnKeyRecord, 'unlocked' | 'endsMs' | 'fingerprints'>,
): OwnKeyRecord {
  const { locked: _locked, ...known } = row
  const all = [...new Set([row.fingerprint, ...fingerprints])]
  return { ...known, fingerprints: all, endsMs, unlocked }
}

/** Whether the time of a key is over. One that a message was sealed to before still opens it. */
export const isExpired = ({ endsMs }: OwnKeyRecord, nowMs: number): boolean => nowMs >= endsMs

export const isReady = (key: OwnKeyRecord | undefined): key is ReadyKey =>
  key !== undefined && key.unlocked !== null

/** The bot's own keys, as far as a verdict or a choice of recipients asks for them. */
export interface OwnKeys {
  /** Every key that ever was, the destroyed ones too, newest first. */
  readonly all: readonly OwnKeyRecord[]
  /** Fingerprints of all keys that ever were ours, primary keys and subkeys. */
  readonly fingerprints: ReadonlySet<string>
  /** The keys that open messages now, the likeliest first. */
  readonly unlocked: UnlockedKey[]
  /** When the first key was published, ms since the epoch; null when none was. */
  readonly firstPublishedAtMs: number | null
}
