import { afterAll, expect, test } from 'vitest'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { judgeFully, describeOwnKey } from '../../../src/openpgp/library/certificate-info.ts'
import type { SealRequest } from '../../../src/openpgp/engine.ts'
import { CertificateCache } from '../../../src/openpgp/native/certificate-cache.ts'
import { NativeOwnKeys } from '../../../src/openpgp/native/own-keys.ts'
import { Precomputer } from '../../../src/openpgp/native/precompute.ts'
import { RecipientPackets } from '../../../src/openpgp/native/recipient-packets.ts'
import { MessageSealer } from '../../../src/openpgp/native/sealer.ts'
import { CertificateReader, WorkPriority } from '../../../src/openpgp/native/threads.ts'
import type { NativeJobs } from '../../../src/openpgp/native/worker.ts'
import { Pool } from '../../../src/openpgp/pool.ts'
import { openNatively } from '../../support/openpgp-native-parts.ts'
import { readRecipient } from '../../../src/openpgp/crypto/recipient.ts'
import { open } from '../../../src/openpgp/library/open.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import { allListAes256, recipientPackets } from '../../../src/openpgp/library/seal.ts'
import type { Sealed } from '../../../src/openpgp/format/armor-writer.ts'
import { verify } from '../../../src/openpgp/library/verify.ts'
import { parseMessageBytes } from '../../../src/openpgp/format/encrypted-message.ts'
import { idsOf, sealHere } from '../../support/openpgp-engine.ts'
import { generated } from '../../support/openpgp-generated.ts'
import { seeds } from '../../support/chance.ts'
import { randomFrom, type Random } from '../../support/openpgp-mutate.ts'
import { MADE_MS, personOf, testPerson } from '../../support/openpgp-people.ts'
import { ed25519Native, x25519Native } from '../../support/openpgp-x25519.ts'

/** Somebody to seal to, and to open as. */
interface Reader {
  certificate: string
  unlocked: SealRequest['signer']
}

const modern = (name: string): ReturnType<typeof personOf> =>
  personOf(name, ed25519Native(name, MADE_MS), x25519Native(name, MADE_MS))
const READERS: Reader[] = [
  ...Array.from({ length: 12 }, (_, index) => testPerson(`reader ${index}`)),
  ...Array.from({ length: 6 }, (_, index) => modern(`modern ${index}`)),
  await generated({ curve: 'nistP256' }),
]
const SIGNERS = [testPerson('signer'), modern('modern signer')]

let ready: (place: string) => void = () => {}
const onKilled = (): void => expect.unreachable('a thread died')
const threads = new Pool<NativeJobs>('native/worker', 1, { onKilled })
const priority = new WorkPriority()
const certificates = new CertificateCache({
  reader: new CertificateReader(threads),
  priority,
  judge: judgeFully,
  onDisagreement: () => expect.unreachable('the library disagreed'),
})
const own = new NativeOwnKeys(describeOwnKey)
const builder = new RecipientPackets({
  threads,
  priority,
  // As it is when it goes to a thread: the copy is zeroed there.
  packetsFor: (texts, { cipher, data }) =>
    recipientPackets(texts, { data: Buffer.from(data), cipher }, Date.now()),
})
const bounds = { maxBytes: 1e7, keepMs: 60_000 }
const sealer = new MessageSealer({
  certificates,
  own,
  packets: builder,
  precomputer: new Precomputer({ packets: builder, bounds, onPrepared: (place) => ready(place) }),
  readAes256: (texts) => allListAes256(texts, Date.now()),
})
afterAll(async () => {
  certificates[Symbol.dispose]()
  sealer[Symbol.dispose]()
  await threads[Symbol.asyncDispose]()
})

/** Seals, half of the time with a prepared message. */
async function sealSome(random: Random, request: SealRequest): Promise<Sealed> {
  const isAhead = random(2) === 0
  if (isAhead) {
    const made = new Promise<void>((resolve) => {
      ready = () => resolve()
    })
    await sealer.seal({ ...request, place: 'here' })
    await made
  }
  const sealed = await sealer.seal(isAhead ? { ...request, place: 'here' } : request)
  if (sealed === null) throw new Error('left to the library')
  return sealed
}

interface Made {
  request: SealRequest
  sealed: Sealed
  readers: Reader[]
  packets: Uint8Array
  signer: (typeof SIGNERS)[number]
}

async function make(seed: number): Promise<Made> {
  const random = randomFrom(seed)
  const count = random(4) === 0 ? random(READERS.length) : random(4)
  const readers = READERS.toSorted(() => random(3) - 1).slice(0, count)
  const signer = SIGNERS[random(2)] ?? SIGNERS[0]
  if (signer === undefined) throw new Error('nobody signs')
  const length = random(3) === 0 ? random(5000) : random(200)
  const request: SealRequest = {
    text: ['x', 'ß', '🌍', '\n'][random(4)]?.repeat(length) ?? '',
    certificates: readers.map(({ certificate }) => certificate),
    signer: signer.unlocked,
    cipher: random(2) === 0 ? 'aes256' : 'aes128',
  }
  const sealed = await sealSome(random, request)
  const packets = dearmor(sealed.armored, 'MESSAGE') ?? Buffer.alloc(0)
  return { request, sealed, readers, packets, signer }
}

test('random messages sealed natively or by openpgp.js open with both engines alike', async () => {
  const sessionPoints = new Set<string>()
  for (const seed of seeds(80)) {
    const { request, sealed, readers, packets, signer } = await make(seed)
    const named = [...packetsOf(packets)].filter(({ tag }) => tag === 1)
    expect(named, `FUZZ_SEED=${seed}`).toHaveLength(readers.length + 1)
    for (const { body } of named) {
      const point = readRecipient(body)?.ephemeral.toString('hex')
      if (point !== undefined) expect(sessionPoints.has(point), `FUZZ_SEED=${seed}`).toBe(false)
      if (point !== undefined) sessionPoints.add(point)
    }
    const one = readers[randomFrom(seed + 7)(readers.length + 1)] ?? signer
    for (const reader of new Set([signer, one])) {
      const encrypted = parseMessageBytes(packets, idsOf([reader.unlocked]))
      if (encrypted.outcome !== 'encrypted') throw new Error(`FUZZ_SEED=${seed}`)
      const opened = await open(encrypted, [reader.unlocked])
      expect(opened, `FUZZ_SEED=${seed}`).toMatchObject({
        outcome: 'opened',
        text: request.text,
        dataDigest: sealed.dataDigest,
        signatures: [{ digest: sealed.statementDigest }],
      })
      if (opened.outcome !== 'opened') continue
      const results = await verify(opened.signed, signer.certificate, Date.now())
      expect(results, `FUZZ_SEED=${seed}`).toEqual(['valid'])
      const natively = await openNatively(encrypted, [reader.unlocked], own)
      if (natively !== null) expect(natively, `FUZZ_SEED=${seed}`).toEqual(opened)
    }
    if (seed % 4 > 0) continue
    const byLibrary = dearmor(await sealHere(request, Date.now()), 'MESSAGE') ?? Buffer.alloc(0)
    const encrypted = parseMessageBytes(byLibrary, idsOf([one.unlocked]))
    if (encrypted.outcome !== 'encrypted') throw new Error(`FUZZ_SEED=${seed}`)
    const opened = await open(encrypted, [one.unlocked])
    expect(opened, `FUZZ_SEED=${seed}`).toMatchObject({ outcome: 'opened', text: request.text })
    const natively = await openNatively(encrypted, [one.unlocked], own)
    if (natively !== null) expect(natively, `FUZZ_SEED=${seed}`).toEqual(opened)
  }
})
