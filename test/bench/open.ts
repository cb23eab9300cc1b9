import { decrypt, readMessage } from 'openpgp'
import { compare, type Result } from './measure.ts'
import { makeCast, type Cast } from './people.ts'

const TEXT = 'x'.repeat(500)

/** Opening and verifying: one message, a batch of 100 side by side, one with 950 recipients. */
export async function openJobs(): Promise<Result[]> {
  await using cast = await makeCast(950)
  const seal = (certificates: string[]): Promise<string> =>
    cast.engine.seal({ text: TEXT, certificates, signer: cast.signer, cipher: 'aes256' })
  const one = await seal([])
  const crowded = await seal(cast.certificates)
  const batch = await Promise.all(Array.from({ length: 100 }, () => seal([])))
  return [
    await compare({
      job: 'open-1',
      ours: () => open(cast, one),
      peers: [{ name: 'openpgpjs', run: () => openPlainly(cast, one) }],
      rounds: 30,
      warmups: 5,
    }),
    await compare({
      job: 'open-950',
      ours: () => open(cast, crowded),
      peers: [{ name: 'openpgpjs', run: () => openPlainly(cast, crowded) }],
      rounds: 10,
      warmups: 2,
    }),
    await compare({
      job: 'open-batch-100',
      ours: () => Promise.all(batch.map((armored) => open(cast, armored))),
      peers: [
        {
          name: 'openpgpjs',
          run: () => Promise.all(batch.map((armored) => openPlainly(cast, armored))),
        },
      ],
      rounds: 8,
      warmups: 2,
    }),
  ]
}

async function open(cast: Cast, armored: string): Promise<void> {
  const opened = await cast.engine.open(armored, [cast.signer])
  if (opened.outcome !== 'opened') throw new Error(opened.outcome)
  const certificate = cast.signerKey.toPublic().armor()
  const results = await cast.engine.verify(opened.signed, certificate, Date.now())
  if (results[0] !== 'valid') throw new Error('not verified')
}

async function openPlainly(cast: Cast, armored: string): Promise<void> {
  const message = await readMessage({ armoredMessage: armored })
  const { signatures } = await decrypt({
    message,
    decryptionKeys: cast.signerKey,
    verificationKeys: cast.signerKey.toPublic(),
  })
  await signatures[0]?.verified
}
