/** Keys in a token of SoftHSM, through its own library. */
import { verify } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Pkcs11Token, readTokenPlace } from '../../src/agent/pkcs11.ts'
import { rawPublicKey } from '../../src/openpgp/crypto/curve25519.ts'
import { createEngine, type HolderState } from '../../src/openpgp/index.ts'
import { heldKeysIn, packetFor, POINT_AT } from '../support/held-keys.ts'
import { has } from '../support/lacks.ts'
import { Gpg } from '../support/openpgp-gpg.ts'
import { isInstalled, run } from '../support/programs.ts'

const MODULE = '/usr/lib/softhsm/libsofthsm2.so'
const hasPackage = await import('pkcs11js').then(
  () => true,
  () => false,
)
const isThere =
  has(existsSync(MODULE) && isInstalled('softhsm2-util'), 'softhsm2 is not installed') &&
  has(hasPackage, 'pkcs11js is not installed')

const folder = mkdtempSync(join(tmpdir(), 'postern-token-'))
const PLACE = { label: 'postern', modulePath: MODULE }
const pin = (text: string) => ({ reveal: () => text })

beforeAll(async () => {
  if (!isThere) return
  mkdirSync(join(folder, 'tokens'))
  writeFileSync(join(folder, 'conf'), `directories.tokendir = ${join(folder, 'tokens')}\n`)
  process.env['SOFTHSM2_CONF'] = join(folder, 'conf')
  const made = await run('softhsm2-util', [
    '--init-token',
    '--free',
    '--label',
    PLACE.label,
    '--pin',
    '1234',
    '--so-pin',
    '87654321',
  ])
  expect(made.code).toBe(0)
})
afterAll(() => {
  delete process.env['SOFTHSM2_CONF']
  rmSync(folder, { recursive: true, force: true })
})

function tokenWith(given: string, place = PLACE): Pkcs11Token {
  const token = new Pkcs11Token(place, pin(given))
  onTestFinished(() => token[Symbol.asyncDispose]())
  return token
}

const make = (
  token: Pkcs11Token,
  certifiedBy: string | null = null,
  createdMs = 1_790_000_000_000,
) => token.make({ userId: 'bot', createdMs, certifiedBy })
const unavailable = (reason: RegExp) => ({
  code: 'postern_locked',
  detail: expect.stringMatching(reason) as string,
})

describe.skipIf(!isThere)('keys in a token', () => {
  test('a key made in a token has a certificate that Postern and gpg accept', async () => {
    const certificate = await make(tokenWith('1234'))
    await using engine = createEngine({ threads: 1, engine: 'library' })
    const status = await engine.judge(certificate)
    expect(status).toMatchObject({ unusable: null, expiresMs: Infinity, algorithm: 'Curve25519' })
    await using gpg = await Gpg.start()
    const { stderr } = await gpg.run(['--import'], certificate)
    expect(stderr).toMatch(/imported: 1$/m)
    const { stdout } = await gpg.run(['--list-keys', '--with-colons'])
    expect(stdout.toString()).toMatch(/^pub:-:255:22:.*:scESC:/m)
    expect((await gpg.run(['--check-sigs'])).stdout.toString()).not.toMatch(/sig[-%]/)
    await gpg.run(['-e', '-r', 'bot'], 'words')
  })

  test('concurrent signatures and unwrappings of a token are all correct', async () => {
    const token = tokenWith('1234')
    const { by, to } = heldKeysIn(await make(token))
    const results = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const digest = Buffer.alloc([32, 48, 64][index % 3] ?? 0, index)
        const { packet, data } = packetFor(to)
        const [numbers, [found]] = await Promise.all([
          token.sign({ by, digest }),
          token.unwrap({ to, packet }),
        ])
        const isSigned = verify(null, digest, rawPublicKey(by.key.point, 'ed25519'), numbers)
        return isSigned && found?.algorithm === 'aes256' && data.equals(found.data)
      }),
    )
    expect(results).not.toContain(false)
  })

  test('a key of a token certifies the next key', async () => {
    const token = tokenWith('1234')
    const before = await make(token)
    const { fingerprint } = heldKeysIn(before).by
    const certificate = await make(token, fingerprint, 1_790_000_100_000)
    await using gpg = await Gpg.start()
    await gpg.run(['--import'], before)
    await gpg.run(['--import'], certificate)
    const { stdout } = await gpg.run([
      '--check-sigs',
      '--with-colons',
      heldKeysIn(certificate).by.fingerprint,
    ])
    const issuer = fingerprint.slice(24).toUpperCase()
    expect(stdout.toString()).toMatch(new RegExp(`^sig:!:.*:${issuer}:.*:13x:`, 'm'))
    const missing = make(token, 'ab'.repeat(20))
    await expect(missing).rejects.toMatchObject({ code: 'refused', message: /could certify/ })
  })

  test('malformed recipient packets open nothing, and the token remains usable', async () => {
    const token = tokenWith('1234')
    const { to } = heldKeysIn(await make(token))
    const { packet } = packetFor(to)
    for (const point of [Buffer.alloc(32), Buffer.alloc(32, 1), Buffer.alloc(32, 0xff)]) {
      const changed = Buffer.from(packet)
      changed.set(point, POINT_AT)
      expect(await token.unwrap({ to, packet: changed })).toEqual([])
    }
    expect(await token.unwrap({ to, packet })).toHaveLength(1)
  })

  test('a key that the token lacks is reported as unavailable', async () => {
    const token = tokenWith('1234')
    const { by, to } = heldKeysIn(await make(token))
    const point = Buffer.from(packetFor(to).packet.subarray(POINT_AT, POINT_AT + 32))
    const refused = unavailable(/has no such key/)
    const other = { ...by, key: { ...by.key, point } }
    await expect(token.sign({ by: other, digest: Buffer.alloc(64) })).rejects.toMatchObject(refused)
    // nor does a key that decrypts sign, or the other way around
    const crossed = { ...by, key: { ...by.key, point: to.key.point } }
    await expect(token.sign({ by: crossed, digest: Buffer.alloc(64) })).rejects.toMatchObject(
      refused,
    )
  })

  test('a secret key of a token cannot be extracted', async () => {
    const token = tokenWith('1234')
    await make(token)
    const { stdout } = await run('pkcs11-tool', [
      '--module',
      MODULE,
      '--token-label',
      'postern',
      '--login',
      '--pin',
      '1234',
      '--list-objects',
      '--type',
      'privkey',
    ])
    const access = stdout.toString().match(/Access: .*/g) ?? []
    expect(access.length).toBeGreaterThan(1)
    for (const one of access) expect(one).toMatch(/sensitive.*never extractable/)
  })
})

describe.skipIf(!isThere)('a PKCS #11 token', () => {
  test('a wrong PIN is tried once', async () => {
    const asked: string[] = []
    const wrong = { reveal: () => (asked.push('pin'), '9999') }
    const token = new Pkcs11Token(PLACE, wrong)
    onTestFinished(() => token[Symbol.asyncDispose]())
    const states: HolderState[] = []
    token.onReachable((state) => states.push(state))
    const by = {
      fingerprint: 'ab'.repeat(20),
      key: { algorithm: 22, createdS: 1, point: Buffer.alloc(32) },
    } as const
    for (let tries = 0; tries < 5; tries++) {
      const signing = token.sign({ by, digest: Buffer.alloc(64) })
      await expect(signing).rejects.toMatchObject(
        unavailable(/refused the PIN \(CKR_PIN_INCORRECT\)/),
      )
    }
    await expect.poll(() => states.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect([asked, token.state.isReachable]).toEqual([['pin'], false])
  })

  test.each([
    ['a missing token', { ...PLACE, label: 'other' }, /has no token other/],
    ['a missing library', { ...PLACE, modulePath: '/nowhere/lib.so' }, /its library does not load/],
    [
      'a library without PKCS #11',
      { ...PLACE, modulePath: '/lib/x86_64-linux-gnu/libm.so.6' },
      /its library does not load|failed/,
    ],
  ])('%s is reported as unavailable', async (_, place, reason) => {
    const token = tokenWith('1234', place)
    await expect(make(token)).rejects.toMatchObject(unavailable(reason))
    expect(token.state).toEqual({
      isReachable: false,
      reason: expect.stringMatching(reason) as string,
    })
  })
})

test.each([
  ['token=postern?module-path=/usr/lib/a.so', { label: 'postern', modulePath: '/usr/lib/a.so' }],
  ['token=my%20bot?module-path=/a%3Bb', { label: 'my bot', modulePath: '/a;b' }],
  ['token=a;id=1?module-path=/a', null],
  ['token=?module-path=/a', null],
  ['token=a?module-path=a.so', null],
  ['token=a?module-path=/a&pin-value=1234', null],
  ['token=a', null],
  ['token=%zz?module-path=/a', null],
])('the token URI %s is read as %j', (place, read) => {
  expect(readTokenPlace(place)).toEqual(read)
})
