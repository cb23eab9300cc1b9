/** Files sealed to the bot of the tests by other programs, on the disk and of any size. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Gpg } from './openpgp-gpg.ts'
import { bot } from './openpgp-people.ts'
import { run, shortFolder } from './programs.ts'

/** One way in which a program seals a file. */
export interface Sealing {
  name: string
  /** @throws Error with what the program said */
  seal(from: string, to: string): Promise<void>
}

/** The programs in one place that goes away with them; `signer` is the certificate of whoever signs. */
export class Sealers implements AsyncDisposable {
  readonly folder: string
  readonly all: Sealing[] = []
  #signers = new Map<string, string>()
  readonly #things: AsyncDisposableStack

  private constructor(folder: string, things: AsyncDisposableStack) {
    this.folder = folder
    this.#things = things
  }

  static async open(): Promise<Sealers> {
    const things = new AsyncDisposableStack()
    const folder = things.use(await shortFolder()).path
    const sealers = new Sealers(folder, things)
    await writeFile(join(folder, 'bot.asc'), bot.certificate)
    await sealers.#addGpg()
    await sealers.#addSq()
    await sealers.#addRnp()
    return sealers
  }

  /** Armored certificate of the one who signs with a program: `gpg`, `sq`, `rnp`. */
  certificateOf(program: string): string {
    return this.#signers.get(program) ?? ''
  }

  /** The ways of one program, or one way by its whole name. */
  of(name: string): Sealing[] {
    return this.all.filter((one) => one.name === name || one.name.startsWith(`${name}: `))
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#things.disposeAsync()
  }

  /** What adds ways of a program, each with its flags. */
  #adder(
    program: string,
    sealWith: (flags: string[], from: string, out: string) => Promise<unknown>,
  ): (name: string, flags: string[]) => void {
    return (name, flags) => {
      const seal = async (from: string, out: string) => void (await sealWith(flags, from, out))
      this.all.push({ name: `${program}: ${name}`, seal })
    }
  }

  async #addGpg(): Promise<void> {
    const gpg = this.#things.use(await Gpg.start())
    await gpg.run(['--quick-generate-key', 'signer', 'ed25519', 'sign', 'never'])
    this.#signers.set('gpg', (await gpg.run(['--armor', '--export'])).stdout.toString())
    const to = ['--recipient-file', this.path('bot.asc')]
    // Where the recipient names no hash, GnuPG takes SHA-1.
    const sign = ['--digest-algo', 'SHA256', '--sign']
    const add = this.#adder('gpg', (flags, from, out) =>
      gpg.run([...flags, ...to, '--output', out, '--encrypt', from]),
    )
    add('as it comes', [])
    add('signed', sign)
    add('not compressed', ['-z', '0'])
    add('signed, not compressed', ['-z', '0', ...sign])
    for (const one of ['zip', 'zlib', 'bzip2']) add(one, ['--compress-algo', one, ...sign])
    for (const one of ['AES', 'AES192', '3DES', 'CAST5', 'BLOWFISH', 'TWOFISH', 'CAMELLIA128']) {
      add(one, ['-z', '0', ...sign, '--cipher-algo', one])
    }
    for (const one of ['SHA1', 'SHA384', 'SHA512']) add(one, ['--sign', '--digest-algo', one])
    add('anonymous', ['--throw-keyids', ...sign])
    add('as text', ['--textmode', ...sign])
    add('armored', ['--armor', ...sign])
    add('with a name', ['--set-filename', '../../etc/passwd'])
    this.all.push({
      name: 'gpg: by pipe',
      seal: async (from, out) => {
        const flags = ['-z', '0', ...sign, ...to, '--encrypt']
        const { stdout } = await gpg.run(flags, await readFile(from))
        await writeFile(out, stdout)
      },
    })
  }

  async #addSq(): Promise<void> {
    const key = this.path('sq.key')
    const made = ['--userid', 'signer', '--export', key, '--rev-cert', this.path('sq.rev')]
    await must('sq', ['key', 'generate', ...made])
    this.#signers.set('sq', (await must('sq', ['key', 'extract-cert', key])).toString())
    const to = ['--recipient-cert', this.path('bot.asc')]
    const add = this.#adder('sq', (flags, from, out) =>
      must('sq', ['encrypt', '--binary', ...flags, ...to, '--output', out, from]),
    )
    add('as it comes', [])
    for (const one of ['none', 'pad', 'zip', 'zlib', 'bzip2']) {
      add(one, ['--compression', one, '--signer-key', key])
    }
  }

  async #addRnp(): Promise<void> {
    const always = ['--homedir', this.folder, '--password', 'x', '--notty']
    const keys = [...always, '--generate-key', '--userid', 'signer', '--numbits', '2048']
    await must('rnpkeys', keys)
    const exported = await must('rnpkeys', [...always, '--export-key', 'signer'])
    this.#signers.set('rnp', exported.toString())
    await must('rnpkeys', [...always, '--import-keys', this.path('bot.asc')])
    const encrypt = [...always, '--encrypt', '--overwrite', '-r', bot.primary.fingerprint]
    const add = this.#adder('rnp', (flags, from, out) =>
      must('rnp', [...encrypt, ...flags, '--output', out, from]),
    )
    const sign = ['--sign', '-u', 'signer']
    add('as it comes', [])
    add('not compressed', ['-z', '0', ...sign])
    for (const one of ['zip', 'zlib', 'bzip']) add(one, [`--${one}`, '-z', '6', ...sign])
    for (const one of ['AES128', 'AES192', 'TRIPLEDES', 'CAST5'])
      add(one, ['--cipher', one, ...sign])
  }
}

async function must(program: string, args: string[]): Promise<Buffer> {
  const { code, stdout, stderr } = await run(program, args, { env: process.env })
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`)
  return stdout
}
