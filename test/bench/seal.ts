import { createMessage, encrypt, readKey } from 'openpgp'
import { Guard, type GuardParts } from '../../src/kernel/wall/guard.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import type { Engine } from '../../src/openpgp/engine.ts'
import { MOST_NAMED } from '../../src/openpgp/size.ts'
import { Floor } from './floor.ts'
import { compare, runJobs, type Contender, type Result } from './measure.ts'
import { makeCast, settled, type Cast } from './people.ts'
import { findGosop, type Gosop } from './programs.ts'
import { stallOf } from './stall.ts'

/** 480 ASCII characters: with 997 recipients as much as the service takes. */
const TEXT = 'x'.repeat(480)
const COUNTS = [1, 10, 100, 500, 950, 997]
const COLD_COUNTS = [1, 100, 997]
const LARGEST = 997
/** People of a large group, and how many of them have a subkey of ML-KEM-768+X25519. */
const PQC_COUNT = 900
const PQC = 5
const TARGET = { route: 'send', path: '/messages', later: null } as const

/** The guard before a latched chat, which asks for nothing else. */
const GUARD = new Guard({
  time: { nowMs: Date.now, monotonicMs: () => performance.now() },
  fresh: () => Promise.resolve(),
  knownChats: { isLatched: () => true },
} as unknown as GuardParts)
const RULE = await GUARD.rule(1)

/** Signing and sealing a text to final request bytes. */
export async function sealJobs(wanted: (job: string) => boolean): Promise<Result[]> {
  await using cast = await makeCast(LARGEST)
  await using floor = new Floor()
  using gosop = findGosop(cast, TEXT)
  const bench = { cast, floor, gosop }
  await send(cast.engine, cast, { certificates: cast.certificates })
  await settled(cast.engine)
  const jobs: Record<string, () => Promise<Result>> = {}
  for (const count of COUNTS) {
    jobs[`seal-prepared-${count}`] = () => prepared(bench, count)
    jobs[`seal-online-${count}`] = () => online(bench, count)
  }
  for (const count of COLD_COUNTS) jobs[`seal-cold-${count}`] = () => cold(bench, count)
  jobs[`seal-pqc-${PQC_COUNT}`] = () => withPqc(bench)
  jobs[`seal-stocked-${LARGEST}`] = () => stocked(bench)
  jobs[`seal-ahead-${LARGEST}`] = () => ahead(bench)
  return await runJobs(jobs, wanted)
}

interface Bench {
  cast: Cast
  floor: Floor
  gosop: Gosop | null
}

/** One message: everything from the text to the body that leaves. */
async function send(
  engine: Engine,
  { signer }: Cast,
  list: { certificates: readonly string[]; place?: string },
): Promise<void> {
  const isUnnamed = list.certificates.length > MOST_NAMED
  const request = { text: TEXT, signer, cipher: 'aes256', isUnnamed } as const
  const sealed = await engine.sealKnown({ ...request, ...list })
  GUARD.permitSealed(RULE, TARGET, {
    fields: { chatId: 1, sendId: 'x' },
    sealed,
    requireHeld: () => {},
  })
}

const firstOf = (cast: Cast, count: number): string[] => cast.certificates.slice(0, count)

/** The list was used before: session key and recipient packets are there. */
async function prepared(bench: Bench, count: number): Promise<Result> {
  const { cast } = bench
  const at = (size: number): Omit<Contender, 'name'> => {
    const list = { certificates: firstOf(cast, size), place: `prepared ${size}` }
    return {
      before: async () => {
        const ready = cast.prepared(list.place)
        await send(cast.engine, cast, list)
        await ready
      },
      run: () => send(cast.engine, cast, list),
    }
  }
  return await compare({
    job: `seal-prepared-${count}`,
    ours: at(count),
    peers: [cached(cast, count), naive(cast, count), { name: 'at-1-recipient', ...at(1) }],
    rounds: count > 100 ? 11 : 31,
    warmups: 3,
  })
}

/** The certificates are known, the list is not: nothing was made ahead. */
async function online({ cast, floor, gosop }: Bench, count: number): Promise<Result> {
  const others = gosop === null ? [] : [{ name: 'gosop', run: () => gosop.seal(count), rounds: 3 }]
  return await compare({
    job: `seal-online-${count}`,
    ours: { run: () => send(cast.engine, cast, { certificates: firstOf(cast, count) }) },
    peers: [
      cached(cast, count),
      naive(cast, count),
      { name: 'floor', run: () => floor.onTwo({ pairs: count + 1, secrets: count + 1 }) },
      ...others,
    ],
    rounds: count > 100 ? 9 : 21,
    warmups: 12,
  })
}

/** The same where a few people of a large group have a post-quantum subkey. */
async function withPqc({ cast }: Bench): Promise<Result> {
  const o = { createdMs: Date.now() - 300_000, passphrase: 'x', isRandom: true }
  const made = Array.from({ length: PQC }, (_, index) =>
    cast.engine.generate({ algorithm: 'pqc', userId: `pqc ${index}`, ...o }),
  )
  const few = (await Promise.all(made)).map(({ certificate }) => certificate)
  const sealing = (certificates: string[]) => ({
    run: () => send(cast.engine, cast, { certificates: [...certificates] }),
  })
  return await compare({
    job: `seal-pqc-${PQC_COUNT}`,
    ours: sealing([...firstOf(cast, PQC_COUNT - PQC), ...few]),
    peers: [{ name: 'classical alone', ...sealing(firstOf(cast, PQC_COUNT)) }],
    rounds: 9,
    warmups: 12,
  })
}

const RESTOCKED_MS = 1500

/** The same with pairs in ephemerals, as it is in a sidecar that has sealed before. */
async function stocked({ cast, floor }: Bench): Promise<Result> {
  const count = LARGEST
  return await compare({
    job: `seal-stocked-${count}`,
    ours: {
      before: async () => {
        await send(cast.engine, cast, { certificates: firstOf(cast, 1), place: 'stocking' })
        await new Promise((resolve) => setTimeout(resolve, RESTOCKED_MS))
      },
      run: () => send(cast.engine, cast, { certificates: firstOf(cast, count) }),
    },
    peers: [cached(cast, count), { name: 'floor', run: () => floor.onTwo({ secrets: count + 1 }) }],
    rounds: 7,
    warmups: 6,
  })
}

/** Certificates that nobody has seen: the same keys, in texts that differ each time. */
async function cold({ cast }: Bench, count: number): Promise<Result> {
  let turn = 0
  const unseen = (): string[] => {
    turn++
    return firstOf(cast, count).map((armored) =>
      armored.replace('\n\n', `\nComment: turn ${turn}\n\n`),
    )
  }
  let texts = unseen()
  await using engine = createEngine()
  const before = (): Promise<void> => settled(engine)
  return await compare({
    job: `seal-cold-${count}`,
    ours: {
      before: async () => {
        texts = unseen()
        await before()
      },
      run: () => send(engine, cast, { certificates: texts }),
    },
    peers: [{ ...naive(cast, count), before }],
    rounds: 5,
    warmups: 1,
  })
}

/** Making a message to the largest group ahead: how long, and how long the loop is held up. */
async function ahead({ cast }: Bench): Promise<Result> {
  const list = { certificates: firstOf(cast, LARGEST), place: 'ahead' }
  let ready: Promise<unknown> = Promise.resolve()
  /** A message is sent: that is when the next one is begun. */
  const before = async (): Promise<void> => {
    ready = cast.prepared(list.place)
    await send(cast.engine, cast, list)
  }
  const run = (): Promise<unknown> => ready
  const result = await compare({
    job: `seal-ahead-${LARGEST}`,
    ours: { before, run },
    peers: [],
    rounds: 5,
    warmups: 12,
  })
  return { ...result, ...(await stallOf(run, { times: 9, before })) }
}

function cached(cast: Cast, count: number): Contender {
  const encryptionKeys = [...cast.publicKeys.slice(0, count), cast.signerKey.toPublic()]
  return { name: 'openpgpjs-cached', run: () => sealPlainly(cast, encryptionKeys) }
}

function naive(cast: Cast, count: number): Contender {
  return {
    name: 'openpgpjs-naive',
    rounds: 3,
    run: async () => {
      const armored = firstOf(cast, count)
      const keys = await Promise.all(armored.map((armoredKey) => readKey({ armoredKey })))
      return await sealPlainly(cast, [...keys, cast.signerKey.toPublic()])
    },
  }
}

async function sealPlainly(cast: Cast, encryptionKeys: Cast['publicKeys']): Promise<unknown> {
  const message = await createMessage({ text: TEXT })
  return await encrypt({ message, encryptionKeys, signingKeys: cast.signerKey })
}
