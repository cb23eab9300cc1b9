import { execFileSync } from '../support/programs.ts'
import { expect, test } from 'vitest'

const script = new URL('../support/openpgp-loaded.ts', import.meta.url).pathname

/** Files of `src` that a process has loaded once it did everything with an engine, its threads too. */
function loadedWith(engine: string): string[] {
  const files = execFileSync(process.execPath, [script, engine], { encoding: 'utf8' })
  return JSON.parse(files) as string[]
}
const isNative = (file: string): boolean => /^openpgp\/(?:native|crypto)\//.test(file)

test('`openpgp.engine: library` loads no file of `native` or `crypto`, in the process or in threads', () => {
  const loaded = loadedWith('library')
  expect(loaded).toContain('openpgp/create.ts')
  expect(loaded).toContain('openpgp/library/worker.ts')
  expect(loaded.filter(isNative)).toEqual([])
})

test('`openpgp.engine: native` loads files of `crypto` for the same steps', () => {
  expect(loadedWith('native').filter(isNative)).toContain('openpgp/crypto/seipd.ts')
})
