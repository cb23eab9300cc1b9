/** Phones that share no code with Postern: GnuPG, Sequoia's sq, and rnp, each with its own home. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canaries } from './canaries.ts'
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
  /** Opens, and verifies against the one certificate. */
  open(armored: string, from: string): Promise<PhoneOpened>
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

abstract class Home {
  readonly home = mkdtempSync(join(tmpdir(), 'ph-'))
  #files = 0

  /** Puts something into a file of this phone. */
  file(content: string | Buffer): string {
    const path = join(this.home, `f${++this.#files}`)
    writeFileSync(path, content)
    return path
  }

  clean(): void {
    rmSync(this.home, { recursive: true, force: true })
  }
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
export class GpgPhone extends Home implements PersonPhone {
  certificate = ''
  fingerprint = ''
  readonly #clock: string[]

  private constructor({ clockMs }: GpgOptions) {
    super()
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
    this.clean()
  }

  async #encrypt(args: string[], input: string | Buffer, to: string[]): Promise<string> {
    if (typeof input === 'string') canaries()?.words(input)
    const recipients = to.flatMap((one) => ['--recipient-file', this.file(one)])
    const { stdout } = await this.gpg(['--armor', ...args, ...recipients, '--encrypt'], input)
    return stdout.toString()
  }
}

/** Sequoia's sq: names the intended recipients in what it signs, pads what it compresses. */
export class SqPhone extends Home implements Phone {
  certificate = ''
  fingerprint = ''
  readonly #key = join(this.home, 'key')

  static async make(): Promise<SqPhone> {
    const phone = new SqPhone()
    const revocation = join(phone.home, 'rev')
    const made = ['--userid', 'person', '--export', phone.#key, '--rev-cert', revocation]
    await runTool('sq', ['key', 'generate', ...made])
    phone.certificate = (await runTool('sq', ['key', 'extract-cert', phone.#key])).stdout.toString()
    const { stdout } = await runTool('sq', ['inspect', phone.#key])
    phone.fingerprint =
      /Fingerprint: ([0-9A-F]{40})/.exec(stdout.toString())?.[1]?.toLowerCase() ?? ''
    return phone
  }

  async seal(text: string, to: string[], more: string[] = []): Promise<string> {
    const recipients = to.flatMap((one) => ['--recipient-cert', this.file(one)])
    const args = ['encrypt', ...recipients, '--signer-key', this.#key, ...more]
    canaries()?.words(text)
    return (await runTool('sq', args, text)).stdout.toString()
  }

  async open(armored: string, from: string): Promise<PhoneOpened> {
    const args = ['--recipient-key', this.#key, '--signer-cert', this.file(from), '-n', '1']
    const { stdout } = await runTool('sq', ['decrypt', ...args], armored)
    const signer = (await runTool('sq', ['inspect', this.file(from)])).stdout.toString()
    return {
      text: stdout.toString(),
      signer: /Fingerprint: ([0-9A-F]{40})/.exec(signer)?.[1]?.toLowerCase() ?? null,
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.clean()
    return Promise.resolve()
  }
}

/** rnp, with an RSA key, which is what it makes by itself. */
export class RnpPhone extends Home implements Phone {
  certificate = ''
  fingerprint = ''
  readonly #imported = new Map<string, string>()

  static async make(): Promise<RnpPhone> {
    const phone = new RnpPhone()
    const made = ['--generate-key', '--userid', 'person', '--numbits', '2048']
    const { stdout } = await phone.#run('rnpkeys', made)
    phone.fingerprint = /^ +([0-9a-f]{40})$/m.exec(stdout.toString())?.[1] ?? ''
    phone.certificate = (await phone.#run('rnpkeys', ['--export-key', 'person'])).stdout.toString()
    return phone
  }

  async seal(text: string, to: string[]): Promise<string> {
    const recipients: string[] = []
    for (const one of to) recipients.push('-r', await this.#import(one))
    const args = ['--armor', '-e', '-s', '-u', this.fingerprint, ...recipients, '--output', '-']
    canaries()?.words(text)
    return (await this.#run('rnp', args, text)).stdout.toString()
  }

  async open(armored: string, from: string): Promise<PhoneOpened> {
    const signer = await this.#import(from)
    const { stdout, stderr } = await this.#run('rnp', ['-d', '--output', '-'], armored)
    const good = stderr.includes('Good signature made') && stderr.includes(signer.slice(-16))
    return { text: stdout.toString(), signer: good ? signer : null }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.clean()
    return Promise.resolve()
  }

  /** rnp tells of a key only when it sees it first. */
  async #import(certificate: string): Promise<string> {
    const known = this.#imported.get(certificate)
    if (known !== undefined) return known
    const imported = await this.#run('rnpkeys', ['--import-keys', this.file(certificate)])
    const fingerprint = /^ +([0-9a-f]{40})$/m.exec(imported.stdout.toString())?.[1] ?? ''
    this.#imported.set(certificate, fingerprint)
    return fingerprint
  }

  async #run(program: string, args: string[], input = ''): Promise<Ran> {
    const usual = ['--homedir', this.home, '--password', '', '--notty']
    return await runTool(program, [...usual, ...args], input)
  }
}
