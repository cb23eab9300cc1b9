import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Stage } from './secrets-stage.ts'

test.skipIf(process.getuid?.() !== 0)(
  '`backup create` and `key export`, by root in somebody else’s folder, change neither the folder nor their files',
  async () => {
    const stage = await Stage.make()
    await stage.does('key generate')
    const [folder, theirs] = [stage.path('shared'), stage.path('shared/theirs')]
    mkdirSync(folder)
    writeFileSync(theirs, 'theirs')
    for (const path of [theirs, folder]) chownSync(path, 65_534, 65_534)
    chmodSync(folder, 0o1775)
    chmodSync(theirs, 0o644)
    const state = (): unknown[] =>
      [folder, theirs].map((path) => {
        const { mode, uid, gid } = statSync(path)
        return [mode & 0o7777, uid, gid]
      })
    const before = state()
    const env = { POSTERN_EXPORT_PASSPHRASE: 'for the way out and back' }
    for (const line of ['backup create shared/ours', 'key export -o shared/key']) {
      expect((await stage.run(line, env)).code).toBe(0)
    }
    for (const line of ['backup create shared/theirs', 'key export -o shared/theirs']) {
      for (const force of ['', ' --force']) {
        expect((await stage.run(line + force, env)).code).not.toBe(0)
      }
    }
    expect(readFileSync(theirs, 'utf8')).toBe('theirs')
    expect(state()).toEqual(before)
  },
)
