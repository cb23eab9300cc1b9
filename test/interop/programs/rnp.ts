import { readFile } from 'node:fs/promises'
import {
  Workshop,
  type Feature,
  type Handed,
  type KeyKind,
  type Program,
  type ProgramKey,
} from '../program.ts'

const PASSWORD = 'rnp'

/** Answers to the questions of `--expert`: algorithm, then curve. */
const EXPERT: Partial<Record<KeyKind, string>> = {
  cv25519: '22\n',
  p256: '19\n1\n',
  p384: '19\n2\n',
  p521: '19\n3\n',
  bp256: '19\n4\n',
  bp384: '19\n5\n',
  bp512: '19\n6\n',
}
const BITS: Partial<Record<KeyKind, string>> = { rsa2048: '2048', rsa3072: '3072', rsa4096: '4096' }

const FLAGS: Partial<Record<Feature, string[]>> = {
  plain: ['-z', '0'],
  zip: ['--zip', '-z', '6'],
  zlib: ['--zlib', '-z', '6'],
  bzip2: ['--bzip', '-z', '6'],
  'two signers': [],
  '3des': ['--cipher', 'TRIPLEDES'],
}

class Rnp implements Program {
  readonly name = 'rnp'
  readonly kinds = [...Object.keys(EXPERT), ...Object.keys(BITS)] as KeyKind[]
  readonly features = Object.keys(FLAGS) as Feature[]
  readonly #shop: Workshop

  constructor(shop: Workshop) {
    this.#shop = shop
  }

  async makeKey(kind: KeyKind, name: string): Promise<ProgramKey> {
    const args = ['--generate-key', '--userid', name]
    const expert = EXPERT[kind]
    const how = expert === undefined ? ['--numbits', BITS[kind] ?? ''] : ['--expert']
    const made = await this.#keys([...args, ...how], expert)
    const output = made.stdout.toString() + made.stderr
    const handle = /sec .*\n\s+([0-9a-f]{40})/.exec(output)?.[1] ?? ''
    const exported = await this.#keys(['--export-key', handle])
    return { certificate: exported.stdout.toString(), handle }
  }

  async seal(o: {
    text: string
    to: Handed
    signers: ProgramKey[]
    feature?: Feature
  }): Promise<string> {
    await this.#import(o.to)
    const text = await this.#shop.file('txt', o.text)
    const out = this.#shop.path('pgp')
    const signers = o.signers.flatMap(({ handle }) => ['-u', handle])
    const flags = o.feature === undefined ? [] : (FLAGS[o.feature] ?? [])
    await this.#rnp([
      '--encrypt',
      '--sign',
      '--armor',
      '-r',
      o.to.fingerprint,
      ...signers,
      ...flags,
      '--output',
      out,
      text,
    ])
    return await readFile(out, 'utf8')
  }

  async open(o: { armored: string; signer: Handed }): Promise<{ text: string; verified: boolean }> {
    await this.#import(o.signer)
    const sealed = await this.#shop.file('pgp', o.armored)
    const out = this.#shop.path('txt')
    const ran = await this.#rnp(['--decrypt', '--output', out, sealed])
    // it notes each recipient that a signature names, between its other lines
    const stderr = ran.stderr.replaceAll(/^.* unknown subpacket : 35\n/gm, '')
    const keyId = o.signer.fingerprint.slice(-16)
    const good = new RegExp(`Good signature made .*\\n?.*${keyId}`, 'i')
    const verified = good.test(stderr) && stderr.includes('verified successfully')
    return { text: await readFile(out, 'utf8'), verified }
  }

  async #import({ certificate }: Handed): Promise<void> {
    await this.#keys(['--import-keys', await this.#shop.file('asc', certificate)])
  }

  #rnp(args: string[]): ReturnType<Workshop['run']> {
    return this.#shop.run('rnp', [...this.#common(), ...args])
  }

  #keys(args: string[], input?: string): ReturnType<Workshop['run']> {
    return this.#shop.run('rnpkeys', [...this.#common(), ...args], input)
  }

  #common(): string[] {
    return ['--homedir', this.#shop.folder, '--password', PASSWORD, '--notty']
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shop[Symbol.asyncDispose]()
  }
}

export const rnp = async (): Promise<Program> => new Rnp(await Workshop.open())
