import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { problemsOf } from '../../src/cli/demo-view.ts'
import { dataFolder } from '../operators/support.ts'
import { postern, start } from './support.ts'

test('`demo --once` shows two verified chats, nothing of their text at the service, and ends with 0', async () => {
  const cwd = dataFolder()
  const { code, stdout, stderr } = await postern(['demo', '--once'], { cwd, env: { TMPDIR: cwd } })
  expect(code, stderr).toBe(0)
  expect(stdout.match(/✓ signature verified/g)).toHaveLength(2)
  expect(stdout).toContain('you said: The key is under')
  expect(stdout.match(/-----BEGIN PGP MESSAGE-----/g)).toHaveLength(4)
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  const service = stdout.split('\n').map((line) => line.split(' │ ')[2] ?? '')
  expect(service.join('\n')).toContain('characters, sealed')
  expect(service.join('\n')).not.toMatch(/stone|lantern|said/)
  expect(stdout + stderr).not.toContain('\u001b')
  expect(readdirSync(cwd)).toEqual([])
})

test('`demo` echoes typed messages, and ends with 0 after SIGINT', async () => {
  const cwd = dataFolder()
  const input = 'one more\n# nobody asked\n#@echo_bot and one here\n'
  const {
    process: child,
    waitForStdout,
    ended,
  } = start(['demo'], { cwd, input, env: { TMPDIR: cwd } })
  await waitForStdout(/you said: one more/)
  await waitForStdout(/nothing: it is not/)
  await waitForStdout(/you said: @echo_bot and one\s/)
  child.kill('SIGINT')
  expect((await ended).code).toBe(0)
  expect(readdirSync(cwd)).toEqual([])
})

test('a demo message that is unread, unverified or leaked is reported as one problem', () => {
  const fine = { wasRead: true, isVerified: true, hasLeaked: false }
  expect(problemsOf(fine)).toEqual([])
  for (const wrong of [{ wasRead: false }, { isVerified: false }, { hasLeaked: true }]) {
    expect(problemsOf({ ...fine, ...wrong })).toHaveLength(1)
  }
})
