/** openpgp.js in threads that can be killed: forms without native code, and final judgements. */
import { isOwnFailure, KeyHolderUnavailableError } from '../../errors.ts'
import type { SessionKey } from '../crypto/session-key.ts'
import type { Engine, NotOpened, Opened, SealRequest, UnlockedKey } from '../engine.ts'
import type { SignatureDoubt } from '../failure-reasons.ts'
import type { EncryptedMessage } from '../format/encrypted-message.ts'
import type { FoundKey, ScannedRecipients } from '../format/recipient-scan.ts'
import { certificationsBy } from '../certifications.ts'
import { JobKilled, Pool, type PoolEvents, type ThreadLoad } from '../pool.ts'
import { Sealed } from '../format/armor-writer.ts'
import { withoutHolder } from '../key-holder.ts'
import type { FileOpeningHelpers } from '../stream/open-file.ts'
import type { Jobs } from './worker.ts'
import { CertificateStatuses, unusableStatus } from '../certificate-statuses.ts'
import type { CheckedCertificate } from '../certificate-statuses.ts'
import type { OwnKeyInfo } from '../certificate-info.ts'

/** Greatest time of one job, in ms, counted from its start in a thread. */
export const DEADLINES_MS = {
  /** Opening, verifying and judging. */
  usual: 3000,
  own: 30_000,
  attachment: 30_000,
}

type SignedFileCall = 'signText' | 'readSigned' | 'readKeyring'

export interface LibraryOptions {
  /** Threads of each of the three kinds, 2 by default, started when first needed. */
  threads?: number
  /** For opening, verifying and judging, 3000 by default. */
  deadlineMs?: number
  /** The time in ms since the epoch; that of this machine by default. */
  nowMs?: () => number
  /** Fingerprints of certificates whose owner may state something over SHA-1; none by default. */
  acceptWeakHash?: readonly string[]
}

/**
 * Messages (open, verify), certificates (judge) and our own work (seal, generate, unlock) have
 * threads of their own, so that none of these can delay the others.
 */
export class Library implements AsyncDisposable {
  /** Attachments for the library are few, and each needs much memory: one at a time. */
  readonly #pools: Record<'messages' | 'certificates' | 'ours' | 'attachments', Pool<Jobs>>
  readonly #deadlineMs: number
  readonly #nowMs: () => number
  /** Statuses of certificates, cached where no native code caches them. */
  readonly certificates = new CertificateStatuses(
    async ({ armored, known }, atMs) => ({
      checked: await this.#judge([armored, atMs, known, false]),
      isRecorded: false,
    }),
    () => this.#nowMs(),
  )

  constructor(options: LibraryOptions, events: PoolEvents) {
    const { threads = 2, deadlineMs = DEADLINES_MS.usual, nowMs = () => Date.now() } = options
    const { acceptWeakHash } = options
    const pool = (count = threads): Pool<Jobs> =>
      new Pool('library/worker', count, events, { acceptWeakHash })
    this.#pools = { messages: pool(), certificates: pool(), ours: pool(), attachments: pool(1) }
    this.#deadlineMs = deadlineMs
    this.#nowMs = nowMs
  }

  readonly unlock: Engine['unlock'] = (locked, passphrase) =>
    this.#pools.ours.run('unlock', [locked, passphrase], DEADLINES_MS.own)

  /** Done by the library alone. An import is unfit as `too-large` when the deadline passed. */
  readonly alone: Pick<Engine, 'generate' | 'relock' | 'certify' | 'adopt' | SignedFileCall> = {
    generate: (options) => this.#pools.ours.run('generate', [options], DEADLINES_MS.own),
    relock: (...locked) => this.#pools.ours.run('relock', locked, DEADLINES_MS.own),
    certify: (...certified) =>
      this.#pools.ours.run('certifyCertificate', certified, DEADLINES_MS.own),
    adopt: (file, secrets) =>
      this.#pools.ours
        .run('adopt', [file, secrets, this.#nowMs()], DEADLINES_MS.own)
        .catch(ifKilled({ outcome: 'unfit', reason: 'too-large' })),
    signText: (...signed) => this.#pools.ours.run('signText', signed, DEADLINES_MS.own),
    readSigned: (...files) =>
      this.#pools.attachments.run('readSigned', files, DEADLINES_MS.own).catch(or(null)),
    readKeyring: (...ring) =>
      this.#pools.attachments.run('readKeyring', ring, DEADLINES_MS.own).catch(or(null)),
  }

  /** Describes an own key at a time. @throws JobKilled, or Error when it cannot be read */
  readonly describe = (key: UnlockedKey, atMs: number): Promise<OwnKeyInfo> =>
    this.#pools.ours.run('describeOwnKey', [withoutHolder(key), atMs], DEADLINES_MS.own)

  /**
   * The status of a certificate, with the info for native code. Unusable by `deadline` when that
   * passed; never throws because of the text's content.
   * @throws EngineUnavailableError
   */
  readonly judgeForNative = (
    armored: string,
    atMs: number,
    known?: string,
  ): Promise<CheckedCertificate> => this.#judge([armored, atMs, known, true])

  #judge(asked: Parameters<Jobs['judge']>): Promise<CheckedCertificate> {
    return twice(() => this.#pools.certificates.run('judge', asked, this.#deadlineMs)).catch(
      ifKilled({ status: unusableStatus(asked[0], 'deadline'), info: null }),
    )
  }

  readonly certifications = certificationsBy((...asked) =>
    twice(() => this.#pools.certificates.run('certifications', asked, this.#deadlineMs)).catch(
      or([]),
    ),
  )

  /** @throws KeyHolderUnavailableError for a signer that a holder has */
  async seal(request: SealRequest): Promise<Sealed> {
    if (request.signer.holder !== undefined) throw signsNatively()
    const sealed = await this.#pools.ours.run('seal', [request, this.#nowMs()])
    return Sealed.of(sealed.armored, sealed)
  }

  /** Recipient packets alone. @throws Error when any certificate cannot be used */
  readonly packetsFor = (certificates: string[], sessionKey: SessionKey): Promise<Uint8Array> =>
    this.#pools.ours.run('recipientPackets', [certificates, sessionKey, this.#nowMs()])

  /** Whether all certificates list AES-256. */
  readonly readAes256 = (certificates: string[]): Promise<boolean> =>
    this.#pools.ours.run('allListAes256', [certificates, this.#nowMs()])

  /** @throws EngineUnavailableError; no error because of the message's content */
  async open(
    encrypted: EncryptedMessage,
    keys: UnlockedKey[],
    signal?: AbortSignal,
  ): Promise<Opened> {
    const asked = [encrypted, withSecrets(keys)] as const
    try {
      return await twice(() =>
        this.#pools.messages.run('open', [...asked], this.#deadlineMs, signal),
      )
    } catch (error) {
      if (isOwnFailure(error)) throw error
      const late: NotOpened = { outcome: 'damaged', reason: 'failed' }
      return error instanceof JobKilled ? { ...late, reason: 'deadline' } : late
    }
  }

  /** Session keys in recipient packets, for keys whose secrets are here. @throws EngineUnavailableError */
  async unwrap(
    addressed: Pick<ScannedRecipients, 'recipientPackets'>,
    keys: UnlockedKey[],
  ): Promise<FoundKey[]> {
    const here = withSecrets(keys)
    if (here.length === 0) return []
    const parts = [addressed.recipientPackets, here] as const
    const unwrap = () => this.#pools.messages.run('unwrap', [...parts], this.#deadlineMs)
    return await twice(unwrap).catch(or([]))
  }

  /** The library's steps of opening an attachment; each throws EngineUnavailableError. */
  fileOpeningHelpers(keys: UnlockedKey[]): FileOpeningHelpers {
    const wholeMs = DEADLINES_MS.attachment
    return {
      unwrap: (addressed) => this.unwrap(addressed, keys),
      openWhole: (...sealed) =>
        twice(() => this.#pools.attachments.run('openWhole', sealed, wholeMs)).catch(or(null)),
      unpackWhole: (packet) =>
        twice(() => this.#pools.attachments.run('unpackWhole', [packet], wholeMs)).catch(or(null)),
    }
  }

  /** All `deadline` when that passed, or `failed`. @throws EngineUnavailableError */
  readonly verify: Engine['verify'] = async (signed, certificate, nowMs, signal) => {
    const all = (doubt: SignatureDoubt) => signed.signatures.map(() => doubt)
    return await twice(() =>
      this.#pools.messages.run('verify', [signed, certificate, nowMs], this.#deadlineMs, signal),
    )
      .catch(ifKilled(all('deadline')))
      .catch(or(all('failed')))
  }

  /** The load of the threads of each kind. */
  get load(): Record<string, ThreadLoad> {
    return Object.fromEntries(Object.entries(this.#pools).map(([kind, pool]) => [kind, pool.load]))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Object.values(this.#pools).map((pool) => pool[Symbol.asyncDispose]()))
  }
}

/** The keys whose secrets are here. */
const withSecrets = (keys: UnlockedKey[]): UnlockedKey[] =>
  keys.filter(({ holder }) => holder === undefined)

/**
 * Tries a job that failed or was killed once more: the machine may have been slow, or the process
 * stopped. A second failure is caused by the input.
 */
const twice = async <T>(job: () => Promise<T>): Promise<T> =>
  await job().catch((error: unknown) => {
    if (isOwnFailure(error)) throw error
    return job()
  })

const signsNatively = (): Error =>
  new KeyHolderUnavailableError('native code alone signs with a key that is held elsewhere')

/** Replaces the result of a job whose thread was killed. */
const ifKilled =
  <T>(result: T) =>
  (error: unknown): T => {
    if (!(error instanceof JobKilled)) throw error
    return result
  }

/** Replaces the result of a job that failed because of its input. */
const or =
  <T>(result: T) =>
  (error: unknown): T => {
    if (isOwnFailure(error)) throw error
    return result
  }
