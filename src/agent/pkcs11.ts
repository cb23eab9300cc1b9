/**
 * Keys in a PKCS #11 token: a hardware module, or SoftHSM. The package pkcs11js is optional, and
 * loaded for `key.agent: pkcs11:...` alone.
 */
import { KeyHolderUnavailableError, OperatorError, refusedError, resultOr } from '../errors.ts'
import { loadCertificateWriter, loadKeyAgreement } from '../openpgp/index.ts'
import type { HeldSessionKey, KeyHolder } from '../openpgp/index.ts'
import { describeOthersChange } from '../util/file-owners.ts'
import { Mutex } from '../util/scheduling.ts'
import { ckrOf, openSession } from './pkcs11-session.ts'
import type { KeyUse, ObjectHandle, Pkcs11Session } from './pkcs11-session.ts'
import { HolderReach } from './holder-reach.ts'

/** A token counts wrong PINs, and locks itself after a few: none is tried again. */
const PIN_REFUSED = new Set([0xa0, 0xa1, 0xa2, 0xa3, 0xa4])
/** Errors after which a new session is needed: of device, token, login, library. */
const SESSION_LOST = new Set([0x30, 0x31, 0x32, 0xb0, 0xb3, 0xe0, 0x101, 0x190])
const CHECK_MS = 750
const DEADLINE_MS = 10_000

/** A token, by RFC 7512. */
export interface TokenPlace {
  label: string
  /** Of the library that speaks to it, absolute. */
  modulePath: string
}

/** @param place `token=NAME?module-path=/path`, percent-encoded; null for another form */
export function readTokenPlace(place: string): TokenPlace | null {
  const [, label, path] = /^token=([^;?&]+)\?module-path=(\/[^;?&]+)$/.exec(place) ?? []
  if (label === undefined || path === undefined) return null
  const decode = () => ({ label: decodeURIComponent(label), modulePath: decodeURIComponent(path) })
  return resultOr(decode, null)
}

/** Uses the keys of a token; `KeyHolder` documents its methods. */
export class Pkcs11Token extends HolderReach implements KeyHolder {
  readonly #place: TokenPlace
  readonly #pin: { reveal(): string } | null
  readonly #timer: NodeJS.Timeout
  /** A session does one thing at a time. */
  readonly #turns = new Mutex()
  /** Private keys by their points, for as long as the session lasts. */
  readonly #keys = new Map<string, ObjectHandle>()
  readonly #begun: Promise<void>
  #session: Pkcs11Session | null = null
  /** The token is not asked again in this process. */
  #isClosed = false

  constructor(place: TokenPlace, pin: { reveal(): string } | null) {
    super()
    this.#place = place
    this.#pin = pin
    this.#begun = this.#turns.run(() => this.#check())
    this.#timer = setInterval(() => void this.#turns.run(() => this.#check()), CHECK_MS).unref()
  }

  sign({ by, digest }: Parameters<KeyHolder['sign']>[0]): Promise<Buffer> {
    return this.#use((session) => session.sign(this.#keyOf(session, by.key.point, 'sign'), digest))
  }

  async unwrap(asked: Parameters<KeyHolder['unwrap']>[0]): Promise<HeldSessionKey[]> {
    const { readAgreement } = await loadKeyAgreement()
    const agreement = readAgreement(asked)
    if (agreement === null) return []
    const shared = await this.#use((session) =>
      session.agree(this.#keyOf(session, asked.to.key.point, 'derive'), agreement.ephemeral),
    )
    if (shared.length !== 32) throw new TokenError('gave no shared secret')
    return agreement.open(shared)
  }

  /** Makes both keys in the token, which signs their certificate. Their label is its fingerprint. */
  async make(asked: Parameters<KeyHolder['make']>[0]): Promise<string> {
    const { algorithm, userId, createdMs, certifiedBy } = asked
    if (algorithm === 'pqc') throw noPostQuantum()
    const { newKeys, writeCertificate } = await loadCertificateWriter()
    return await this.#use(async (session) => {
      const before = certifiedBy === null ? undefined : session.signerOf(certifiedBy)
      if (certifiedBy !== null && before === undefined) throw noCertifier(certifiedBy)
      const signing = await session.makePair('sign')
      const decrypting = await session.makePair('derive')
      const keys = newKeys({ signing: signing.point, decrypting: decrypting.point, createdMs })
      session.label([...signing.both, ...decrypting.both], keys.fingerprint.toString('hex'))
      return await writeCertificate({
        keys,
        userId,
        sign: (digest) => session.sign(signing.key, digest),
        certifiedBy: before && {
          fingerprint: Buffer.from(certifiedBy ?? '', 'hex'),
          sign: (digest) => session.sign(before, digest),
        },
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    this.#isClosed = true
    await this.#turns.run(async () => this.#leave('was left'))
  }

  /** Runs in its turn, with a session. @throws KeyHolderUnavailableError */
  async #use<T>(work: (session: Pkcs11Session) => Promise<T>): Promise<T> {
    await this.#begun
    const late = Promise.withResolvers<never>()
    const giveUp = (): void => late.reject(new TokenError('did not answer in time'))
    const timer = setTimeout(giveUp, DEADLINE_MS)
    const done = this.#turns.run(async () => {
      if (this.#session === null) throw new TokenError(this.state.reason)
      try {
        return await work(this.#session)
      } catch (error) {
        throw this.#explain(error)
      }
    })
    return await Promise.race([done, late.promise]).finally(() => clearTimeout(timer))
  }

  #keyOf(session: Pkcs11Session, point: Uint8Array, use: KeyUse): ObjectHandle {
    const name = Buffer.from(point).toString('hex')
    const key = this.#keys.get(name) ?? session.keyOf(point, use)
    if (key === undefined) throw new TokenError('has no such key')
    this.#keys.set(name, key)
    return key
  }

  /** Opens a session where there is none, or sees that it lasts. */
  async #check(): Promise<void> {
    if (this.#isClosed) return
    try {
      this.#session ??= await this.#open()
      this.#session.check()
      this.answers()
    } catch (error) {
      const failure = this.#explain(error)
      if (this.#session === null && !this.#isClosed) this.isAway(failure.reason)
    }
  }

  async #open(): Promise<Pkcs11Session> {
    const pin = this.#pin?.reveal() ?? ''
    const others = describeOthersChange(this.#place.modulePath)
    if (others !== null) throw new TokenError(`is not asked: its library ${others.message}`)
    const session = await openSession({ ...this.#place, pin })
    if (session === null) throw new TokenError(`has no token ${this.#place.label}`)
    return session
  }

  /** The failure for an error of the library; a session that is lost is left. */
  #explain(error: unknown): TokenError {
    if (error instanceof TokenError) return error
    if (error instanceof OperatorError) throw error
    const code = ckrOf(error)
    const name = /CKR_\w+/.exec((error as Error).message)?.[0] ?? libraryProblem(error)
    if (PIN_REFUSED.has(code)) {
      this.#isClosed = true
      this.#leave(`refused the PIN (${name}): it is not tried again before a restart`)
    } else if (SESSION_LOST.has(code)) this.#leave(`lost the session (${name})`)
    return new TokenError(`failed (${name})`, { cause: error })
  }

  #leave(reason: string): void {
    const session = this.#session
    this.#session = null
    this.#keys.clear()
    this.isAway(reason)
    resultOr(() => session?.close(), undefined)
  }
}

/** The token, or the way to it, does not do what it was asked for. */
class TokenError extends KeyHolderUnavailableError {
  /** Without its subject. */
  readonly reason: string

  constructor(reason: string, options: { cause?: unknown } = {}) {
    super(`the PKCS #11 token ${reason}`, options)
    this.reason = reason
  }
}

function libraryProblem(error: unknown): string {
  const { code } = error as { code?: unknown }
  const isAbsent = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  return isAbsent ? 'the optional package pkcs11js is not installed' : 'its library does not load'
}

const noPostQuantum = (): OperatorError =>
  refusedError('a PKCS #11 token makes no post-quantum keys', 'set `key.algorithm: classic`')

const noCertifier = (fingerprint: string): OperatorError =>
  refusedError(
    `the token has no key ${fingerprint} that could certify the new one`,
    'rotate with the token that has the bot’s key',
  )
