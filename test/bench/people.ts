import { generateKey, readPrivateKey, type PrivateKey, type PublicKey } from 'openpgp'
import { createEngine, type MeasuredEngine } from '../../src/openpgp/index.ts'
import type { UnlockedKey } from '../../src/openpgp/engine.ts'

/** A bot's key for every contender, and people to seal to. */
export interface Cast extends AsyncDisposable {
  engine: MeasuredEngine
  signer: UnlockedKey
  signerKey: PrivateKey
  /** The bot's own. */
  certificate: string
  certificates: string[]
  publicKeys: PublicKey[]
  /** Resolves when the next message of a place is ready but for its words. */
  prepared: (place: string) => Promise<void>
}

/** Makes the bot's key and so many people's, all Curve25519 in the legacy encoding. */
export async function makeCast(count: number): Promise<Cast> {
  const waiting = new Map<string, () => void>()
  const engine = createEngine({ onPrepared: (place) => waiting.get(place)?.() })
  const createdMs = Date.now() - 300_000
  const own = await engine.generate({ userId: 'bot', createdMs, passphrase: 'x' })
  const signer = await engine.unlock(own.locked, 'x')
  const publicKeys: PublicKey[] = []
  for (let index = 0; index < count; index++) {
    const { publicKey } = await generateKey({
      type: 'ecc',
      curve: 'curve25519Legacy',
      userIDs: [{ name: `person ${index}` }],
      date: new Date(createdMs),
      format: 'object',
    })
    publicKeys.push(publicKey)
  }
  return {
    engine,
    signer,
    signerKey: await readPrivateKey({ binaryKey: signer.bytes }),
    certificate: own.certificate,
    certificates: publicKeys.map((key) => key.armor()),
    publicKeys,
    prepared: (place) => new Promise((resolve) => waiting.set(place, resolve)),
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

const QUIET = { everyMs: 50, times: 15 }

/** Until the library has said its word on all that was read: that is in nobody's time. */
export async function settled(engine: MeasuredEngine): Promise<void> {
  for (let quiet = 0; quiet < QUIET.times;) {
    await new Promise((resolve) => setTimeout(resolve, QUIET.everyMs))
    const { certificates } = engine.load().threads
    quiet =
      certificates === undefined || certificates.busy + certificates.waiting === 0 ? quiet + 1 : 0
  }
}
