/** A person's phone inside the tests' process, by openpgp.js: it needs no program, and starts none. */
import * as openpgp from 'openpgp'
import { canaries } from './canaries.ts'
import type { PersonPhone, PhoneOpened, SealOptions } from './double-phones.ts'
import { sealPackets } from './faults-packets.ts'
import { armor, dearmored } from './openpgp-framing.ts'

/** A key is dated this much earlier, so that no signature of its first second precedes it. */
const MADE_BEFORE_MS = 60_000

type Verified = Pick<openpgp.VerifyMessageResult['signatures'][number], 'keyID' | 'verified'>

export class LibraryPhone implements PersonPhone {
  #key: openpgp.PrivateKey
  readonly #known = new Map<string, openpgp.PublicKey>()
  #certificate: openpgp.PublicKey

  private constructor(key: openpgp.PrivateKey) {
    this.#key = key
    this.#certificate = key.toPublic()
  }

  /** @param createdMs creation time of the key, ms since the epoch */
  static async make(createdMs?: number): Promise<LibraryPhone> {
    return new LibraryPhone(await makeKey('person', createdMs))
  }

  get certificate(): string {
    return this.#certificate.armor()
  }

  get fingerprint(): string {
    return this.#certificate.getFingerprint()
  }

  async seal(text: string, to: string[], o: SealOptions = {}): Promise<string> {
    canaries()?.words(text)
    if (o.dateMs !== undefined) return await this.sealPackets(await this.sign(text, o.dateMs), to)
    return await openpgp.encrypt(await this.#job(Buffer.from(text), to, { isSigned: true, ...o }))
  }

  async sealUnsigned(text: string, to: string[], o: SealOptions = {}): Promise<string> {
    canaries()?.words(text)
    return await openpgp.encrypt(await this.#job(Buffer.from(text), to, { isSigned: false, ...o }))
  }

  async sign(content: string | Buffer, dateMs = Date.now()): Promise<Buffer> {
    if (typeof content === 'string') canaries()?.words(content)
    const signed = await openpgp.sign({
      message: await openpgp.createMessage({ binary: Buffer.from(content as string) }),
      signingKeys: this.#key,
      date: new Date(dateMs),
      format: 'binary',
    })
    return Buffer.from(signed)
  }

  async sealPackets(packets: Buffer, to: string[]): Promise<string> {
    const sealed = await sealPackets(packets, to)
    return armor(Buffer.concat([sealed.recipients, sealed.container]))
  }

  async sealFile(content: Buffer, to: string[], o: SealOptions & { isSigned: boolean }) {
    if (o.dateMs !== undefined) {
      return dearmored(await this.sealPackets(await this.sign(content, o.dateMs), to))
    }
    const job = await this.#job(content, to, o)
    return Buffer.from(await openpgp.encrypt({ ...job, format: 'binary' }))
  }

  async unwrap(armored: string): Promise<Buffer> {
    const message = await openpgp.readMessage({ armoredMessage: armored })
    const inner = await message.decrypt([this.#key])
    return Buffer.from(inner.write() as Uint8Array)
  }

  async know(certificate: string): Promise<void> {
    const read = await openpgp.readKey({ armoredKey: certificate })
    this.#known.set(read.getFingerprint(), read)
  }

  async open(armored: string, from?: string): Promise<PhoneOpened> {
    if (from !== undefined) await this.know(from)
    const message = await openpgp.readMessage({ armoredMessage: armored })
    const { data, signatures } = await openpgp.decrypt({
      message,
      decryptionKeys: this.#key,
      verificationKeys: [...this.#known.values()],
      format: 'binary',
    })
    return { text: Buffer.from(data).toString(), signer: await this.#signer(signatures) }
  }

  async rotate(): Promise<void> {
    this.#key = await makeKey('again')
    this.#certificate = this.#key.toPublic()
  }

  async revoke(): Promise<void> {
    const { publicKey } = await openpgp.revokeKey({ key: this.#key, format: 'object' })
    this.#certificate = publicKey
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve()
  }

  async #job(
    binary: Buffer,
    to: string[],
    { isSigned, fileName }: SealOptions & { isSigned: boolean },
  ) {
    return {
      message: await openpgp.createMessage({ binary, filename: fileName ?? '' }),
      encryptionKeys: await read(to),
      ...(isSigned && { signingKeys: this.#key }),
    }
  }

  async #signer(signatures: Verified[]): Promise<string | null> {
    for (const { keyID, verified } of signatures) {
      if (!(await verified.catch(() => false))) continue
      const keys = [...this.#known.values()]
      return keys.find((one) => one.getKeys(keyID).length > 0)?.getFingerprint() ?? null
    }
    return null
  }
}

async function makeKey(name: string, createdMs = Date.now() - MADE_BEFORE_MS) {
  const { privateKey } = await openpgp.generateKey({
    type: 'ecc',
    curve: 'curve25519Legacy',
    userIDs: { name },
    date: new Date(createdMs),
    format: 'object',
  })
  return privateKey
}

const read = (certificates: string[]): Promise<openpgp.PublicKey[]> =>
  Promise.all(certificates.map((armoredKey) => openpgp.readKey({ armoredKey })))
