import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { mainFile } from '../support/postern-process.ts'
import { Home, whyNoKeychain } from '../support/secret-service.ts'
import { atTerminal, hasTerminals } from '../support/terminal.ts'
import { Stage } from './secrets-stage.ts'

const NEXT = 'the-next-passphrase'
const withNext = { POSTERN_NEW_PASSPHRASE: NEXT }

describe('postern key protect', () => {
  test('changes the passphrase under a sidecar that runs, which goes on signing', async () => {
    const stage = await Stage.make()
    const sidecar = await stage.up()
    const { stdout, stderr } = await stage.run('key protect passphrase', withNext)
    expect(stdout).toBe('passphrase\n')
    expect(stderr).toMatch(/give it as key.passphrase[^]*old passphrase/)
    const rotated = await stage.does('key rotate')
    await expect.poll(() => stage.shown()).toBe(rotated.split('\n').at(-1))
    await stage.down(sidecar)
    expect((await stage.run('run')).stderr).toContain('code: store-passphrase')
    stage.passphrase = NEXT
    await stage.down(await stage.up())
  })

  test('to none: the next start is refused until the settings say none, and so is auto', async () => {
    const stage = await Stage.make()
    await stage.does('key generate')
    const { stderr } = await stage.run('key protect none')
    expect(stderr).toContain('whoever reads the disk has the secret keys')
    expect((await stage.run('run')).stderr).toMatch(/rests without protection[^]*code: protection/)
    const environment = { POSTERN_KEY_PROTECTION: 'passphrase' }
    expect((await stage.run('run', environment)).stderr).toContain(
      'and key.protection is passphrase',
    )
    await stage.down(await stage.up({ POSTERN_KEY_PROTECTION: 'none' }))
    await stage.does('key protect passphrase', { POSTERN_NEW_PASSPHRASE: stage.passphrase })
    await stage.down(await stage.up())
  })

  test.each([
    ['no new passphrase', {}, /passphrase is needed[^]*POSTERN_NEW_PASSPHRASE/],
    ['a blank one', { POSTERN_NEW_PASSPHRASE: '  ' }, /is empty/],
    ['one with a line break', { POSTERN_NEW_PASSPHRASE: 'a\nb' }, /holds a line break/],
    ['a wrong old one', { ...withNext, POSTERN_KEY_PASSPHRASE: 'wrong-words' }, /store-passphrase/],
  ])('%s: refused, and the store opens as before', async (_what, env, words) => {
    const stage = await Stage.make()
    await stage.does('key generate')
    const { code, stdout, stderr } = await stage.run('key protect passphrase', env)
    expect([code === 0, stdout]).toEqual([false, ''])
    expect(stderr).toMatch(words)
    await stage.does('key list')
  })

  test('an unknown protection, or a keychain that is not there: refused', async () => {
    const stage = await Stage.make()
    await stage.does('key generate')
    expect((await stage.run('key protect magic')).code).toBe(2)
    const keychain = await stage.run('key protect keychain')
    expect([keychain.code, keychain.stderr]).toEqual([3, expect.stringContaining('code: keychain')])
    await stage.does('key list')
  })

  test('where there is no store there is nothing to protect', async () => {
    const stage = await Stage.make()
    const { stderr } = await stage.run('key protect passphrase', withNext)
    expect(stderr).toContain('code: store-missing')
  })

  test.skipIf(!hasTerminals)(
    'asks for the new passphrase twice where there is a terminal',
    async () => {
      const stage = await Stage.make()
      await stage.does('key generate')
      const env = { ...stage.env(), PATH: '/usr/bin:/bin', HOME: stage.cwd }
      const { code, screen } = await atTerminal(
        [process.execPath, mainFile(), 'key', 'protect', 'passphrase'],
        [
          { when: /new passphrase: /, types: `${NEXT}\r` },
          { when: /once more: /, types: `${NEXT}\r` },
        ],
        { cwd: stage.cwd, env },
      )
      expect([code, screen]).toEqual([0, expect.stringContaining('new passphrase')])
      expect(screen).not.toContain(NEXT)
      stage.passphrase = NEXT
      await stage.does('key list')
    },
  )
})

describe.skipIf(whyNoKeychain !== null)(`the OS keychain (${whyNoKeychain ?? 'real'})`, () => {
  test('a sidecar starts with nothing but a keychain, and moves away from it', async () => {
    const stage = await Stage.make()
    const home = new Home()
    const { POSTERN_KEY_PASSPHRASE: _none, ...bare } = stage.env()
    const command = (line: string) => [process.execPath, mainFile(), ...line.split(' ')]
    const made = await home.run('unlocked', command('key generate'), bare)
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^[0-9a-f]{40}\n$/)])
    const listed = await home.run('unlocked', command('key list --json'), bare)
    expect(listed.stdout).toContain(made.stdout.trim())
    const locked = await home.run('locked', command('run'), bare)
    expect([locked.code, locked.stderr]).toEqual([3, expect.stringContaining('code: store-locked')])

    const moved = await home.run('unlocked', command('key protect passphrase'), {
      ...bare,
      ...withNext,
    })
    expect([moved.code, moved.stderr]).toEqual([
      0,
      expect.stringMatching(/keychain’s entry store-[0-9a-f]{32}, which stays/),
    ])
    stage.passphrase = NEXT
    await stage.down(await stage.up())
    expect(await stage.shown()).toBe(made.stdout.trim())
  })
})

test('what was locked before is in no file of the data directory any more', async () => {
  const stage = await Stage.make()
  await stage.does('key generate')
  const { stdout } = await stage.run('key show --json')
  const { fingerprint } = JSON.parse(stdout) as { fingerprint: string }
  const database = stage.path('data/postern.db')
  const lockedIn = (text: string): string[] =>
    [...text.matchAll(/-----BEGIN PGP PRIVATE KEY BLOCK-----[^]*?-----END/g)].map(
      ([block]) => block,
    )
  const [before = ''] = lockedIn(readFileSync(database, 'latin1'))
  expect(before).not.toBe('')
  await stage.does('key protect passphrase', withNext)
  const after = readFileSync(database, 'latin1')
  expect(lockedIn(after)).toHaveLength(1)
  expect(after).not.toContain(before.split('\n')[3])
  expect(after).toContain(fingerprint)
})
