/** Phones that share no code with Postern: GnuPG with its own home, and programs of `peers/`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readKey } from 'openpgp'
import { canaries } from './canaries.ts'
import { openPeers, type PeerKey, type PeerWriter } from './peers/index.ts'
import { run, type Ran } from './programs.ts'

/** What a program said of a message that it opened. */
export interface PhoneOpened {
  text: string
  /** Fingerprint of the signer's primary key when the signature is good; else null. */
  signer: string | null
}

/** A person's phone. Texts are ASCII armor. */
export interface Phone extends AsyncDisposable {
  readonly certificate: string
  /** 40 lower-case hexadecimal characters. */
  readonly fingerprint: string
  /** Signs and seals to the given certificates. */
  seal(text: string, to: string[]): Promise<string>
}

export interface SealOptions {
  /** When it is signed and sealed, ms since the epoch. */
  dateMs?: number
  /** File name in the literal packet. */
  fileName?: string
}

/** A phone with all that hostile tests need; which kind a run has is `newPhone`'s choice. */
export interface PersonPhone extends Phone {
  seal(text: string, to: string[], o?: SealOptions): Promise<string>
  sealUnsigned(text: string, to: string[], o?: SealOptions): Promise<string>
  /** Signed words as packets, neither encrypted nor compressed. @param dateMs of the signature */
  sign(text: string, dateMs?: number): Promise<Buffer>
  /** Encrypts packets unchanged: the signed words of somebody else, say. */
  sealPackets(packets: Buffer, to: string[]): Promise<string>
  /** A binary message with the bytes of a file. */
  sealFile(content: Buffer, to: string[], o: SealOptions & { isSigned: boolean }): Promise<Buffer>
  /** Removes the encryption, and leaves the signed packets as they were. */
  unwrap(armored: string): Promise<Buffer>
  /** Verifies with this certificate from now on. */
  know(certificate: string): Promise<void>
  /** @param from optional after `know` of the same certificate */
  open(armored: string, from?: string): Promise<PhoneOpened>
  /** Replaces the key by a new one. */
  rotate(): Promise<void>
  /** Revokes the key. */
  revoke(): Promise<void>
}

/** What a service lists of somebody who has this phone. */
export function keyOf({ certificate, fingerprint }: Phone): {
  certificate: string
  fingerprint: string
} {
  return { certificate, fingerprint }
}

/** Runs a program to its end; rejects when it fails, with its messages. */
export async function runTool(
  program: string,
  args: string[],
  input: string | Buffer = '',
  env?: NodeJS.ProcessEnv,
): Promise<Ran> {
  const ran = await run(program, args, { input, ...(env !== undefined && { env }) })
  if (ran.code === 0) return ran
  throw new Error(`${program} ${args.join(' ')}: ${ran.stderr}`)
}

export interface GpgOptions {
  /** Parameters of the key; Ed25519 and Curve25519 when not given. */
  parameters?: string[]
  /** ms since the epoch: the phone's clock stands there for good. */
  clockMs?: number
}

/** Sets the clock of one run of gpg, in ms since the epoch. */
export function atTime(ms: number): string[] {
  const stamp = new Date(ms).toISOString().replace(/[-:]|\.\d+Z/g, '')
  return ['--faked-system-time', stamp]
}

/** An Ed25519 key with a Curve25519 subkey, as gpg makes it. */
export const CURVES = [
  'Key-Type: eddsa',
  'Key-Curve: ed25519',
  'Key-Usage: sign',
  'Subkey-Type: ecdh',
  'Subkey-Curve: cv25519',
  'Subkey-Usage: encrypt',
  'Expire-Date: 0',
]

interface GpgSealOptions {
  /** Further arguments of gpg. */
  flags?: readonly string[]
}

/** Arguments of gpg; a date may precede the keys that it seals to. */
const flagsOf = ({ dateMs, fileName, flags = [] }: SealOptions & GpgSealOptions): string[] => [
  ...(dateMs === undefined
    ? []
    : [...atTime(dateMs), '--ignore-time-conflict', '--ignore-valid-from']),
  ...(fileName === undefined ? [] : ['--set-filename', fileName]),
  ...flags,
]

/** Longer than gpg ever needs to make a key. */
const MAKING_MS = 60_000

/** GnuPG, with what hostile tests need beside sealing and opening. */
export class GpgPhone implements PersonPhone {
  readonly home = mkdtempSync(join(tmpdir(), 'ph-'))
  certificate = ''
  fingerprint = ''
  readonly #clock: string[]
  #files = 0

  private constructor({ clockMs }: GpgOptions) {
    this.#clock = clockMs === undefined ? [] : atTime(clockMs)
  }

  static async make(options: GpgOptions = {}): Promise<GpgPhone> {
    const phone = new GpgPhone(options)
    const parameters = ['%no-protection', ...(options.parameters ?? CURVES), 'Name-Real: person']
    const { clockMs } = options
    // gpg's clock goes on while it makes a key, which must not be dated later than its signatures
    const before = clockMs === undefined ? [] : atTime(clockMs - MAKING_MS)
    await phone.gpg([...before, '--generate-key'], `${parameters.join('\n')}\n`)
    await phone.reread()
    return phone
  }

  /** Runs gpg on this phone; arguments beyond the usual ones. */
  async gpg(args: string[], input: string | Buffer = ''): Promise<Ran> {
    const usual = ['--homedir', this.home, '--batch', '--quiet', '--yes', '--no-auto-check-trustdb']
    return await runTool(
      'gpg',
      [...usual, '--trust-model', 'always', ...this.#clock, ...args],
      input,
    )
  }

  /** Takes the certificate out of the keyring again, after it was changed. */
  async reread(): Promise<void> {
    const { stdout } = await this.gpg(['--with-colons', '--list-secret-keys'])
    this.fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(stdout.toString())?.[1]?.toLowerCase() ?? ''
    this.certificate = (await this.gpg(['--armor', '--export', this.fingerprint])).stdout.toString()
  }

  async seal(text: string, to: string[], o: SealOptions & GpgSealOptions = {}): Promise<string> {
    return await this.#encrypt(['--sign', ...flagsOf(o)], text, to)
  }

  async sealUnsigned(
    text: string,
    to: string[],
    o: SealOptions & GpgSealOptions = {},
  ): Promise<string> {
    return await this.#encrypt(flagsOf(o), text, to)
  }

  async sign(text: string, dateMs?: number): Promise<Buffer> {
    canaries()?.words(text)
    const date = dateMs === undefined ? [] : atTime(dateMs)
    return (await this.gpg(['-z', '0', ...date, '--sign'], text)).stdout
  }

  async sealPackets(packets: Buffer, to: string[]): Promise<string> {
    return await this.#encrypt(['--no-literal', '-z', '0'], packets, to)
  }

  async sealFile(
    content: Buffer,
    to: string[],
    { isSigned, ...o }: SealOptions & GpgSealOptions & { isSigned: boolean },
  ): Promise<Buffer> {
    const recipients = to.flatMap((one) => ['--recipient-file', this.file(one)])
    const flags = [...(isSigned ? ['--sign'] : []), ...flagsOf(o)]
    return (await this.gpg([...flags, ...recipients, '--encrypt'], content)).stdout
  }

  async unwrap(armored: string): Promise<Buffer> {
    return (await this.gpg(['--unwrap', '--decrypt'], armored)).stdout
  }

  async know(certificate: string): Promise<void> {
    await this.gpg(['--import'], certificate)
  }

  async open(armored: string, from?: string): Promise<PhoneOpened> {
    if (from !== undefined) await this.know(from)
    const { stdout, stderr } = await this.gpg(['--status-fd', '2', '--decrypt'], armored)
    const good = /\[GNUPG:\] VALIDSIG .* ([0-9A-F]{40})$/m.exec(stderr)?.[1]
    return { text: stdout.toString(), signer: good?.toLowerCase() ?? null }
  }

  async rotate(): Promise<void> {
    const old = this.fingerprint
    await this.gpg(['--delete-secret-and-public-key', old.toUpperCase()])
    await this.gpg(['--generate-key'], `%no-protection\n${CURVES.join('\n')}\nName-Real: again\n`)
    await this.reread()
  }

  /** By the revocation certificate that gpg made beside the key. */
  async revoke(): Promise<void> {
    const file = join(this.home, 'openpgp-revocs.d', `${this.fingerprint.toUpperCase()}.rev`)
    await this.gpg(['--import'], readFileSync(file, 'utf8').replace(':-----BEGIN', '-----BEGIN'))
    await this.reread()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await runTool('gpgconf', ['--homedir', this.home, '--kill', 'all'])
    rmSync(this.home, { recursive: true, force: true })
  }

  /** Puts something into a file of this phone. */
  file(content: string | Buffer): string {
    const path = join(this.home, `f${++this.#files}`)
    writeFileSync(path, content)
    return path
  }

  async #encrypt(args: string[], input: string | Buffer, to: string[]): Promise<string> {
    if (typeof input === 'string') canaries()?.words(input)
    const recipients = to.flatMap((one) => ['--recipient-file', this.file(one)])
    const { stdout } = await this.gpg(['--armor', ...args, ...recipients, '--encrypt'], input)
    return stdout.toString()
  }
}

/** Sequoia's sq, which names the intended recipients in what it signs and pads, or rnp with an RSA key. */
export class PeerPhone implements Phone {
  readonly certificate: string
  readonly fingerprint: string
  readonly #key: PeerKey
  readonly #opened: Awaited<ReturnType<typeof openPeers>>
  readonly #writer: PeerWriter

  private constructor(
    opened: Awaited<ReturnType<typeof openPeers>>,
    o: { writer: PeerWriter; key: PeerKey; fingerprint: string },
  ) {
    this.#opened = opened
    this.#writer = o.writer
    this.#key = o.key
    this.certificate = o.key.certificate
    this.fingerprint = o.fingerprint
  }

  static async make(program: 'sq' | 'rnp'): Promise<PeerPhone> {
    // ends the test as skipped where it is not installed
    await runTool(program, ['--version'])
    const opened = await openPeers([program])
    const writer = opened.peers.get(program)?.writer
    if (writer === undefined) throw new Error(`${program} does not start`)
    const key = await writer.makeKey(program === 'sq' ? 'cv25519' : 'rsa2048', 'person')
    const certificate = await readKey({ armoredKey: key.certificate })
    return new PeerPhone(opened, { writer, key, fingerprint: certificate.getFingerprint() })
  }

  async seal(text: string, to: string[]): Promise<string> {
    canaries()?.words(text)
    return await this.#writer.seal({ text, to, signers: [this.#key], feature: 'by pipe' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]()
  }
}
