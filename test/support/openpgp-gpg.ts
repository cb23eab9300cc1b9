/** GnuPG in a home of its own, whose agent ends with it. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, shortFolder, type Ran } from './programs.ts'

export class Gpg implements AsyncDisposable {
  readonly home: string
  readonly #folder: AsyncDisposable

  private constructor(folder: { path: string } & AsyncDisposable) {
    this.home = folder.path
    this.#folder = folder
  }

  static async start(): Promise<Gpg> {
    const gpg = new Gpg(await shortFolder())
    // Each lock takes its agent 10 ms and not 100: nobody attacks it, and it locks again and again.
    const agent = 'allow-loopback-pinentry\ns2k-calibration 10\n'
    await writeFile(join(gpg.home, 'gpg-agent.conf'), agent)
    return gpg
  }

  /** Runs gpg without questions; a passphrase goes to whatever asks for one. */
  async try(args: string[], input?: string | Uint8Array, passphrase = ''): Promise<Ran> {
    const always = [
      '--homedir',
      this.home,
      '--batch',
      '--yes',
      '--no-tty',
      '--trust-model',
      'always',
    ]
    const loopback = ['--pinentry-mode', 'loopback', '--passphrase', passphrase]
    const env = { PATH: process.env['PATH'], HOME: this.home, LC_ALL: 'C' }
    return await run(
      'gpg',
      [...always, ...loopback, ...args],
      input === undefined ? { env } : { env, input },
    )
  }

  /** The same, for what must go well. @throws Error with what gpg said */
  async run(args: string[], input?: string | Uint8Array, passphrase?: string): Promise<Ran> {
    const ran = await this.try(args, input, passphrase)
    if (ran.code !== 0) throw new Error(`gpg ${args.join(' ')}: ${ran.stderr}`)
    return ran
  }

  /** Ends the agent, and with it the passphrases that it remembers. */
  async forget(): Promise<void> {
    await run('gpgconf', ['--homedir', this.home, '--kill', 'all'])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.forget()
    await this.#folder[Symbol.asyncDispose]()
  }
}
