/** The programs with the Stateless OpenPGP interface; Debian's speak its older words. */
import { readFile } from 'node:fs/promises'
import {
  Workshop,
  type Feature,
  type Handed,
  type KeyKind,
  type Program,
  type ProgramKey,
} from '../program.ts'

interface Dialect {
  name: string
  /** The one kind of key that it makes. */
  kind: KeyKind
  features: Feature[]
  verificationsOut: string
}

class Sop implements Program {
  readonly name: string
  readonly kinds: readonly KeyKind[]
  readonly features: readonly Feature[]
  readonly #shop: Workshop
  readonly #verificationsOut: string

  constructor(dialect: Dialect, shop: Workshop) {
    this.name = dialect.name
    this.kinds = [dialect.kind]
    this.features = dialect.features
    this.#verificationsOut = dialect.verificationsOut
    this.#shop = shop
  }

  async makeKey(_: KeyKind, name: string): Promise<ProgramKey> {
    const key = await this.#shop.run(this.name, ['generate-key', name])
    const handle = await this.#shop.file('key', key.stdout)
    const certificate = await this.#shop.run(this.name, ['extract-cert'], key.stdout)
    return { certificate: certificate.stdout.toString(), handle }
  }

  async seal(o: {
    text: string
    to: Handed
    signers: ProgramKey[]
    feature?: Feature
  }): Promise<string> {
    const recipient = await this.#shop.file('cert', o.to.certificate)
    const signers = o.signers.map(({ handle }) => `--sign-with=${handle}`)
    const as = o.feature === 'text mode' ? ['--as=text'] : []
    const args = ['encrypt', ...as, ...signers, recipient]
    return (await this.#shop.run(this.name, args, o.text)).stdout.toString()
  }

  async open(o: {
    armored: string
    reader: ProgramKey
    signer: Handed
  }): Promise<{ text: string; verified: boolean }> {
    const signer = await this.#shop.file('cert', o.signer.certificate)
    const out = this.#shop.path('verifications')
    const flags = [`${this.#verificationsOut}=${out}`, `--verify-with=${signer}`]
    const args = ['decrypt', ...flags, o.reader.handle]
    const opened = await this.#shop.run(this.name, args, o.armored)
    const verifications = (await readFile(out, 'utf8')).toLowerCase()
    return {
      text: opened.stdout.toString(),
      verified: verifications.includes(o.signer.fingerprint),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#shop[Symbol.asyncDispose]()
  }
}

const sop = (dialect: Dialect) => async (): Promise<Program> =>
  new Sop(dialect, await Workshop.open())

export const sqop = sop({
  name: 'sqop',
  kind: 'cv25519',
  features: ['two signers', 'text mode'],
  verificationsOut: '--verifications-out',
})
export const gosop = sop({
  name: 'gosop',
  kind: 'rsa2048',
  features: ['text mode'],
  verificationsOut: '--verify-out',
})
export const pgpainless = sop({
  name: 'pgpainless-cli',
  kind: 'cv25519',
  features: ['two signers', 'text mode'],
  verificationsOut: '--verify-out',
})
