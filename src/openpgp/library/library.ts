/** openpgp.js in threads that can be killed: whatever is not done natively, and every last word. */
import { isOwnFailure } from '../../errors.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import type {
  Engine,
  NotOpened,
  Opened,
  SealRequest,
  Signed,
  SignedAtLength,
  SignatureResult,
  UnlockedKey,
} from '../engine.ts'
import type { EncryptedMessage } from '../format/encrypted-message.ts'
import {
  CertificateStatuses,
  unusableStatus,
  type CheckedCertificate,
} from '../certificate-statuses.ts'
import { JobKilled, Pool, type PoolEvents, type ThreadLoad } from '../pool.ts'
import { Sealed } from '../format/armor-writer.ts'
import type { FileOpeningHelpers } from '../stream/open-file.ts'
import type { OwnKeyInfo } from './certificate-info.ts'
import type { Jobs } from './worker.ts'

/** Greatest time of one job, in ms, from when a thread takes it up. */
export const DEADLINES_MS = {
  open: 3000,
  verify: 3000,
  judge: 3000,
  own: 30_000,
  attachment: 30_000,
}

export interface LibraryOptions {
  /** Threads of each of the three kinds, 2 by default, started when first needed. */
  threads?: number
  /** For opening, verifying and judging, 3000 by default. */
  deadlineMs?: number
  /** The time in ms since the epoch; that of this machine by default. */
  nowMs?: () => number
}

/**
 * Messages (open, verify), certificates (judge) and what we make (seal, generate, unlock) run in
 * threads of their own, so that nothing of anybody's can hold up the others.
 */
export class Library implements AsyncDisposable {
  readonly #messages: Pool<Jobs>
  readonly #certificates: Pool<Jobs>
  readonly #ours: Pool<Jobs>
  /** Few attachments are in a form for the library, and each takes much memory: one at a time. */
  readonly #attachments: Pool<Jobs>
  readonly #deadlineMs: number | undefined
  readonly #nowMs: () => number
  /** What certificates were found to be, where no native code remembers it. */
  readonly certificates = new CertificateStatuses(
    async ({ armored, known }, atMs) => ({
      checked: await this.#judge([armored, atMs, known, false]),
      isRecorded: false,
    }),
    () => this.#nowMs(),
  )

  constructor(options: LibraryOptions, events: PoolEvents) {
    const { threads = 2, deadlineMs, nowMs = () => Date.now() } = options
    this.#messages = new Pool('library/worker', threads, events)
    this.#certificates = new Pool('library/worker', threads, events)
    this.#ours = new Pool('library/worker', threads, events)
    this.#attachments = new Pool('library/worker', 1, events)
    this.#deadlineMs = deadlineMs
    this.#nowMs = nowMs
  }

  readonly generate: Engine['generate'] = (options) =>
    this.#ours.run('generate', [options], DEADLINES_MS.own)

  readonly unlock: Engine['unlock'] = (...locked) =>
    this.#ours.run('unlock', locked, DEADLINES_MS.own)

  readonly relock: Engine['relock'] = (...locked) =>
    this.#ours.run('relock', locked, DEADLINES_MS.own)

  /** Unfit as `too-large` when the deadline passed; never throws for what the file holds. */
  readonly adopt: Engine['adopt'] = (file, secrets) =>
    this.#ours
      .run('adopt', [file, secrets, this.#nowMs()], DEADLINES_MS.own)
      .catch(ifKilled({ outcome: 'unfit', reason: 'too-large' }))

  /** What an own key is at a time. @throws JobKilled, or Error when it cannot be read */
  readonly describe = (key: UnlockedKey, atMs: number): Promise<OwnKeyInfo> =>
    this.#ours.run('describeOwnKey', [key, atMs], DEADLINES_MS.own)

  /**
   * The status of a certificate, with the info for native code. Unusable by `deadline` when that
   * passed; never throws for what the text holds.
   * @throws EngineUnavailableError
   */
  readonly judgeForNative = (
    armored: string,
    atMs: number,
    known?: string,
  ): Promise<CheckedCertificate> => this.#judge([armored, atMs, known, true])

  #judge(asked: Parameters<Jobs['judge']>): Promise<CheckedCertificate> {
    const deadlineMs = this.#deadlineMs ?? DEADLINES_MS.judge
    return twice(() => this.#certificates.run('judge', asked, deadlineMs)).catch(
      ifKilled({ status: unusableStatus(asked[0], 'deadline'), info: null }),
    )
  }

  async seal(request: SealRequest): Promise<Sealed> {
    const sealed = await this.#ours.run('seal', [request, this.#nowMs()])
    return Sealed.of(sealed.armored, sealed)
  }

  /** Recipient packets alone. @throws Error when any certificate cannot be used */
  readonly packetsFor = (certificates: string[], sessionKey: SessionKey): Promise<Uint8Array> =>
    this.#ours.run('recipientPackets', [certificates, sessionKey, this.#nowMs()])

  /** Whether all certificates list AES-256. */
  readonly readAes256 = (certificates: string[]): Promise<boolean> =>
    this.#ours.run('allListAes256', [certificates, this.#nowMs()])

  /** @throws EngineUnavailableError; never for what a sender can cause */
  async open(
    encrypted: EncryptedMessage,
    keys: UnlockedKey[],
    signal?: AbortSignal,
  ): Promise<Opened> {
    const deadlineMs = this.#deadlineMs ?? DEADLINES_MS.open
    try {
      return await twice(() => this.#messages.run('open', [encrypted, keys], deadlineMs, signal))
    } catch (error) {
      if (isOwnFailure(error)) throw error
      const late: NotOpened = { outcome: 'damaged', reason: 'failed' }
      return error instanceof JobKilled ? { ...late, reason: 'deadline' } : late
    }
  }

  /** What opening an attachment leaves to the library; each throws EngineUnavailableError. */
  fileOpeningHelpers(keys: UnlockedKey[]): FileOpeningHelpers {
    const openMs = this.#deadlineMs ?? DEADLINES_MS.open
    const wholeMs = DEADLINES_MS.attachment
    return {
      unwrap: ({ recipientPackets }) =>
        twice(() => this.#messages.run('unwrap', [recipientPackets, keys], openMs)).catch(or([])),
      openWhole: (...whole) =>
        twice(() => this.#attachments.run('openWhole', [...whole, keys], wholeMs)).catch(or(null)),
      unpackWhole: (packet) =>
        twice(() => this.#attachments.run('unpackWhole', [packet], wholeMs)).catch(or(null)),
    }
  }

  /** All `bad` when the deadline passed. @throws EngineUnavailableError */
  async verify(
    signed: Signed | SignedAtLength,
    certificate: string,
    { nowMs, signal }: { nowMs: number; signal?: AbortSignal | undefined },
  ): Promise<SignatureResult[]> {
    const deadlineMs = this.#deadlineMs ?? DEADLINES_MS.verify
    const bad = signed.signatures.map(() => 'bad' as const)
    return await twice(() =>
      this.#messages.run('verify', [signed, certificate, nowMs], deadlineMs, signal),
    ).catch(or(bad))
  }

  /** What the threads of each kind are doing. */
  get load(): Record<'messages' | 'certificates' | 'ours' | 'attachments', ThreadLoad> {
    return {
      messages: this.#messages.load,
      certificates: this.#certificates.load,
      ours: this.#ours.load,
      attachments: this.#attachments.load,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pools = [this.#messages, this.#certificates, this.#ours, this.#attachments]
    await Promise.all(pools.map((pool) => pool[Symbol.asyncDispose]()))
  }
}

/**
 * Tries a job that failed or was killed once more: the machine may have been slow, or the process
 * stopped. What fails twice is the fault of what was handed in.
 */
async function twice<T>(job: () => Promise<T>): Promise<T> {
  return await job().catch((error: unknown) => {
    if (isOwnFailure(error)) throw error
    return job()
  })
}

/** Stands for the result of a job whose thread was killed. */
const ifKilled =
  <T>(result: T) =>
  (error: unknown): T => {
    if (!(error instanceof JobKilled)) throw error
    return result
  }

/** Stands for the result of a job that failed of what was handed in. */
const or =
  <T>(result: T) =>
  (error: unknown): T => {
    if (isOwnFailure(error)) throw error
    return result
  }
