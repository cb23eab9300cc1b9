/** The two engines check one another, so that all which both load is listed here. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Imports, reached } from '../support/imports.ts'

const sources = new Imports('src/**/*.ts')
const filesOf = (engine: string): string[] =>
  [...sources.texts.keys()].filter((file) => file.startsWith(`src/openpgp/${engine}/`))

/** What a file loads: Node removes imports of types. */
function loadedBy(file: string): string[] {
  const code = sources.texts.get(file)?.replaceAll(/^import type [^']*'[^']+'$/gm, '') ?? ''
  const found = code.matchAll(/(?:\bfrom |\bimport\(|\bimport )'(\.[^']+)'/g)
  return [...found].map(([, path = '']) => join(dirname(file), path))
}
const loadedOf = (engine: string): string[] => [...reached(filesOf(engine), loadedBy).keys()]

/** `src/openpgp/README.md` says why. */
const SHARED = {
  '': 'errors operator-refusals printable refusals',
  'api/': 'error-codes',
  'util/': 'caches clock',
  'openpgp/': 'bounds bytes certificate-statuses key-holder pool size',
  'openpgp/crypto/':
    'algorithm curve25519 ecdh ed25519 ml-kem public-key recipient session-key x25519',
  'openpgp/format/':
    'armor armor-lines armor-writer ciphers decrypted-message encrypted-message message-grammar packet-stream packet-writer packets recipient-scan signature-claim',
}

test.each([
  ['library', 'native'],
  ['native', 'library'],
])('no file of `%s` imports a file of `%s`, its types neither', (engine, other) => {
  const isOthers = (file: string): boolean => filesOf(other).includes(file)
  expect(
    filesOf(engine)
      .flatMap((file) => sources.importedBy(file))
      .filter(isOthers),
  ).toEqual([])
  expect(loadedOf(engine).filter(isOthers)).toEqual([])
})

test('`library` and `native` load the same files of a list alone', () => {
  const native = new Set(loadedOf('native'))
  const shared = loadedOf('library').filter((file) => native.has(file))
  const listed = Object.entries(SHARED).flatMap(([folder, files]) =>
    files.split(' ').map((file) => `src/${folder}${file}.ts`),
  )
  expect(shared.toSorted()).toEqual(listed.toSorted())
})

test('every source file that `src/openpgp/README.md` names exists', () => {
  const named = readFileSync('src/openpgp/README.md', 'utf8').matchAll(/`([\w/-]+\.ts)`/g)
  const missing = [...named].filter(([, file = '']) => !existsSync(join('src/openpgp', file)))
  expect(missing.map(([, file]) => file)).toEqual([])
})
