/** What `npm run release` makes: the same from one commit, signed, and of use by itself. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { sign } from '../../config/release-signature.ts'
import { must } from '../container/engine.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { runFolder } from '../support/run-folder.ts'
import { imageOf, NAME, release, sharedRelease, type Release } from './released.ts'

const WITHIN_MS = 900_000

let first: Release
beforeAll(async () => {
  first = await sharedRelease()
}, WITHIN_MS)

test(
  'two releases of one commit are equal byte for byte in another folder, zone and umask',
  async () => {
    const folder = join(runFolder(), 'a second', 'release')
    const out = join(folder, 'out')
    mkdirSync(folder, { recursive: true })
    await must('git', ['clone', '--quiet', first.sources, join(folder, 'sources')])
    const npm_config_cache = await must('npm', ['config', 'get', 'cache'])
    const own = { ...first.bases?.env, TZ: 'Asia/Tokyo', HOME: folder, npm_config_cache }
    await release(join(folder, 'sources'), ['--out', out, ...imageOf(first.bases)], own, 77)
    const files = ['.cdx.json', '.md', ...(first.bases ? ['.oci.tar'] : []), '.tgz']
    expect(readdirSync(out)).toEqual(['SHA256SUMS', ...files.map((end) => NAME + end)])
    await must('sha256sum', ['--check', '--strict', join(first.out, 'SHA256SUMS')], {}, out)
  },
  WITHIN_MS,
)

test('the package of a release passes a try in a folder without the repository', async () => {
  const args = ['config/examples/release/try-package.mjs', join(first.out, `${NAME}.tgz`)]
  expect(await must(process.execPath, args)).toContain('the bot answers sealed')
}, 240_000)

test('the signature of the checksums verifies, by a key of gpg and by a file for sq', async () => {
  await using gpg = await Gpg.start()
  vi.stubEnv('GNUPGHOME', gpg.home)
  const file = join(gpg.home, 'sums')
  writeFileSync(file, 'sums\n')
  await gpg.run(['--passphrase', '', '--quick-gen-key', 'owner@example.org', 'ed25519', 'sign'])
  sign(file, 'owner@example.org')
  await gpg.run(['--verify', `${file}.asc`, file])
  rmSync(`${file}.asc`)
  const key = join(gpg.home, 'key.pgp')
  await must('sq', ['key', 'generate', '--userid', 'owner@example.org', '--export', key])
  sign(file, key)
  await must('sq', ['verify', '--signer-cert', key, '--detached', `${file}.asc`, file])
})

test.each([
  ['into a folder with files', 'is not empty', '--out', '.'],
  ['with a base that has no digest', 'digest: node:24', '--out', 'new', '--node-image', 'node:24'],
  ['with the tag of another version', 'v9.9.9 is not v', '--out', 'new', '--tag', 'v9.9.9'],
])('a release %s is refused', async (_name, reason, ...args) => {
  await expect(release(first.sources, args)).rejects.toThrow(reason)
})
