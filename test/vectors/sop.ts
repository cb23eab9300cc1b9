/**
 * Runs the vectors with the programs of `support/peers`: `node test/vectors/sop.ts [--markdown]
 * [PROGRAM …]`. A program agrees with a message where it opens the text that the vector names and
 * verifies as many signatures, or opens nothing where the vector names none; with a certificate where
 * it encrypts to the usable, and not to the unusable.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { PEER_NAMES, openPeers, type Peer } from '../support/peers/index.ts'
import { readVector, type Vector } from './format.ts'
import { readText, wordsOf } from './read.ts'

const HERE = new URL('./', import.meta.url).pathname

/** The difference between a program and a vector; null where it agrees. */
type Difference = string | null

async function compareMessage(peer: Peer, vector: Vector): Promise<Difference> {
  const field = new Map(vector.fields)
  const atMs = Date.parse(field.get('now') ?? '')
  const { text, valid } = await peer.open({
    message: vector.body,
    secrets: wordsOf(field.get('reader')).map((name) => readText(`keys/${name}.secret.asc`)),
    certificate: readText(`keys/${field.get('signer') ?? 'alice'}.asc`),
    atMs,
    notAfterMs: atMs,
  })
  if (field.get('outcome') !== 'opened') return text === null ? null : 'opens it'
  if (text === null) return 'does not open it'
  const expected = field.get('text')
  const isText =
    expected === undefined
      ? createHash('sha256').update(text).digest('hex') === field.get('text-sha256')
      : text.equals(Buffer.from(JSON.parse(expected) as string))
  if (!isText) return 'opens another text'
  const isValid = wordsOf(field.get('signatures')).includes('valid')
  if (valid > 0 === isValid) return null
  return isValid ? 'finds no valid signature' : 'finds a valid signature'
}

async function compareCertificate(peer: Peer, { fields, body }: Vector): Promise<Difference> {
  const field = new Map(fields)
  const isUsable = field.get('outcome') === 'usable'
  if ((await peer.encrypts(body, Date.parse(field.get('now') ?? ''))) === isUsable) return null
  return isUsable ? 'does not encrypt to it' : 'encrypts to it'
}

/** Not for vectors with an earlier copy, nor for those that depend on a time that cannot be given. */
function isAsked({ hasClock }: Peer, { fields }: Vector): boolean {
  const field = new Map(fields)
  const isTimed = (field.get('expires') ?? 'never') !== 'never' || field.has('not-before')
  return !field.has('known') && (hasClock || !isTimed)
}

const args = process.argv.slice(2)
const chosen = args.filter((arg) => !arg.startsWith('--'))
const isMarkdown = args.includes('--markdown')
/** Every vector of a folder, by the name of its file. */
function vectorsIn(folder: string): [name: string, vector: Vector][] {
  return readdirSync(join(HERE, folder))
    .toSorted()
    .map((name) => [name, readVector(readFileSync(join(HERE, folder, name), 'utf8'))])
}

const SETS = [
  { set: 'messages', vectors: vectorsIn('messages'), compare: compareMessage },
  { set: 'certificates', vectors: vectorsIn('certificates'), compare: compareCertificate },
]
if (isMarkdown) {
  process.stdout.write('| program | messages | certificates |\n| --- | --- | --- |\n')
}
const names = chosen.length > 0 ? chosen : PEER_NAMES
{
  await using opened = await openPeers(names)
  for (const name of names) {
    const peer = opened.peers.get(name)
    if (peer === undefined) process.stderr.write(`${name}: not installed\n`)
    else await answer(name, peer)
  }
}

/** Runs all vectors with a program, and prints its row or its list. */
async function answer(name: string, peer: Peer): Promise<void> {
  const cells: string[] = []
  const lines: string[] = []
  for (const { set, vectors, compare } of SETS) {
    const asked = vectors.filter(([, vector]) => isAsked(peer, vector))
    const differing: string[] = []
    for (const [vector, content] of asked) {
      const difference = await compare(peer, content)
      if (difference !== null) differing.push(`    ${vector}: ${difference}`)
    }
    const cell = `${asked.length - differing.length} of ${asked.length}`
    cells.push(cell)
    lines.push(`  ${set}: ${cell} alike`, ...differing)
  }
  if (isMarkdown) process.stdout.write(`| ${peer.version} | ${cells.join(' | ')} |\n`)
  else process.stdout.write(`${[`${name} (${peer.version})`, ...lines].join('\n')}\n`)
}
