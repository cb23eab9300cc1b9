/** What every example says of Postern: settings, commands and files that there are. */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { createFullProgram } from '../../src/cli/program.ts'
import { SETTINGS } from '../../src/config/settings.ts'

const files = globSync('config/examples/**/*', { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => `${parentPath}/${name}`)
const commands = new Set((await createFullProgram()).commands.map((command) => command.name()))

test.each(files)('the example %s names only existing settings, commands and examples', (file) => {
  const text = readFileSync(file, 'utf8')
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => String(name))
  const known = [...SETTINGS.map(({ env }) => env), 'POSTERN_SANDBOX_CONTROL_TOKEN']
  expect(found(/\b(POSTERN_[A-Z_]+)\b/g).filter((name) => !known.includes(name))).toEqual([])
  const run = found(/(?:main\.ts,?|postern\.cjs|bin\/postern) ([a-z]+)/g)
  expect(run.filter((name) => !commands.has(name))).toEqual([])
  const named = found(
    /\b((?:kubernetes|postern|compose|echo)[a-z-]*\.(?:ya?ml|service|py|sh|mjs|go))\b/g,
  )
  const there = new Set(files.map((path) => basename(path)))
  expect(named.filter((name) => !there.has(name))).toEqual([])
})
