/** Completion in real shells, each with the script that `postern completion` prints for it. */
import { execFileSync, isInstalled } from '../support/programs.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { dataFolder } from '../control/support.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { atTerminal, hasTerminals } from '../support/terminal.ts'
import { runInProcess } from './support.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
const scripts: Record<string, string> = {}

beforeAll(async () => {
  for (const shell of SHELLS) scripts[shell] = (await runInProcess(['completion', shell])).stdout
})

/** A folder with the script of a shell and a file to complete. */
function folderWith(shell: string): string {
  const cwd = dataFolder()
  writeFileSync(join(cwd, 'completion'), scripts[shell] ?? '')
  writeFileSync(join(cwd, 'settings.yaml'), '')
  return cwd
}

/** What can stand at the end of each line, sorted. */
const CASES: [line: string, offered: string[]][] = [
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

describe.runIf(isInstalled('bash'))('bash', () => {
  test('offers commands, flags, values and files', () => {
    const ask = `source ./completion
      for line; do
        read -ra COMP_WORDS <<< "$line"
        [[ $line == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)) COMPREPLY=()
        _postern
        echo "\${COMPREPLY[*]}"
      done`
    const lines = CASES.map(([line]) => line)
    const answers = execFileSync('bash', ['--norc', '-c', ask, 'bash', ...lines], {
      cwd: folderWith('bash'),
      encoding: 'utf8',
    }).split('\n')
    for (const [index, [line, offered]] of CASES.entries()) {
      expect((answers[index] ?? '').split(' ').filter(Boolean).toSorted(), line).toEqual(offered)
    }
  })

  test.runIf(hasTerminals)('completes at Tab', async () => {
    const { screen } = await atTerminal(
      ['bash', '--norc', '--noprofile', '-i'],
      [
        { when: /[$#] $/, types: `PS1='rea''dy> '; source ./completion\n` },
        { when: /ready> $/, types: 'postern key rot\t' },
        { when: /rotate /, types: '\u0015exit\n' },
      ],
      { cwd: folderWith('bash'), env: { PATH: '/usr/bin:/bin' } },
    )
    expect(screen).toContain('postern key rotate ')
  })
})

test.runIf(hasTerminals && isInstalled('zsh'))('zsh completes at Tab', async () => {
  // Each answer waits for what Tab has added.
  const { code } = await atTerminal(
    ['zsh', '-f', '-i'],
    [
      {
        when: /[%#] $/,
        types: `autoload -U compinit; compinit -u -D; source ./completion; PS1='rea''dy> '\n`,
      },
      { when: /ready> $/, types: 'postern key rot\t' },
      { when: /ate /, types: '\u0015postern run --log-level w\t' },
      { when: /warn /, types: '\u0015postern --config sett\t' },
      { when: /ings\.yaml /, types: '\u0015exit\n' },
    ],
    { cwd: folderWith('zsh'), env: { PATH: '/usr/bin:/bin' } },
  )
  expect(code).toBe(0)
})

test.runIf(isInstalled('fish'))('fish offers commands, flags, values and files', () => {
  const cwd = folderWith('fish')
  const ask = CASES.map(([line]) => `complete -C '${line}'; echo ----`).join('; ')
  const answers = execFileSync('fish', ['--no-config', '-c', `source ./completion; ${ask}`], {
    cwd,
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', HOME: cwd },
  }).split('----\n')
  for (const [index, [line, offered]] of CASES.entries()) {
    const names = (answers[index] ?? '').split('\n').map((one) => one.split('\t')[0] ?? '')
    expect(names.filter(Boolean).toSorted(), line).toEqual(offered)
  }
})

test('every command and every listed flag is in every script', async () => {
  const flags = SETTINGS.flatMap(({ flag }) => flag ?? [])
  expect(flags.length).toBeGreaterThan(20)
  for (const shell of SHELLS) {
    for (const word of [...flags, 'allow-readable', 'snapshot', 'completion']) {
      expect(scripts[shell], `${shell}: ${word}`).toContain(word)
    }
  }
})

test('another shell is refused, with those that there are', async () => {
  const { code, stdout, stderr } = await runInProcess(['completion', 'tcsh'])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('bash, zsh, fish')
})
