/** Every variable that a page, a help text or a hint names is accepted by commands. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SETTINGS } from '../../src/config/settings.ts'
import { runInProcess } from '../cli/support.ts'
import { folder } from './support.ts'

const PAGES = ['*.md', 'src/**/*.{md,ts}', 'config/examples/**/*.*']
/** Names that stand for others, or that only tests have. */
const NONE = /_$|^POSTERN_(?:TEST_|A_B_C$)/

const names = new Set(
  PAGES.flatMap((pattern) => globSync(pattern, { exclude: ['**/*.gz'] })).flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(/\bPOSTERN_[A-Z][A-Z_]*/g), ([name]) => name),
  ),
)
const settings = new Set<string>(SETTINGS.map(({ env }) => env))
const others = [...names].filter((name) => !settings.has(name) && !NONE.test(name)).toSorted()
test('the documentation names variables that are not settings', () => {
  expect(others).toContain('POSTERN_SANDBOX_CONTROL')
  expect(others).toContain('POSTERN_KEY_FILE_PASSPHRASE_FILE')
})

test.each(['status', 'check', 'config show', 'key list', 'chat list', 'bot list'])(
  'the command `%s` accepts every documented variable',
  async (name) => {
    const given = others.filter((one) => one !== 'POSTERN_CONFIG').map((one) => [one, 'x'])
    const env = { ...(Object.fromEntries(given) as Record<string, string>), HOME: folder() }
    const { stderr } = await runInProcess([...name.split(' '), '--data-dir', folder()], env)
    for (const one of others) expect(stderr).not.toContain(`${one}: no such setting`)
  },
)
