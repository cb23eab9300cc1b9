/** The comparison over the certificates of a real keyring: nothing of them is printed or kept. */
import { readFile } from 'node:fs/promises'
import { createEngine } from '../../src/openpgp/index.ts'
import { openPeers } from '../support/peers/index.ts'
import { armor } from '../support/openpgp-framing.ts'
import { FIVE } from './kept.ts'

const BLOCK =
  /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:.+\r?\n)*\r?\n([^]*?)(?:\r?\n=.{4})?\r?\n-----END/g

/** The packets of a keyring, binary or in one block of armor after the other. */
function packetsOf(file: Buffer): Buffer {
  if (((file[0] ?? 0) & 0x80) !== 0) return file
  const blocks = file.toString('latin1').matchAll(BLOCK)
  return Buffer.concat([...blocks].map(([, body = '']) => Buffer.from(body, 'base64')))
}

/** Where a packet ends that has a definite length (RFC 9580, 4.2). */
function endOf(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0
  if ((first & 0x40) === 0) {
    const size = 2 ** (first & 3)
    return at + 1 + size + bytes.readUIntBE(at + 1, size)
  }
  const length = bytes[at + 1] ?? 0
  if (length < 192) return at + 2 + length
  if (length < 224) return at + 3 + bytes.readUInt16BE(at + 1) - (192 << 8) + 192
  return at + 6 + bytes.readUInt32BE(at + 2)
}

/** Splits a keyring before each primary key. */
export function certificatesOf(file: Buffer): Buffer[] {
  const bytes = packetsOf(file)
  const starts: number[] = []
  for (let at = 0; at < bytes.length; at = endOf(bytes, at)) {
    const first = bytes[at] ?? 0
    const tag = (first & 0x40) === 0 ? (first >> 2) & 15 : first & 63
    if (tag === 6) starts.push(at)
  }
  return starts.map((start, index) => bytes.subarray(start, starts[index + 1]))
}

/** What is known of one certificate: who seals to it, and our reason where we do not. */
interface Judged {
  takers: string[]
  unusable: string | null
}

/**
 * Who seals to the certificates of a keyring, and our reasons by how many of the five programs seal.
 * @param most of them, spread over the keyring
 */
export async function compareKeyring(path: string, most: number): Promise<string> {
  const all = certificatesOf(await readFile(path))
  const step = Math.max(1, all.length / most)
  const sample = all.filter((_, index) => Math.floor(index / step) < Math.ceil((index + 1) / step))
  await using opened = await openPeers()
  await using engine = createEngine({ threads: 1 })
  const nowMs = Date.now()
  const judged: Judged[] = []
  for (const certificate of sample) {
    const { unusable } = await engine.judge(armor(certificate, { type: 'PUBLIC KEY BLOCK' }))
    const seals = [...opened.peers].map(async ([name, peer]) => {
      return (await peer.encrypts(certificate, nowMs)) ? [name] : []
    })
    judged.push({ takers: (await Promise.all(seals)).flat(), unusable })
    if (judged.length % 50 === 0) process.stderr.write(`${judged.length} of ${sample.length}\n`)
  }
  return matrixOf([...opened.peers.keys()], judged, all.length)
}

function matrixOf(names: readonly string[], judged: readonly Judged[], all: number): string {
  const row = (name: string, cells: readonly (string | number)[]): string =>
    name.padEnd(24) + cells.map((cell) => String(cell).padStart(8)).join('')
  const sealed = judged.filter(({ unusable }) => unusable === null)
  const refused = Map.groupBy(
    judged.filter(({ unusable }) => unusable !== null),
    ({ unusable }) => unusable ?? '',
  )
  const ofFive = ({ takers }: Judged): number => FIVE.filter((name) => takers.includes(name)).length
  const counts = [0, 1, 2, 3, 4, 5]
  const byCount = (some: readonly Judged[]): number[] =>
    counts.map((count) => some.filter((one) => ofFive(one) === count).length)
  const isBy = (name: string) => (one: Judged) => one.takers.includes(name)
  return [
    `${judged.length} of ${all} certificates`,
    row('who seals to them', ['all', 'as we', 'alone']),
    row('we', [sealed.length, sealed.length, byCount(sealed)[0] ?? 0]),
    ...names.map((name) => {
      const [some, both] = [judged, sealed].map((of) => of.filter(isBy(name)).length)
      return row(name, [some ?? 0, both ?? 0, (some ?? 0) - (both ?? 0)])
    }),
    '',
    row('of the five seal', counts),
    row('we seal', byCount(sealed)),
    ...[...refused].toSorted().map(([reason, of]) => row(reason, byCount(of))),
  ].join('\n')
}
