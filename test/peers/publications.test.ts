import { afterAll, expect, test } from 'vitest'
import type { CertificateStatus, MeasuredEngine } from '../../src/openpgp/index.ts'
import { seeds } from '../support/chance.ts'
import { concat } from '../support/openpgp-bytes.ts'
import {
  boundSubkey,
  keyPacket,
  keyRevocation,
  subkeyRevocation,
  userId,
  userIdRevocation,
} from '../support/openpgp-certificate.ts'
import { curve25519, type EncryptionKey } from '../support/openpgp-key.ts'
import { randomFrom } from '../support/openpgp-mutate.ts'
import { keyExpiresAfter } from '../support/openpgp-signature.ts'
import { armored, engineOf } from './ours.ts'
import { DAY_S, MADE_MS, READ_MS, primary } from './shape.ts'

const engines = [engineOf('native'), engineOf('library')]
afterAll(() => Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]())))

const DAY_MS = DAY_S * 1000
const READ_DAYS = (READ_MS - MADE_MS) / DAY_MS
type Random = ReturnType<typeof randomFrom>

/** An owner's key as it is today: of each part, the newest signatures alone. */
class Owner {
  #atMs = MADE_MS
  #flags = 3
  #endDays = 0
  #names = [{ name: 'Writer', atMs: MADE_MS, goneMs: 0 }]
  #subkeys: { key: EncryptionKey; atMs: number; goneMs: number }[] = []
  #revokedMs = 0

  constructor() {
    this.#addSubkey()
  }

  /** Changes one thing a day later. @returns whether there is a part more */
  change(random: Random): boolean {
    const parts = this.#names.length + this.#subkeys.length
    this.#atMs += DAY_MS
    const [name, subkey] = [this.#names, this.#subkeys].map((all) => all[random(all.length)])
    const changes = [
      () => {},
      () => void (this.#flags = random(2) === 0 ? 3 : 0x23),
      () => void (this.#endDays = READ_DAYS + 1 + random(1000)),
      () => void (this.#endDays = random(20) === 0 ? READ_DAYS - 100 : 0),
      () => void this.#names.push({ name: `Writer ${this.#atMs}`, atMs: 0, goneMs: 0 }),
      () => this.#addSubkey(),
      () => this.#retire(this.#names, name),
      () => this.#retire(this.#subkeys, subkey),
    ]
    changes[random(changes.length)]?.()
    for (const part of [...this.#names, ...this.#subkeys]) {
      if (part.goneMs === 0) part.atMs = this.#atMs
    }
    return this.#names.length + this.#subkeys.length > parts
  }

  revoke(): void {
    this.#revokedMs = this.#atMs
  }

  /** What is published today. */
  publish(): string {
    const hashed = this.#endDays === 0 ? [] : [keyExpiresAfter(this.#endDays * DAY_S)]
    const parts = [
      ...(this.#revokedMs > 0 ? [keyRevocation(primary, { atMs: this.#revokedMs })] : []),
      ...this.#names.flatMap(({ name, atMs, goneMs }) => [
        userId(primary, name, { atMs, flags: this.#flags, hashed }),
        ...(goneMs > 0 ? [userIdRevocation(primary, name, goneMs)] : []),
      ]),
      ...this.#subkeys.flatMap(({ key, atMs, goneMs }) => [
        boundSubkey(primary, key, { atMs, hashed: [] }),
        ...(goneMs > 0 ? [subkeyRevocation(primary, key, { atMs: goneMs, code: 3 })] : []),
      ]),
    ]
    return armored(concat(keyPacket(primary), ...parts), 'PUBLIC KEY BLOCK')
  }

  #addSubkey(): void {
    const key = curve25519(`peers ${this.#atMs}`, this.#atMs)
    this.#subkeys.push({ key, atMs: this.#atMs, goneMs: 0 })
  }

  /** Never the last one. */
  #retire(all: { goneMs: number }[], part: { goneMs: number } | undefined): void {
    const sound = all.filter(({ goneMs }) => goneMs === 0)
    if (part?.goneMs === 0 && sound.length > 1) part.goneMs = this.#atMs
  }
}

const stateOf = ({ unusable, expiresMs, encryptionKeys }: CertificateStatus) => ({
  unusable,
  expiresMs,
  sealedTo: encryptionKeys[0],
})

/** Compares at the last publication, and at some before it. */
async function publishAll(seed: number, engine: MeasuredEngine): Promise<void> {
  const random = randomFrom(seed)
  const owner = new Owner()
  let known = owner.publish()
  const last = 1 + random(random(2) === 0 ? 6 : 30)
  for (let count = 1; count <= last; count++) {
    const before = owner.publish()
    const isMore = owner.change(random)
    if (count === last && random(10) === 0) owner.revoke()
    const published = owner.publish()
    const status = await engine.judge(published, known)
    known = status.armored
    if (count < last && random(4) > 0) continue
    const where = `FUZZ_SEED=${seed}, publication ${count}`
    const newest = stateOf(await engine.judge(published))
    expect(stateOf(status), where).toEqual(newest)
    // a copy without the newest part cannot be used for it
    if (!isMore) expect(stateOf(await engine.judge(before, known)), where).toEqual(newest)
  }
}

test('the newest of any sequence of publications decides the status, in either order', async () => {
  const all = engines.map(async (engine) => {
    for (const seed of seeds(50)) await publishAll(seed, engine)
  })
  await Promise.all(all)
})
