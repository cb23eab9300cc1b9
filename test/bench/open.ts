import { decrypt, readMessage } from 'openpgp'
import { MOST_NAMED } from '../../src/openpgp/size.ts'
import { Floor } from './floor.ts'
import { compare, type Result } from './measure.ts'
import { makeCast, settled, type Cast } from './people.ts'
import { stallOf } from './stall.ts'

const TEXT = 'x'.repeat(500)
const BATCH = 100
const LARGEST = 997

/**
 * Opening and verifying: one message, one with the most recipients, a batch side by side. There are
 * warm-ups until what a bot's months are made of has been compiled, ours and the peers'.
 */
export async function openJobs(): Promise<Result[]> {
  await using cast = await makeCast(LARGEST)
  await using floor = new Floor()
  const one = await seal(cast, [])
  const crowded = await seal(cast, cast.certificates)
  const batch = await Promise.all(Array.from({ length: BATCH }, () => seal(cast, [])))
  await settled(cast.engine)
  const all = (open: typeof openOurs) => (): Promise<unknown> =>
    Promise.all(batch.map((armored) => open(cast, armored)))
  const together = await compare({
    job: `open-batch-${BATCH}`,
    ours: { run: all(openOurs) },
    peers: [
      { name: 'openpgpjs', run: all(openPlainly) },
      { name: 'floor', run: () => floor.onTwo({ secrets: BATCH, signatures: BATCH }) },
    ],
    rounds: 15,
    warmups: 12,
  })
  return [
    await compare({
      job: 'open-1',
      ours: { run: () => openOurs(cast, one) },
      peers: [
        { name: 'openpgpjs', run: () => openPlainly(cast, one) },
        { name: 'floor', run: () => floor.onOne({ secrets: 1, signatures: 1 }) },
      ],
      rounds: 51,
      warmups: 200,
    }),
    await compare({
      job: `open-${LARGEST}`,
      ours: { run: () => openOurs(cast, crowded) },
      peers: [{ name: 'openpgpjs', run: () => openPlainly(cast, crowded) }],
      rounds: 21,
      warmups: 40,
    }),
    { ...together, ...(await stallOf(all(openOurs), { times: 9 })) },
  ]
}

async function seal({ engine, signer }: Cast, certificates: string[]): Promise<string> {
  const isUnnamed = certificates.length > MOST_NAMED
  return await engine.seal({ text: TEXT, certificates, signer, cipher: 'aes256', isUnnamed })
}

async function openOurs({ engine, signer, certificate }: Cast, armored: string): Promise<void> {
  const opened = await engine.open(armored, [signer])
  if (opened.outcome !== 'opened') throw new Error(opened.outcome)
  const results = await engine.verify(opened.signed, certificate, Date.now())
  if (results[0] !== 'valid') throw new Error('not verified')
}

async function openPlainly({ signerKey }: Cast, armored: string): Promise<void> {
  const message = await readMessage({ armoredMessage: armored })
  const verificationKeys = signerKey.toPublic()
  const { signatures } = await decrypt({ message, decryptionKeys: signerKey, verificationKeys })
  await signatures[0]?.verified
}
