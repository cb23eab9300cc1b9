/** Keys that stay in gpg-agent, which signs and agrees on secrets over its Assuan socket. */
import { execFileSync, type StdioOptions } from 'node:child_process'
import { createHash } from 'node:crypto'
import { KeyHolderUnavailableError, refusedError, resultOr } from '../errors.ts'
import { loadKeyAgreement } from '../openpgp/index.ts'
import type { HeldSessionKey, KeyHolder } from '../openpgp/index.ts'
import { AssuanClient, AssuanError, type AssuanCommands } from './assuan.ts'
import { HolderReach } from './holder-reach.ts'

/** Numbers of hashes, by the bytes of a digest (RFC 9580, 9.5): gpg-agent asks for one. */
const HASH_BY_BYTES: Readonly<Record<number, number>> = { 32: 8, 48: 9, 64: 10 }

/** So often a key that was refused is tried again. */
const RETRY_MS = 5000
/** An opening is, for so long without another message: the next poll may be a minute away. */
const UNWRAP_RETRIED_MS = 120_000

/** Commands that use a key. Refused, they are tried again until then. */
interface KeyCommands extends AssuanCommands {
  grip: string
  retriedUntilMs: number
}

/** Asks gpg-agent; `KeyHolder` documents its methods. */
export class GpgAgent extends HolderReach implements KeyHolder {
  readonly #client: AssuanClient
  /** Keys that signed: others may be ones that somebody tries to import. */
  readonly #signed = new Set<string>()
  /** Uses of keys that it refused, by keygrip: not reachable until one of each succeeds. */
  readonly #refused = new Map<string, KeyCommands & { reason: string }>()
  #retry: NodeJS.Timeout | undefined

  /** @param path of its socket, absolute; empty: the one of gpg of this user (`gpgconf`) */
  constructor(path: string) {
    super()
    // nobody would see its window: a key under a passphrase that it does not know is refused
    this.#client = new AssuanClient(() => path || defaultSocket(), ['OPTION pinentry-mode=error'])
    this.#client.onReachable(() => this.#show())
  }

  async sign({ by, digest }: Parameters<KeyHolder['sign']>[0]): Promise<Buffer> {
    const hash = HASH_BY_BYTES[digest.length]
    if (hash === undefined) throw unavailable('takes no digest of this length')
    const hex = Buffer.from(digest).toString('hex')
    const grip = keygripOf('ed25519', by.key.point)
    const commands = [`SIGKEY ${grip}`, `SETHASH ${hash} ${hex}`, 'PKSIGN']
    const answer = await this.#use({ grip, commands, retriedUntilMs: Infinity })
    const [r, s] = [valueOf(answer, 'r'), valueOf(answer, 's')]
    if (r === null || s === null) throw unavailable('gave no signature')
    return Buffer.concat([r, s])
  }

  async unwrap(asked: Parameters<KeyHolder['unwrap']>[0]): Promise<HeldSessionKey[]> {
    const { readAgreement } = await loadKeyAgreement()
    const agreement = readAgreement(asked)
    if (agreement === null) return []
    const grip = keygripOf('curve25519', asked.to.key.point)
    const point = Buffer.concat([NATIVE, agreement.ephemeral])
    const inquired = Buffer.concat([SEALED.before, point, SEALED.after])
    const commands = [`SETKEY ${grip}`, 'PKDECRYPT']
    const retriedUntilMs = performance.now() + UNWRAP_RETRIED_MS
    const answer = await this.#use({ grip, commands, inquired, retriedUntilMs })
    const shared = valueOf(answer, 'value')
    answer.fill(0)
    if (shared === null) throw unavailable('gave no shared secret')
    return agreement.open(shared)
  }

  async make(): Promise<string> {
    const hint = 'make it with gpg, and `postern key import` its certificate'
    throw refusedError('gpg-agent makes no keys for Postern', hint)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#refused.clear()
    clearTimeout(this.#retry)
    await this.#client[Symbol.asyncDispose]()
  }

  async #use(use: KeyCommands): Promise<Buffer> {
    const { grip, inquired } = use
    try {
      const answer = await this.#client.ask(use)
      if (inquired === undefined) this.#signed.add(grip)
      if (this.#refused.delete(grip)) this.#show()
      return answer
    } catch (error) {
      const { message: reason } = error as Error
      // what a stranger sent may be refused too
      const isOfKey = (it: AssuanError): boolean => (inquired ? it.isOfKey : this.#signed.has(grip))
      if (error instanceof AssuanError && isOfKey(error)) {
        this.#refused.set(grip, { ...use, reason })
        this.#show()
      }
      throw unavailable(reason, error)
    }
  }

  #show(): void {
    const { isReachable, reason } = this.#client.state
    const [refused] = this.#refused.values()
    const problem = isReachable ? refused?.reason : reason
    if (problem === undefined) this.answers()
    else this.isAway(`gpg-agent ${problem}`)
    if (refused !== undefined)
      this.#retry ??= setTimeout(() => void this.#tryAgain(), RETRY_MS).unref()
  }

  /** Nothing else may use a key while `/readyz` has a reason. */
  async #tryAgain(): Promise<void> {
    for (const use of this.#refused.values()) {
      if (performance.now() > use.retriedUntilMs) this.#refused.delete(use.grip)
      else (await this.#use(use).catch(() => null))?.fill(0)
    }
    this.#retry = undefined
    this.#show()
  }
}

const unavailable = (why: string, cause?: unknown): KeyHolderUnavailableError =>
  new KeyHolderUnavailableError(`gpg-agent ${why}`, { cause })

function defaultSocket(): string {
  const args = ['--list-dirs', 'agent-socket']
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore']
  const o = { encoding: 'utf8', timeout: 5000, stdio } as const
  // without gpg nothing listens there
  return resultOr(() => execFileSync('gpgconf', args, o).trim(), '') || '/nowhere/S.gpg-agent'
}

/** The first byte of a point as GnuPG writes it (RFC 9580, 11.2). */
const NATIVE = Buffer.of(0x40)
/** An S-expression around the sender's point; the wrapped session key in it is not used. */
const SEALED = {
  before: Buffer.from('(7:enc-val(4:ecdh(1:s1:0)(1:e33:'),
  after: Buffer.from(')))'),
}

/**
 * The 32 bytes under a name in a canonical S-expression, without the first byte of a point; an
 * integer that begins with zeros may lack them.
 */
function valueOf(expression: Buffer, name: string): Buffer | null {
  const begin = Buffer.from(`(${name.length}:${name}`)
  const at = expression.indexOf(begin) + begin.length
  const [all = '', digits] = /^(\d{1,2}):/.exec(expression.toString('latin1', at, at + 3)) ?? []
  const start = at + all.length
  const bytes = expression.subarray(start, start + Number(digits))
  const isWhole = at >= begin.length && all !== '' && bytes.length === Number(digits)
  if (!isWhole || expression[start + bytes.length] !== 0x29) return null
  const native = bytes.length === 33 && bytes[0] === NATIVE[0] ? bytes.subarray(1) : bytes
  if (native.length > 32) return null
  return Buffer.concat([Buffer.alloc(32 - native.length), native])
}

const PRIME = `7f${'ff'.repeat(30)}ed`
/** What libgcrypt hashes of a curve before the point: p, a, b, g, n, in the signs that it has them. */
const CURVES = {
  ed25519: {
    p: PRIME,
    a: '01',
    b: '2dfc9311d490018c7338bf8688861767ff8ff5b2bebe27548a14b235eca6874a',
    g: `04216936d3cd6e53fec0a4e231fdd6dc5c692cc7609525a7b2c9562d608f25d51a${'66'.repeat(31)}58`,
    n: '1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed',
  },
  curve25519: {
    p: PRIME,
    a: '01db41',
    b: '01',
    g: `04${'00'.repeat(31)}0920ae19a1b8a086b4e01edd2c7748d14c923d4d7e6d7c61b229e9c5a27eced3d9`,
    n: '1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed',
  },
} as const

/** The name of a key in gpg-agent: SHA-1 over its public parameters (libgcrypt, keygrip). */
export function keygripOf(curve: keyof typeof CURVES, point: Uint8Array): string {
  const parameters = { ...CURVES[curve], q: Buffer.from(point).toString('hex') }
  const hash = createHash('sha1')
  for (const [name, hex] of Object.entries(parameters)) {
    const bytes = Buffer.from(hex, 'hex')
    hash.update(`(1:${name}${bytes.length}:`).update(bytes).update(')')
  }
  return hash.digest('hex').toUpperCase()
}
