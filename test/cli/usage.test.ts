import { resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Command } from 'commander'
import { createFullProgram } from '../../src/cli/program.ts'
import { SETTINGS } from '../../src/config/settings.ts'
import { dataFolder } from '../operators/support.ts'
import { runInProcess, postern } from './support.ts'

describe('help', () => {
  test('`postern --help` lists every command and no other', async () => {
    const { code, stdout, stderr } = await postern(['--help'], { cwd: dataFolder() })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const listed = [...stdout.matchAll(/^ {2}([a-z]+)(?: [[<].*?[\]>])* {2,}/gm)].map(
      ([, name]) => name,
    )
    const names = `
      run demo dev sandbox init check status config key agent bot backup store chat trust
      person client outbox approve open explain`
    expect(new Set(listed)).toEqual(new Set(names.trim().split(/\s+/)))
  })

  test.each([
    ['postern', 'main.ts'],
    ['node bin/postern.cjs', 'bin/postern.cjs'],
  ])(
    'the help of every command of `%s` fits 24 lines of 80 columns and ends with an example',
    async (started, file) => {
      const { argv } = process
      process.argv = [argv[0] ?? '', resolve(file)]
      onTestFinished(() => void (process.argv = argv))
      const root = await createFullProgram()
      const withInner = (command: Command): Command[] => [
        command,
        ...command.commands.flatMap(withInner),
      ]
      const all = withInner(root)
      expect(all.length).toBeGreaterThan(50)
      for (const command of all) {
        let text = ''
        command.configureOutput({ writeOut: (more) => (text += more), getOutHelpWidth: () => 80 })
        command.outputHelp()
        const lines = text.trimEnd().split('\n')
        expect(lines.length, text).toBeLessThanOrEqual(24)
        expect(lines.filter((line) => line.length > 80)).toEqual([])
        expect(text).toMatch(new RegExp(`\nexample: ${started} .+( \\\\\n {2}.+)?\n$`))
      }
    },
  )

  test('the help of `run` lists the required settings and no secret as a flag', async () => {
    const { stdout } = await runInProcess(['run', '--help'])
    for (const flag of ['--upstream-url', '--bot-token-file', '--data-dir']) {
      expect(stdout).toContain(`${flag} <`)
    }
    expect(stdout).toContain('postern config list')
    expect(stdout).not.toMatch(/--bot-token <|--key-passphrase <|--log-level/)
  })
})

test('a group of commands without one prints its help as `--help` does', async () => {
  const { stdout } = await runInProcess(['key', '--help'])
  const { code, stderr } = await runInProcess(['key'])
  expect([code, stderr.startsWith(stdout)]).toEqual([2, true])
})

test('`config list` lists every setting with its values and default', async () => {
  const { stdout } = await runInProcess(['config', 'list'])
  for (const { path } of SETTINGS) expect(stdout).toMatch(new RegExp(`^${path} `, 'm'))
  expect(stdout).toMatch(
    /^key\.protection .*; one of auto, passphrase, keychain, none \("auto"\)$/m,
  )
})

test('the command line of a process prints the same refusals and help as `runInProcess`', async () => {
  for (const args of [
    ['key', 'lst'],
    ['trust', 'accept', '--help'],
  ]) {
    expect(await postern(args, { cwd: dataFolder() })).toEqual(await runInProcess(args))
  }
})
