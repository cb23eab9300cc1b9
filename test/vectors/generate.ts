/** Writes the vectors anew: `node test/vectors/generate.ts`. Files of cases that are gone stay. */
import { mkdir, writeFile } from 'node:fs/promises'
import { generatedFiles } from './files.ts'

const here = new URL('./', import.meta.url)
for (const folder of ['keys', 'messages', 'certificates', 'chats']) {
  await mkdir(new URL(`${folder}/`, here), { recursive: true })
}
const files = generatedFiles()
for (const [path, text] of files) await writeFile(new URL(path, here), text)
process.stdout.write(`${files.size} files\n`)
