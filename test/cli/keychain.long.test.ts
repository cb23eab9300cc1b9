import { describe, expect, test } from 'vitest'
import { mainFile } from '../support/postern-process.ts'
import { Home, whyNoKeychain } from '../support/secret-service.ts'
import { Stage } from './secrets-stage.ts'

const NEXT = 'the-next-passphrase'
const withNext = { POSTERN_NEW_PASSPHRASE: NEXT }

describe.skipIf(whyNoKeychain !== null)(`the OS keychain (${whyNoKeychain ?? 'real'})`, () => {
  test('a sidecar with a keychain starts without a passphrase, and `key protect` moves away from it', async () => {
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
    expect(moved.code).toBe(0)
    expect(moved.stderr).toMatch(/keychain’s entry store-[0-9a-f]{32}, which stays/)
    stage.passphrase = NEXT
    await stage.down(await stage.up())
    expect(await stage.shown()).toBe(made.stdout.trim())
  })
})
