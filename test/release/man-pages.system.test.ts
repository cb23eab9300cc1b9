import { spawnSync, works } from '../support/programs.ts'
import { expect, test } from 'vitest'
import type { Command } from 'commander'
import { manPages } from '../../config/man-pages.ts'
import { createFullProgram } from '../../src/cli/program.ts'

const pages = [...(await manPages())]
const hasGroff = works('groff is not installed', 'groff', '--version')

/** Every command with those below it, as it is typed. */
const typed = (command: Command): string[] => [
  command.name(),
  ...command.commands
    .filter((one) => one.name() !== 'help')
    .flatMap((one) => typed(one).map((line) => `${command.name()} ${line}`)),
]

test('each command has a man page with its name', async () => {
  const commands = typed(await createFullProgram())
  const names = commands.map((line) => `${line.replaceAll(' ', '-')}.1`)
  expect(names.length).toBeGreaterThan(50)
  expect(pages.map(([name]) => name).toSorted()).toEqual(names.toSorted())
})

test('a man page has the synopsis, the options and the example of --help', () => {
  const [, text = ''] = pages.find(([name]) => name === 'postern-backup-create.1') ?? []
  expect(text).toContain('.B postern backup create [options] <file>\n')
  expect(text).toContain('.B \\-\\-force\nreplace the file if it exists\n')
  expect(text).toContain('example: postern backup create postern.backup\n')
  expect(text).toContain('.BR postern\\-backup\\-verify (1)\n')
})

test('a man page contains no unescaped request and no character outside ASCII', () => {
  for (const [name, text] of pages) {
    for (const line of text.split('\n')) {
      expect(line, name).not.toMatch(/^'|^\.(?!(?:TH|SH|TP|B|BR|nf|fi)\b)|[^\0-\x7f]/)
    }
  }
})

test.skipIf(!hasGroff).each(pages)('groff typesets %s without a warning', (name, text) => {
  const args = ['-man', '-Tutf8', '-ww', '-b', '-rLL=80n', '-P-cbou']
  const { status, stdout, stderr } = spawnSync('groff', args, { input: text, encoding: 'utf8' })
  expect({ status, stderr }, name).toEqual({ status: 0, stderr: '' })
  expect(stdout).toContain('NAME')
})
