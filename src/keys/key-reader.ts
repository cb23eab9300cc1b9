/** Reads own keys from rows of the store. */
import { KeyHolderUnavailableError, OperatorError, Refusal } from '../errors.ts'
import type { Engine, UnlockedKey } from '../openpgp/index.ts'
import { fromRow } from '../kernel/index.ts'
import type { Memory, OwnKeyRecord, OwnKeyRow, Clocks } from '../kernel/index.ts'
import { doesNotOpen, exchanged, holderAway } from './keyring-refusals.ts'

export function keyReader(memory: Memory, engine: Engine, clocks: Clocks) {
  /**
   * A key that is published, or will be. Only the locked part is proved to be ours: an attacker
   * with write access to the file could change the rest of the row, which must agree with it.
   */
  async function inUse(row: OwnKeyRow): Promise<OwnKeyRecord> {
    const unlocked = await unlock(row)
    const { fingerprint, endsMs, notBeforeMs } = await judge(row)
    clocks.passed(notBeforeMs)
    const named = [row.fingerprint, fingerprint ?? row.fingerprint]
    if (named.some((one) => one !== unlocked.fingerprint)) throw exchanged(row.fingerprint)
    const { fingerprints } = unlocked
    return fromRow(row, { unlocked, endsMs, fingerprints })
  }

  /** The status of a certificate of ours; `endsMs` is 0 for one that has expired. */
  async function judge({ certificate }: Pick<OwnKeyRow, 'certificate'>) {
    const judged = await engine.judge(certificate)
    return { ...judged, endsMs: judged.unusable === 'expired' ? 0 : judged.expiresMs }
  }

  async function unlock({ locked }: OwnKeyRow): Promise<UnlockedKey> {
    const unlocking = engine.unlock(locked, memory.masterSecret ?? '')
    return await unlocking.catch((cause: unknown) => {
      if (cause instanceof OperatorError) throw cause
      throw cause instanceof KeyHolderUnavailableError ? holderAway(cause) : doesNotOpen(cause)
    })
  }

  /** A key that signs no more. @param o `isOpening`: messages that arrive late are opened with it */
  async function old(row: OwnKeyRow, { isOpening }: { isOpening: boolean }): Promise<OwnKeyRecord> {
    const unlocked = isOpening ? await unlock(row) : null
    const fingerprints = unlocked?.fingerprints ?? (await judge(row)).encryptionKeys
    return fromRow(row, { unlocked, endsMs: Infinity, fingerprints })
  }

  /** A key that another sidecar has changed. @param known as it was before */
  async function changed(row: OwnKeyRow, known: OwnKeyRecord | undefined): Promise<OwnKeyRecord> {
    if (known?.unlocked != null && row.state !== 'destroyed') {
      return fromRow(row, { ...known, unlocked: known.unlocked })
    }
    known?.unlocked?.bytes.fill(0)
    if (row.state !== 'destroyed') return await inUse(row).catch(refuseLocked)
    const fingerprints = known?.fingerprints ?? (await judge(row)).encryptionKeys
    return fromRow(row, { unlocked: null, endsMs: Infinity, fingerprints })
  }

  return { inUse, judge, old, changed }
}

/** Another sidecar keeps keys under a protection that this one was not started with. */
function refuseLocked(cause: unknown): never {
  throw new Refusal('postern_locked', 'a key of another sidecar does not open here', { cause })
}
