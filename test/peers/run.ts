/**
 * `npm run peers`: puts every shape before the programs that are installed and before us, and prints
 * where we differ. Arguments: `--ask` asks the programs anew and keeps their answers in `answers.json`
 * (minutes); `--keyring FILE` compares over the certificates of a keyring and keeps nothing.
 */
import { writeFile } from 'node:fs/promises'
import { openPeers, type Peer } from '../support/peers/index.ts'
import { SHAPES, questionsOf } from './all.ts'
import { FILE, kept, type Kept } from './kept.ts'
import { READ_MS, WORDS, reader, type Question, type Shape } from './shape.ts'

const args = process.argv.slice(2)
const only = args.filter((arg) => !arg.startsWith('--'))

async function ask(peer: Peer, shape: Shape): Promise<Partial<Record<Question, boolean>>> {
  const answers: Partial<Record<Question, boolean>> = {}
  const asked = questionsOf(shape)
  const { message, certificate } = shape
  if (asked.includes('seal')) answers.seal = await peer.encrypts(certificate, READ_MS)
  const question = { message, certificate, secrets: [reader.secret], atMs: READ_MS }
  const { text, valid } = await peer.open(question)
  const isRead = text !== null && isWords(text.toString())
  if (asked.includes('read')) answers.read = isRead
  if (asked.includes('verify')) answers.verify = isRead && valid > 0
  return answers
}

const isWords = (text: string): boolean =>
  text.replaceAll('\r\n', '\n').startsWith(WORDS) || text === ''

await using opened = await openPeers(only.length > 0 ? only : undefined)
const answers: Kept = structuredClone(kept())
for (const [name, peer] of opened.peers) {
  answers.versions[name] = peer.version
  let done = 0
  for (const [key, shape] of SHAPES) {
    const of = (answers.shapes[key] ??= {})
    of[name] ??= await ask(peer, shape)
    if (++done % 50 === 0) process.stderr.write(`${name}: ${done} of ${SHAPES.size}\n`)
  }
  await writeFile(FILE, `${JSON.stringify(answers)}\n`)
}
