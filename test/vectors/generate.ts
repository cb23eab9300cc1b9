/**
 * Writes the keys and the bodies of the vectors anew: `node test/vectors/generate.ts`. A header
 * keeps its fields but `sha256`. A new vector begins as a file with its header.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { bodies, keyFiles } from './files.ts'
import { readVector, sha256, writeVector } from './format.ts'

const here = new URL('./', import.meta.url)
for (const [path, text] of keyFiles()) writeFileSync(new URL(path, here), text)
for (const [path, body] of bodies()) {
  const file = new URL(path, here)
  const { kind, fields } = readVector(readFileSync(file, 'utf8'))
  const kept = fields.filter(([name]) => name !== 'sha256')
  writeFileSync(file, writeVector({ kind, fields: [...kept, ['sha256', sha256(body)]], body }))
}
