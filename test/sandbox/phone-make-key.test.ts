import { readPrivateKey } from 'openpgp'
import { expect, test } from 'vitest'
import { judgeFully } from '../../src/openpgp/library/certificate-info.ts'
import { makeKey } from '../../src/sandbox/phone/library-keys.ts'
import { unlockedFrom } from '../../src/openpgp/library/secret-key.ts'
import { readCommonCertificate } from '../../src/openpgp/native/common-certificate.ts'
import { makeCommonKey } from '../../src/sandbox/phone/make-key.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { isInstalled } from '../support/programs.ts'

const CREATED_MS = Date.parse('2026-01-02T03:04:05Z')
const NOW_MS = CREATED_MS + 1000
const make = (userId = 'Alice') => makeCommonKey({ userId, createdMs: CREATED_MS })

/** For `JSON.stringify`: compares bytes independently of their class. */
function bytesAsHex(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const held = this[name]
  return held instanceof Uint8Array ? Buffer.from(held).toString('hex') : value
}

test('`makeCommonKey` makes the same certificate as openpgp.js, except for the key material', async () => {
  const ours = await make('Älice <a@example.org>')
  const theirs = await makeKey({ userId: 'x', kind: 'curve25519', createdMs: CREATED_MS })
  const { status, info } = await judgeFully(ours.certificate, NOW_MS)
  const { status: wanted } = await judgeFully(theirs.certificate, NOW_MS)
  const { fingerprint, encryptionKeys, armored, ...rest } = status
  const { fingerprint: _f, encryptionKeys: _e, armored: _a, ...usual } = wanted
  expect(rest).toEqual(usual)
  expect(rest).toMatchObject({ unusable: null, revocations: false })
  expect([fingerprint, armored]).toEqual([ours.key.fingerprint, ours.certificate])
  expect(encryptionKeys).toEqual([ours.key.fingerprints[1]])
  const read = readCommonCertificate(ours.certificate, NOW_MS)
  expect(read).not.toBeNull()
  expect(JSON.stringify(read, bytesAsHex)).toBe(JSON.stringify(info, bytesAsHex))
})

test('openpgp.js reads the secret key of `makeCommonKey` with the stated fields', async () => {
  for (let n = 0; n < 20; n++) {
    const { key } = await make()
    const { bytes, ...read } = unlockedFrom(await readPrivateKey({ binaryKey: key.bytes }))
    const { bytes: own, ...said } = key
    expect(read).toEqual(said)
    expect(Buffer.from(bytes).equals(own)).toBe(true)
  }
})

test('GnuPG imports a key of `makeCommonKey`, and signs and decrypts with it', async ({ skip }) => {
  skip(!isInstalled('gpg'), 'not installed: gpg')
  await using gpg = await Gpg.start()
  const { certificate, key } = await make('Alice <alice@example.org>')
  await gpg.run(['--import'], certificate)
  await gpg.run(['--import'], key.bytes)
  const { stdout } = await gpg.run(['--with-colons', '--list-secret-keys'])
  expect(String(stdout)).toContain(`fpr:::::::::${key.fingerprint.toUpperCase()}:`)
  const sealed = await gpg.run(['--sign', '--encrypt', '--recipient', key.fingerprint], 'hello')
  const opened = await gpg.run(['--decrypt'], sealed.stdout)
  expect(String(opened.stdout)).toBe('hello')
  expect(opened.stderr).toContain('Good signature')
})
