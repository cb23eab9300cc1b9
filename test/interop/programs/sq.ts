import { readFile } from 'node:fs/promises'
import {
  Workshop,
  type Feature,
  type Handed,
  type KeyKind,
  type Program,
  type ProgramKey,
} from '../program.ts'

const SUITES: Partial<Record<KeyKind, string>> = {
  cv25519: 'cv25519',
  rsa3072: 'rsa3k',
  rsa4096: 'rsa4k',
}

const COMPRESSION: Partial<Record<Feature, string>> = {
  plain: 'none',
  zip: 'zip',
  zlib: 'zlib',
  bzip2: 'bzip2',
  padded: 'pad',
}

class Sq implements Program {
  readonly name = 'sq'
  readonly kinds = Object.keys(SUITES) as KeyKind[]
  readonly features: Feature[] = [
    ...(Object.keys(COMPRESSION) as Feature[]),
    'two signers',
    'by pipe',
  ]
  readonly #shop: Workshop

  constructor(shop: Workshop) {
    this.#shop = shop
  }

  async makeKey(kind: KeyKind, name: string): Promise<ProgramKey> {
    const handle = this.#shop.path('key')
    const suite = SUITES[kind] ?? ''
    await this.#shop.run('sq', [
      'key',
      'generate',
      '--userid',
      name,
      '--cipher-suite',
      suite,
      '--export',
      handle,
    ])
    const certificate = await this.#shop.run('sq', ['key', 'extract-cert', handle])
    return { certificate: certificate.stdout.toString(), handle }
  }

  async seal(o: {
    text: string
    to: Handed
    signers: ProgramKey[]
    feature?: Feature
  }): Promise<string> {
    const recipient = await this.#shop.file('cert', o.to.certificate)
    const signers = o.signers.flatMap(({ handle }) => ['--signer-key', handle])
    const compression = o.feature === undefined ? undefined : COMPRESSION[o.feature]
    const flags = compression === undefined ? [] : ['--compression', compression]
    const args = ['encrypt', ...flags, ...signers, '--recipient-cert', recipient]
    if (o.feature === 'by pipe') return (await this.#shop.run('sq', args, o.text)).stdout.toString()
    const text = await this.#shop.file('txt', o.text)
    return (await this.#shop.run('sq', [...args, text])).stdout.toString()
  }

  async open(o: {
    armored: string
    reader: ProgramKey
    signer: Handed
  }): Promise<{ text: string; verified: boolean }> {
    const signer = await this.#shop.file('cert', o.signer.certificate)
    const out = this.#shop.path('out')
    const args = ['decrypt', '--recipient-key', o.reader.handle, '--signer-cert', signer, '-o', out]
    const { stderr } = await this.#shop.run('sq', args, o.armored)
    return { text: await readFile(out, 'utf8'), verified: stderr.includes('1 good signature') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shop[Symbol.asyncDispose]()
  }
}

export const sq = async (): Promise<Program> => new Sq(await Workshop.open())
