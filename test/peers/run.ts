/**
 * `npm run peers`: compares us with other programs over every shape, by the answers that were kept of
 * them, and prints a table. `--ask`, with names of programs or for all that are installed, first asks
 * anew and keeps the answers (minutes); `--shapes WORDS` asks about shapes with these in their name. `--keyring FILE` compares over the certificates of a keyring,
 * `--most N` over a sample of them, and keeps nothing.
 */
import { parseArgs } from 'node:util'
import { openPeers } from '../support/peers/index.ts'
import { SHAPES } from './all.ts'
import { ask } from './ask.ts'
import { readKept, writeKept, type Kept } from './kept.ts'
import { compareKeyring } from './keyring.ts'
import { compare, summary, tables } from './report.ts'

const { values, positionals } = parseArgs({
  options: {
    ask: { type: 'boolean' },
    shapes: { type: 'string', default: '' },
    keyring: { type: 'string' },
    most: { type: 'string' },
  },
  allowPositionals: true,
})

if (values.keyring !== undefined) {
  const most = values.most === undefined ? Infinity : Number(values.most)
  process.stdout.write(`${await compareKeyring(values.keyring, most)}\n`)
} else {
  if (values.ask === true) await askAll(positionals)
  const kept = readKept()
  const all = await compare(kept)
  process.stdout.write(`${tables(all)}\n\n${summary(all, kept)}\n`)
}

async function askAll(names: readonly string[]): Promise<void> {
  await using opened = await openPeers(names.length > 0 ? names : undefined)
  const { versions, shapes } = readKept()
  const answers: Kept = {
    versions,
    shapes: new Map([...SHAPES.keys()].map((key) => [key, shapes.get(key) ?? new Map()])),
  }
  for (const [name, peer] of opened.peers) {
    versions[name] = peer.version
    for (const [key, shape] of SHAPES) {
      if (key.includes(values.shapes)) answers.shapes.get(key)?.set(name, await ask(peer, shape))
    }
    process.stderr.write(`${name}: ${SHAPES.size} shapes\n`)
    writeKept(answers)
  }
}
