/** The scripts that `postern completion` prints, and the one for bash in bash. */
import { execFileSync, isInstalled } from '../support/programs.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { dataFolder } from '../control/support.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { runInProcess } from './support.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
const scripts: Record<string, string> = {}

beforeAll(async () => {
  for (const shell of SHELLS) scripts[shell] = (await runInProcess(['completion', shell])).stdout
})

/** The words that complete each line, sorted. */
const COMPLETIONS: [line: string, words: string[]][] = [
  ['postern ke', ['key']],
  ['postern key rot', ['rotate']],
  ['postern key protect ', ['exec', 'keychain', 'none', 'passphrase']],
  ['postern check --js', ['--json']],
  ['postern run --log-lev', ['--log-level']],
  ['postern run --log-level w', ['warn']],
  ['postern run --upstream-allow-http ', ['false', 'true']],
  ['postern --config sett', ['settings.yaml']],
  ['postern --config settings.yaml key pu', ['publish']],
  ['postern backup verify sett', ['settings.yaml']],
  ['postern run --upstream-url ', []],
  ['postern key nothing-of-the-kind', []],
]

test.runIf(isInstalled('bash'))('bash completes commands, flags, values and files', () => {
  const cwd = dataFolder()
  writeFileSync(join(cwd, 'completion'), scripts['bash'] ?? '')
  writeFileSync(join(cwd, 'settings.yaml'), '')
  const complete = `source ./completion
    for line; do
      read -ra COMP_WORDS <<< "$line"
      [[ $line == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMPREPLY=()
      _postern
      echo "\${COMPREPLY[*]}"
    done`
  const lines = COMPLETIONS.map(([line]) => line)
  const given = { cwd, encoding: 'utf8' } as const
  const printed = execFileSync('bash', ['--norc', '-c', complete, 'bash', ...lines], given)
  const words = printed.split('\n').map((line) => line.split(' ').filter(Boolean).toSorted())
  expect(lines.map((line, index) => [line, words[index]])).toEqual(COMPLETIONS)
})

test('each completion script contains every flag and the commands', async () => {
  const flags = SETTINGS.flatMap(({ flag }) => flag ?? [])
  expect(flags.length).toBeGreaterThan(20)
  for (const shell of SHELLS) {
    for (const word of [...flags, 'allow-readable', 'snapshot', 'completion']) {
      expect(scripts[shell], `${shell}: ${word}`).toContain(word)
    }
  }
})

test('`completion` for an unknown shell is refused with the supported shells', async () => {
  const { code, stdout, stderr } = await runInProcess(['completion', 'tcsh'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('bash, zsh, fish')
})
