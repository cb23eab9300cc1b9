/** An authority that certifies people's certificates with gpg, as OpenPGP CA does. */
import { Gpg } from './openpgp-gpg.ts'

export interface CertifyOptions {
  /** One user id alone; all when not given. */
  userId?: string
  /** As of `--cert-notation`, such as `!user-id@corp.example=4711`. */
  notation?: string
  /** How gpg writes when it ends, such as `2d`. */
  expires?: string
  /** 0 to 3, for signatures of types 0x10 to 0x13. */
  level?: number
  atMs?: number
  digest?: string
}

const at = (atMs: number | undefined): string[] =>
  atMs === undefined
    ? []
    : // a time that stands still
      ['--faked-system-time', `${new Date(atMs).toISOString().replace(/[-:]|\.\d+Z/g, '')}!`]

export class GpgAuthority implements AsyncDisposable {
  readonly #gpg: Gpg
  certificate = ''
  fingerprint = ''

  private constructor(gpg: Gpg) {
    this.#gpg = gpg
  }

  /** @param o `algorithm` and `expires` as gpg's `--quick-gen-key` takes them */
  static async make({
    userId = 'authority',
    algorithm = 'ed25519',
    expires = 'never',
    atMs = undefined as number | undefined,
  } = {}): Promise<GpgAuthority> {
    const authority = new GpgAuthority(await Gpg.start())
    await authority.#gpg.run([...at(atMs), '--quick-gen-key', userId, algorithm, 'cert', expires])
    const { stdout } = await authority.#gpg.run(['--with-colons', '--list-keys'])
    authority.fingerprint = (
      /^fpr:+([0-9A-F]{40}):/m.exec(stdout.toString())?.[1] ?? ''
    ).toLowerCase()
    authority.certificate = await authority.#export(authority.fingerprint)
    return authority
  }

  /** A certificate with this authority's certification beside all that it has. */
  async certify(certificate: string, o: CertifyOptions = {}): Promise<string> {
    const { userId, notation, expires = '0', level = 3, atMs, digest } = o
    return await this.#change(certificate, [
      ...at(atMs),
      '--force-sign-key',
      ...(notation === undefined ? [] : ['--cert-notation', notation]),
      ...(digest === undefined
        ? []
        : ['--cert-digest-algo', digest, '--allow-weak-key-signatures']),
      '--default-cert-expire',
      expires,
      '--default-cert-level',
      String(level),
      '--min-cert-level',
      '1',
      '--local-user',
      this.fingerprint,
      '--quick-sign-key',
      '%',
      ...(userId === undefined ? [] : [userId]),
    ])
  }

  /** The certificate with a revocation (0x30) of what this authority certified. */
  async revoke(certificate: string, o: { userId?: string; atMs?: number } = {}): Promise<string> {
    const userIds = o.userId === undefined ? [] : [o.userId]
    const revoking = ['--quick-revoke-sig', '%', this.fingerprint, ...userIds]
    return await this.#change(certificate, [...at(o.atMs), ...revoking])
  }

  /** Its own certificate, revoked. */
  async revoked(): Promise<string> {
    const file = `${this.#gpg.home}/openpgp-revocs.d/${this.fingerprint.toUpperCase()}.rev`
    const { readFile } = await import('node:fs/promises')
    await this.#gpg.run(['--import'], (await readFile(file, 'utf8')).replace(':-----', '-----'))
    return await this.#export(this.fingerprint)
  }

  /** Runs gpg on a certificate that it has not met before. @param args `%` for its fingerprint */
  async #change(certificate: string, args: string[]): Promise<string> {
    const shown = await this.#gpg.run(['--with-colons', '--show-keys'], certificate)
    const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(shown.stdout.toString())?.[1] ?? ''
    await this.#gpg.try(['--delete-keys', fingerprint])
    await this.#gpg.run(['--import'], certificate)
    await this.#gpg.run(args.map((arg) => (arg === '%' ? fingerprint : arg)))
    return await this.#export(fingerprint)
  }

  async #export(fingerprint: string): Promise<string> {
    return (await this.#gpg.run(['--armor', '--export', fingerprint])).stdout.toString()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#gpg[Symbol.asyncDispose]()
  }
}
