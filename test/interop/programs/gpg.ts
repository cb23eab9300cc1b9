import { Gpg } from '../../support/openpgp-gpg.ts'
import type { Feature, Handed, KeyKind, Program, ProgramKey } from '../program.ts'

/** Names of primary and subkey in GnuPG. */
const ALGORITHMS: Record<KeyKind, [string, string]> = {
  cv25519: ['ed25519', 'cv25519'],
  rsa2048: ['rsa2048', 'rsa2048'],
  rsa3072: ['rsa3072', 'rsa3072'],
  rsa4096: ['rsa4096', 'rsa4096'],
  p256: ['nistp256', 'nistp256'],
  p384: ['nistp384', 'nistp384'],
  p521: ['nistp521', 'nistp521'],
  bp256: ['brainpoolP256r1', 'brainpoolP256r1'],
  bp384: ['brainpoolP384r1', 'brainpoolP384r1'],
  bp512: ['brainpoolP512r1', 'brainpoolP512r1'],
}

const FLAGS: Partial<Record<Feature, string[]>> = {
  plain: ['--compress-algo', 'none'],
  zip: ['--compress-algo', 'zip'],
  zlib: ['--compress-algo', 'zlib'],
  bzip2: ['--compress-algo', 'bzip2'],
  anonymous: ['--throw-keyids'],
  'two signers': [],
  'text mode': ['--textmode'],
  'by pipe': ['--compress-algo', 'none'],
  '3des': ['--cipher-algo', '3DES'],
}

class GpgProgram implements Program {
  readonly name = 'gpg'
  readonly kinds = Object.keys(ALGORITHMS) as KeyKind[]
  readonly features = Object.keys(FLAGS) as Feature[]
  readonly #gpg: Gpg

  constructor(gpg: Gpg) {
    this.#gpg = gpg
  }

  async makeKey(kind: KeyKind, name: string): Promise<ProgramKey> {
    const [primary, subkey] = ALGORITHMS[kind]
    const made = await this.#gpg.run([
      '--status-fd',
      '1',
      '--quick-generate-key',
      name,
      primary,
      'cert,sign',
      'never',
    ])
    const handle = /KEY_CREATED \w ([0-9A-F]{40})/.exec(made.stdout.toString())?.[1] ?? ''
    await this.#gpg.run(['--quick-add-key', handle, subkey, 'encr', 'never'])
    const exported = await this.#gpg.run(['--armor', '--export', handle])
    return { certificate: exported.stdout.toString(), handle }
  }

  async seal(o: {
    text: string
    to: Handed
    signers: ProgramKey[]
    feature?: Feature
  }): Promise<string> {
    await this.#gpg.run(['--import'], o.to.certificate)
    const signers = o.signers.flatMap(({ handle }) => ['-u', handle])
    const flags = o.feature === undefined ? [] : (FLAGS[o.feature] ?? [])
    const args = ['--armor', ...flags, ...signers, '--sign', '--encrypt', '-r', o.to.fingerprint]
    return (await this.#gpg.run(args, o.text)).stdout.toString()
  }

  async open(o: { armored: string; signer: Handed }): Promise<{ text: string; verified: boolean }> {
    await this.#gpg.run(['--import'], o.signer.certificate)
    const opened = await this.#gpg.run(['--status-fd', '2', '--decrypt'], o.armored)
    const expected = `VALIDSIG ${o.signer.fingerprint.toUpperCase()}`
    const verified =
      opened.stderr.includes('DECRYPTION_OKAY') &&
      opened.stderr.includes('GOODSIG') &&
      opened.stderr.includes(expected)
    return { text: opened.stdout.toString(), verified }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gpg[Symbol.asyncDispose]()
  }
}

export const gpg = async (): Promise<Program> => new GpgProgram(await Gpg.start())
