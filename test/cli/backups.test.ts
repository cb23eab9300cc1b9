import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { describe, expect, test } from 'vitest'
import { mainFile } from '../support/postern-process.ts'
import { atTerminal, hasTerminals } from '../support/terminal.ts'
import { Stage } from './secrets-stage.ts'

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('postern backup', () => {
  test('create, while the sidecar runs: one file of mode 0600, and nothing left beside the store', async () => {
    const stage = await Stage.make()
    const sidecar = await stage.up()
    const { stdout, stderr } = await stage.run('backup create b')
    expect(stdout).toBe(`${stage.path('b')}\n`)
    expect(stderr).toContain('opens with the passphrase of the store')
    expect(modeOf(stage.path('b'))).toBe('600')
    expect(readdirSync(stage.dataDir).filter((name) => name.includes('backup'))).toEqual([])
    const report = JSON.parse(await stage.does('backup verify b --json')) as Record<string, unknown>
    expect(report).toMatchObject({
      method: 'passphrase',
      keys: [{ fingerprint: await stage.shown(), state: 'active' }],
    })
    await stage.down(sidecar)
  })

  test('create, while none runs, and to stdout', async () => {
    const stage = await Stage.make()
    const fingerprint = await stage.does('key generate')
    const { code } = await stage.run('backup create b')
    expect(code).toBe(0)
    const again = await stage.run('backup create b')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is there already')])
    const forced = await stage.run('backup create b --force')
    expect(forced.code).toBe(0)
    const piped = await stage.run('backup create -')
    expect(piped.stdout.slice(0, 15)).toBe('SQLite format 3')
    expect(await stage.does('backup verify b')).toContain(`${fingerprint}, pending`)
  })

  test('create where nothing can be written, or where no store is: refused, and nothing is left', async () => {
    const stage = await Stage.make()
    expect((await stage.run('backup create b')).stderr).toContain('code: store-missing')
    await stage.does('key generate')
    const nowhere = await stage.run('backup create no/where')
    expect(nowhere.stderr).toContain('cannot be written (ENOENT)')
    expect(readdirSync(stage.dataDir).toSorted()).toEqual(['postern.db', 'store.json'])
    expect(existsSync(stage.path('b'))).toBe(false)
  })

  test.skipIf(!hasTerminals)('create prints nothing to a terminal', async () => {
    const stage = await Stage.make()
    const env = { ...stage.env(), PATH: '/usr/bin:/bin' }
    const command = [process.execPath, mainFile(), 'backup', 'create', '-']
    const { code, screen } = await atTerminal(command, [], { cwd: stage.cwd, env })
    expect([code, screen]).toEqual([1, expect.stringContaining('not printed to a terminal')])
  })

  test('verify needs no service and no token, and says what is wrong', async () => {
    const stage = await Stage.make()
    await stage.does('key generate')
    await stage.does('backup create b')
    const { POSTERN_KEY_PASSPHRASE = '' } = stage.env()
    stage.env = (more) => ({ POSTERN_KEY_PASSPHRASE, ...more })
    expect(await stage.does('backup verify b')).toMatch(/^taken +\d{4}-.*\nsize +\d+ bytes/)
    const wrong = await stage.run('backup verify b', { POSTERN_KEY_PASSPHRASE: 'wrong-words' })
    expect(wrong.stderr).toContain('code: store-passphrase')
    const words = stage.path('words')
    writeFileSync(words, 'no backup')
    expect((await stage.run('backup verify words')).stderr).toContain('is no sound backup')
    expect((await stage.run('backup verify nowhere')).stderr).toContain('there is no such file')
  })

  test('whose key was changed does not verify, and is not restored', async () => {
    const stage = await Stage.make()
    await stage.does('key generate')
    await stage.does('backup create b')
    const bytes = readFileSync(stage.path('b'))
    const at = bytes.indexOf('-----BEGIN PGP PRIVATE KEY BLOCK-----') + 200
    bytes[at] = bytes[at] === 0x41 ? 0x42 : 0x41
    writeFileSync(stage.path('b'), bytes)
    rmSync(stage.dataDir, { recursive: true })
    for (const line of ['backup verify b', 'backup restore b']) {
      const { code, stderr } = await stage.run(line)
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/the key [0-9a-f]{40} in it does not open/),
      ])
    }
    expect(existsSync(stage.dataDir)).toBe(false)
  })

  test('restore never goes over a store, running or not, and says what to do', async () => {
    const stage = await Stage.make()
    const sidecar = await stage.up()
    await stage.does('backup create b')
    for (const isRunning of [true, false]) {
      const { code, stderr } = await stage.run('backup restore b')
      expect([code, stderr]).toEqual([1, expect.stringContaining(`mv ${stage.dataDir}`)])
      if (isRunning) await stage.down(sidecar)
    }
    await stage.down(await stage.up())
  })

  test('accept is for restored stores alone, and only once', async () => {
    const stage = await Stage.make()
    const sidecar = await stage.up()
    expect((await stage.run('backup accept')).stderr).toContain('was not restored')
    await stage.does('backup create b')
    await stage.down(sidecar)
    expect((await stage.run('backup accept')).stderr).toContain('was not restored')
    rmSync(stage.dataDir, { recursive: true })
    await stage.does('backup restore b')
    const away = await stage.run('backup accept', { POSTERN_UPSTREAM_URL: 'http://127.0.0.1:1' })
    expect(away.stderr).toContain('code: postern_upstream_unreachable')
    expect((await stage.run('run')).stderr).toContain('code: store-restored')
    await stage.does('backup accept --latest')
    expect((await stage.run('backup accept')).stderr).toContain('accepted already')
    await stage.down(await stage.up())
  })

  test('a store that was copied by hand opens where it is put, as the README’s hints say', async () => {
    const [stage, other] = [await Stage.make(), await Stage.make()]
    const fingerprint = await stage.does('key generate')
    copyFileSync(stage.path('data/postern.db'), other.path('by-hand'))
    await other.does('backup restore by-hand')
    expect(await other.does('key list')).toContain(fingerprint)
    expect((await other.run('run')).stderr).toContain('code: store-restored')
  })
})
