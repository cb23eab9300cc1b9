/** A service that wraps secrets by AES-GCM, its context authenticated, as those of clouds do. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { SecretWrapper } from '../../src/store/protection.ts'

export class WrapperDouble implements SecretWrapper {
  #key = randomBytes(32)
  /** Whether contexts are ignored, as by age. */
  isWithoutContext = false
  /** Every operation that it was asked for. */
  readonly asked: string[] = []

  /** From now on nothing that was wrapped before unwraps. */
  loseKey(): void {
    this.#key = randomBytes(32)
  }

  wrap(secret: Buffer, context: string): Promise<string> {
    this.asked.push(`wrap ${context}`)
    return Promise.resolve(this.encrypt(secret, context))
  }

  async unwrap(wrapped: string, context: string): Promise<Buffer> {
    this.asked.push(`unwrap ${context}`)
    return this.decrypt(wrapped, context)
  }

  encrypt(secret: Uint8Array, context: string): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce)
    if (!this.isWithoutContext) cipher.setAAD(Buffer.from(context))
    const sealed = Buffer.concat([cipher.update(secret), cipher.final()])
    return `vault:v1:${Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64')}`
  }

  /** @throws when it was wrapped by another key, or with another context */
  decrypt(wrapped: string, context: string): Buffer {
    const bytes = Buffer.from(wrapped.replace('vault:v1:', ''), 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, 12))
    if (!this.isWithoutContext) decipher.setAAD(Buffer.from(context))
    decipher.setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
  }
}
