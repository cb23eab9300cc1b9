/**
 * `npm run interop -- --differential [--cases N] [--minutes M] [--seed S]`: does what a message, a file
 * or a certificate asks for natively and with openpgp.js, and compares. A case counts where both gave
 * an answer. Each mismatch is printed with its kind and the seed that repeats it.
 */
import { isDeepStrictEqual } from 'node:util'
import { createEngine } from '../../src/openpgp/create.ts'
import type { Opened, UnlockedKey } from '../../src/openpgp/engine.ts'
import { dearmor } from '../../src/openpgp/format/armor.ts'
import { parseMessageBytes } from '../../src/openpgp/format/encrypted-message.ts'
import { describeOwnKey, judgeFully } from '../../src/openpgp/library/certificate-info.ts'
import { open } from '../../src/openpgp/library/open.ts'
import { verify } from '../../src/openpgp/library/verify.ts'
import { readCommonCertificate } from '../../src/openpgp/native/common-certificate.ts'
import { NativeOwnKeys } from '../../src/openpgp/native/own-keys.ts'
import { packRecord } from '../../src/openpgp/native/record-table.ts'
import { Verifier } from '../../src/openpgp/native/verify.ts'
import { openFile } from '../support/bulk.ts'
import { contentOf } from '../support/memory-room.ts'
import { plainCertificate } from '../support/openpgp-certificate.ts'
import { idsOf, sealHere } from '../support/openpgp-engine.ts'
import { armor } from '../support/openpgp-framing.ts'
import type { SigningKey } from '../support/openpgp-key.ts'
import { mutate, randomFrom, type Random } from '../support/openpgp-mutate.ts'
import { openNatively } from '../support/openpgp-native-parts.ts'
import { MADE_MS, NOW_MS, alice, bot, mallory, personOf } from '../support/openpgp-people.ts'
import { variedCertificate } from '../support/openpgp-varied.ts'
import { variedMessage } from '../support/openpgp-varied-message.ts'
import { ed25519Native, x25519Native } from '../support/openpgp-x25519.ts'

/** What became of a case, by kind of answer; null where openpgp.js alone answers. */
type Case = (random: Random) => Promise<string | null>

const modern = personOf('modern', ed25519Native('modern', MADE_MS), x25519Native('modern', MADE_MS))
const carol = ed25519Native('carol', MADE_MS)
const keys: UnlockedKey[] = [bot.unlocked, modern.unlocked]
const own = new NativeOwnKeys(describeOwnKey)
const verifier = new Verifier(() => true)
const SIGNERS: SigningKey[] = [alice.primary, mallory.primary, carol]
const CERTIFICATES = [
  alice.certificate,
  mallory.certificate,
  plainCertificate(carol, x25519Native('carol', MADE_MS), 'carol'),
]
const READERS = [alice, mallory, modern]

class Mismatch extends Error {}

function same(native: unknown, library: unknown): void {
  if (!isDeepStrictEqual(native, library)) throw new Mismatch()
}

const messageOf = (random: Random): Buffer =>
  variedMessage(random, { to: [bot.subkey, modern.subkey], signers: SIGNERS }).packets

const openedCase =
  (make: (random: Random) => Buffer): Case =>
  async (random) => {
    const encrypted = parseMessageBytes(make(random), idsOf(keys))
    if (encrypted.outcome !== 'encrypted') return null
    const natively = await openNatively(encrypted, keys, own)
    if (natively === null) return null
    same(natively, await open(encrypted, keys))
    return natively.outcome
  }

/** By the same certificate, one of three: the signer's, or not. */
const verified: Case = async (random) => {
  const encrypted = parseMessageBytes(messageOf(random), idsOf(keys))
  if (encrypted.outcome !== 'encrypted') return null
  const opened = await open(encrypted, keys)
  const certificate = CERTIFICATES[random(CERTIFICATES.length)] ?? alice.certificate
  const { info } = await judgeFully(certificate, NOW_MS)
  if (opened.outcome !== 'opened' || info === null) return null
  const results = await verifier.verify(opened.signed, info, NOW_MS)
  if (results === null) return null
  same(results, await verify(opened.signed, certificate, NOW_MS))
  return results.join(' ') || 'unsigned'
}

/** What is not of the common shape, or not as its signatures say, is for openpgp.js alone. */
const certificatesRead: Case = async (random) => {
  const certificate = armor(variedCertificate(random, NOW_MS), { type: 'PUBLIC KEY BLOCK' })
  const info = readCommonCertificate(certificate, NOW_MS)
  if (info === null) return null
  const judged = await judgeFully(certificate, NOW_MS)
  same([packRecord(info), null], [judged.info && packRecord(judged.info), judged.status.unusable])
  return 'usable'
}

/** A file in pieces, by the readers of files, and the same bytes as a message by openpgp.js. */
const fileCase =
  (make: (random: Random) => Buffer): Case =>
  async (random) => {
    const bytes = make(random)
    const encrypted = parseMessageBytes(bytes, idsOf(keys))
    if (encrypted.outcome !== 'encrypted') return null
    const message = await open(encrypted, keys)
    // a file may be of any bytes
    if ('reason' in message && message.reason === 'encoding') return null
    const file = await openFile(bytes, { keys, pieces: 1 + random(900) })
    if (file.outcome !== 'opened' || message.outcome !== 'opened') {
      same(file.outcome, message.outcome)
      return file.outcome
    }
    const content = (await contentOf(file.file)).toString()
    same(
      [content, file.dataDigest, file.signatures, file.openedWith],
      [message.text, message.dataDigest, message.signatures, message.openedWith],
    )
    return 'opened'
  }

const engine = createEngine({ threads: 1 })

function requestOf(random: Random) {
  const text = ['x', 'ß', '🌍', '\n'][random(4)]?.repeat(
    random(3) === 0 ? random(5000) : random(99),
  )
  const readers = READERS.toSorted(() => random(3) - 1).slice(0, random(READERS.length + 1))
  const signer = random(2) === 0 ? bot : modern
  const cipher = random(2) === 0 ? ('aes256' as const) : ('aes128' as const)
  const certificates = readers.map(({ certificate }) => certificate)
  const request = { text: text ?? '', certificates, signer: signer.unlocked, cipher }
  return { request, signer, reader: readers[0] ?? signer }
}

/** Whether a message opens for its reader, as it was sealed, and its signature is the signer's. */
function sameSealed(opened: Opened | null, text: string, results: unknown): void {
  same(
    [opened?.outcome, opened?.outcome === 'opened' && opened.text, results],
    ['opened', text, ['valid']],
  )
}

const sealedNatively: Case = async (random) => {
  const { request, signer, reader } = requestOf(random)
  const sealed = await engine.sealKnown(random(2) === 0 ? { ...request, place: 'a' } : request)
  const packets = dearmor(sealed.armored, 'MESSAGE') ?? Buffer.alloc(0)
  const encrypted = parseMessageBytes(packets, idsOf([reader.unlocked]))
  if (encrypted.outcome !== 'encrypted') throw new Mismatch()
  const opened = await open(encrypted, [reader.unlocked])
  const results =
    opened.outcome === 'opened' && (await verify(opened.signed, signer.certificate, Date.now()))
  sameSealed(opened, request.text, results)
  return request.cipher
}

const sealedByLibrary: Case = async (random) => {
  const { request, signer, reader } = requestOf(random)
  const packets = dearmor(await sealHere(request, NOW_MS), 'MESSAGE') ?? Buffer.alloc(0)
  const encrypted = parseMessageBytes(packets, idsOf([reader.unlocked]))
  if (encrypted.outcome !== 'encrypted') throw new Mismatch()
  const opened = await openNatively(encrypted, [reader.unlocked], own)
  if (opened === null) return null
  const { info } = await judgeFully(signer.certificate, NOW_MS)
  const results =
    opened.outcome === 'opened' && info && (await verifier.verify(opened.signed, info, NOW_MS))
  sameSealed(opened, request.text, results)
  return request.cipher
}

const spoilt = (random: Random): Buffer => mutate(messageOf(random), random)

/** Each is tried as often as any other. */
const KINDS: Record<string, Case> = {
  'sealed natively, opened by openpgp.js': sealedNatively,
  'sealed by openpgp.js, opened natively': sealedByLibrary,
  'messages by grammar': openedCase(messageOf),
  'messages spoilt in their packets': openedCase(spoilt),
  'signatures verified': verified,
  'files by grammar': fileCase(messageOf),
  'files spoilt in their packets': fileCase(spoilt),
  'certificates by grammar': certificatesRead,
}

interface Count {
  compared: number
  alone: number
  answers: Map<string, number>
  mismatches: number
}

/** Runs until as many cases were compared, or as much time has passed. @returns the exit code */
export async function runDifferential(args: string[]): Promise<number> {
  const valueOf = (name: string, preset: number): number =>
    args.includes(name) ? Number(args[args.indexOf(name) + 1]) : preset
  const cases = valueOf('--cases', 1_000_000)
  const untilMs = Date.now() + valueOf('--minutes', Infinity) * 60_000
  let seed = valueOf('--seed', 1)
  const counts = Object.keys(KINDS).map((kind): [string, Count] => {
    return [kind, { compared: 0, alone: 0, answers: new Map(), mismatches: 0 }]
  })
  const sum = (of: 'compared' | 'mismatches'): number =>
    counts.reduce((all, [, count]) => all + count[of], 0)
  for (; sum('compared') < cases && Date.now() < untilMs; seed++) {
    for (const [kind, count] of counts) await runCase(kind, count, seed)
  }
  for (const [kind, { compared, alone, answers, mismatches }] of counts) {
    const found = [...answers].toSorted(([, a], [, b]) => b - a)
    const shown = found.slice(0, 5).map(([answer, times]) => `${answer} ${times}`)
    print(`${kind}: ${compared} compared, ${mismatches} mismatches (${shown.join(', ')})`)
    print(`  for openpgp.js alone, or no encrypted message: ${alone}`)
  }
  print(`${sum('compared')} cases, ${sum('mismatches')} mismatches; the next seed is ${seed}`)
  await engine[Symbol.asyncDispose]()
  return sum('mismatches') === 0 ? 0 : 1
}

async function runCase(kind: string, count: Count, seed: number): Promise<void> {
  try {
    const answer = (await KINDS[kind]?.(randomFrom(seed))) ?? null
    if (answer === null) count.alone++
    else count.answers.set(answer, (count.answers.get(answer) ?? 0) + 1)
    if (answer !== null) count.compared++
  } catch (error) {
    count.compared++
    count.mismatches++
    print(
      `MISMATCH ${kind}, --seed ${seed}${error instanceof Mismatch ? '' : `: ${String(error)}`}`,
    )
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
