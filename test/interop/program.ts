/** What the matrix asks of another OpenPGP program. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, shortFolder, type Ran, type RunOptions } from '../support/programs.ts'

export const KEY_KINDS = [
  'cv25519',
  'rsa2048',
  'rsa3072',
  'rsa4096',
  'p256',
  'p384',
  'p521',
  'bp256',
  'bp384',
  'bp512',
] as const
export type KeyKind = (typeof KEY_KINDS)[number]

/** Ways to seal that not every program offers. */
export const FEATURES = [
  'plain',
  'zip',
  'zlib',
  'bzip2',
  'padded',
  'anonymous',
  'two signers',
  'text mode',
  'by pipe',
  '3des',
] as const
export type Feature = (typeof FEATURES)[number]

/** A key that a program made. */
export interface ProgramKey {
  /** Armored. */
  certificate: string
  /** What the program knows it by: a file or a fingerprint. */
  handle: string
}

/** A certificate that a program is handed. */
export interface Handed {
  certificate: string
  fingerprint: string
}

export interface Program extends AsyncDisposable {
  readonly name: string
  readonly kinds: readonly KeyKind[]
  readonly features: readonly Feature[]
  makeKey(kind: KeyKind, name: string): Promise<ProgramKey>
  /** Signs with every signer and encrypts; gives the armored message. */
  seal(o: { text: string; to: Handed; signers: ProgramKey[]; feature?: Feature }): Promise<string>
  /** Decrypts, and says whether the signer's signature is good. */
  open(o: { armored: string; reader: ProgramKey; signer: Handed }): Promise<{
    text: string
    verified: boolean
  }>
}

/** A folder of a program's own, with a plain environment whose home it is. */
export class Workshop implements AsyncDisposable {
  readonly folder: string
  readonly #folder: AsyncDisposable
  #files = 0

  private constructor(folder: { path: string } & AsyncDisposable) {
    this.folder = folder.path
    this.#folder = folder
  }

  static async open(): Promise<Workshop> {
    return new Workshop(await shortFolder())
  }

  /** A path in the folder that nothing has yet. */
  path(ending: string): string {
    return join(this.folder, `${this.#files++}.${ending}`)
  }

  async file(ending: string, content: string | Uint8Array): Promise<string> {
    const path = this.path(ending)
    await writeFile(path, content)
    return path
  }

  async try(program: string, args: string[], input?: RunOptions['input']): Promise<Ran> {
    const env = { PATH: process.env['PATH'], HOME: this.folder, LC_ALL: 'C.UTF-8' }
    const cwd = this.folder
    return await run(program, args, input === undefined ? { env, cwd } : { env, cwd, input })
  }

  /** @throws Error with what the program said last */
  async run(program: string, args: string[], input?: RunOptions['input']): Promise<Ran> {
    const ran = await this.try(program, args, input)
    if (ran.code !== 0) throw new Error(lastLine(ran.stderr) || `exit code ${ran.code}`)
    return ran
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]()
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.slice(0, 160) ?? ''
