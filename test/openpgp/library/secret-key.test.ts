import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateKey } from 'openpgp'
import { createEngine } from '../../../src/openpgp/create.ts'
import { packetsOf } from '../../../src/openpgp/format/packets.ts'
import type { OwnKey, UnlockedKey } from '../../../src/openpgp/engine.ts'
import { dearmor } from '../../../src/openpgp/format/armor.ts'
import { MADE_MS, alice } from '../../support/openpgp-people.ts'
import { isInstalled } from '../../support/openpgp-run.ts'
import { Gpg } from '../../support/openpgp-gpg.ts'
import { armor } from '../../support/openpgp-framing.ts'

const PASSPHRASE = 'correct horse, battery; staple ü'
const engine = createEngine({ threads: 1 })
let own: OwnKey
let unlocked: UnlockedKey

beforeAll(async () => {
  own = await engine.generate({ userId: 'echo_bot', createdMs: MADE_MS, passphrase: PASSPHRASE })
  unlocked = await engine.unlock(own.locked, PASSPHRASE)
})
afterAll(() => engine[Symbol.asyncDispose]())

/** Packets of the certificate: tag and body. */
const packets = (): { tag: number; body: Buffer }[] =>
  [...packetsOf(dearmor(own.certificate, 'PUBLIC KEY BLOCK') ?? Buffer.alloc(0))].map(
    ({ tag, body }) => ({ tag, body: Buffer.from(body) }),
  )
const bodiesOf = (tag: number): Buffer[] =>
  packets().flatMap((packet) => (packet.tag === tag ? [packet.body] : []))

test('a fresh key is version 4: Ed25519 signs, Curve25519 encrypts, in the legacy encodings', () => {
  const [primary] = bodiesOf(6)
  const [subkey] = bodiesOf(14)
  expect(packets().map(({ tag }) => tag)).toEqual([6, 13, 2, 14, 2])
  expect(primary?.subarray(0, 16).toString('hex')).toBe('046955b90016092b06010401da470f01')
  expect(subkey?.subarray(0, 17).toString('hex')).toBe('046955b900120a2b060104019755010501')
  expect(subkey?.subarray(-4).toString('hex')).toBe('03010807')
  expect(primary?.readUInt32BE(1)).toBe(MADE_MS / 1000)
  expect(bodiesOf(13)[0]?.toString()).toBe('echo_bot')
})

test('it never expires, and does not ask for what old programs cannot read', async () => {
  expect(await engine.judge(own.certificate)).toMatchObject({
    unusable: null,
    expiresMs: Infinity,
    fingerprint: own.fingerprint,
  })
  const [self, binding] = bodiesOf(2).map(hashedSubpackets)
  expect(self?.get(27)).toBe('03')
  expect(binding?.get(27)).toBe('0c')
  expect(self?.get(30)).toBe('01')
  expect(self?.get(11)?.startsWith('09')).toBe(true)
  expect(self?.has(9)).toBe(false)
})

function hashedSubpackets(body: Buffer): Map<number, string> {
  const found = new Map<number, string>()
  const end = 6 + body.readUInt16BE(4)
  for (let at = 6; at < end; at += 1 + (body[at] ?? 0)) {
    const length = body[at] ?? 0
    found.set((body[at + 1] ?? 0) & 0x7f, body.subarray(at + 2, at + 1 + length).toString('hex'))
  }
  return found
}

test('unlocking gives what is needed to find and open a message', () => {
  expect(unlocked.fingerprint).toBe(own.fingerprint)
  expect(unlocked.fingerprints[0]).toBe(own.fingerprint)
  expect(unlocked.fingerprints).toHaveLength(2)
  expect(unlocked.keyIds).toEqual(unlocked.fingerprints.map((one) => one.slice(-16)))
  expect(own.fingerprint).toMatch(/^[0-9a-f]{40}$/)
})

test('it opens and verifies what it sealed and signed', async () => {
  const request = { text: 'hello', certificates: [], signer: unlocked, cipher: 'aes256' } as const
  const opened = await engine.open(await engine.seal({ ...request, certificates: [] }), [unlocked])
  expect(opened).toMatchObject({ outcome: 'opened', text: 'hello', openedWith: own.fingerprint })
  const signed = opened.outcome === 'opened' ? opened.signed : null
  expect(signed && (await engine.verify(signed, own.certificate, Date.now()))).toEqual(['valid'])
})

test('at rest it is locked: iterated and salted, to AES-256, and the secret is nowhere in it', () => {
  const bytes = Buffer.from(own.locked.split('\n').slice(2, -3).join(''), 'base64')
  const secrets = [...packetsOf(bytes)].filter(({ tag }) => tag === 5 || tag === 7)
  expect(secrets).toHaveLength(2)
  for (const [index, { body }] of secrets.entries()) {
    const publicLength = (bodiesOf(index === 0 ? 6 : 14)[0] ?? Buffer.alloc(0)).length
    const protection = Buffer.from(body.subarray(publicLength))
    expect(protection.subarray(0, 4).toString('hex')).toBe('fe090308')
    expect(protection[12]).toBe(255)
  }
  const open = [...packetsOf(unlocked.bytes)].filter(({ tag }) => tag === 5 || tag === 7)
  for (const [index, { body }] of open.entries()) {
    const publicLength = (bodiesOf(index === 0 ? 6 : 14)[0] ?? Buffer.alloc(0)).length
    const secret = Buffer.from(body.subarray(publicLength + 3, publicLength + 30))
    expect(bytes.includes(secret)).toBe(false)
  }
})

test.each(['', `${PASSPHRASE} `])('the passphrase %j does not unlock it', async (passphrase) => {
  await expect(engine.unlock(own.locked, passphrase)).rejects.toThrow('wrong-passphrase')
})

test('two keys of one name are different keys', async () => {
  const other = await engine.generate({
    userId: 'echo_bot',
    createdMs: MADE_MS,
    passphrase: PASSPHRASE,
  })
  expect(other.fingerprint).not.toBe(own.fingerprint)
  await expect(engine.unlock(other.locked, 'x')).rejects.toThrow('wrong-passphrase')
})

test.each([
  ['a certificate', () => own.certificate],
  ['junk', () => 'hello'],
  ['a secret key cut short', () => own.locked.slice(0, 400)],
  ['a certificate called a secret key', () => own.certificate.replaceAll('PUBLIC', 'PRIVATE')],
])('%s is not unlocked', async (_, text) => {
  await expect(engine.unlock(text(), PASSPHRASE)).rejects.toThrow()
})

test('a damaged locked key is not unlocked, whatever the damage', async () => {
  const lines = own.locked.split('\n')
  const bytes = Buffer.from(lines.slice(2, -3).join(''), 'base64')
  const unlock = (of: Buffer) => engine.unlock(armor(of, { type: 'PRIVATE KEY BLOCK' }), PASSPHRASE)
  expect((await unlock(bytes)).fingerprint).toBe(own.fingerprint)
  for (const at of [60, 75, 100]) {
    const damaged = Buffer.from(bytes)
    damaged[at] = (damaged[at] ?? 0) ^ 4
    await expect(unlock(damaged)).rejects.toThrow()
  }
})

test('a key of version 6 is not unlocked', async () => {
  const { privateKey } = await generateKey({
    type: 'curve25519',
    userIDs: [{ name: 'new' }],
    config: { v6Keys: true },
    format: 'armored',
  })
  await expect(engine.unlock(privateKey, '')).rejects.toThrow('version 4')
})

test.skipIf(!isInstalled('gpg'))(
  'gpg imports it with its passphrase, opens and signs with it',
  async () => {
    await using gpg = await Gpg.start()
    const imported = await gpg.run(['--status-fd', '1', '--import'], own.locked, PASSPHRASE)
    expect(imported.stdout.toString()).toContain(`IMPORT_OK 17 ${own.fingerprint.toUpperCase()}`)
    const request = {
      text: 'to gpg',
      certificates: [alice.certificate],
      signer: unlocked,
      cipher: 'aes256',
    } as const
    const sealed = await engine.seal({ ...request, certificates: [alice.certificate] })
    const opened = await gpg.run(['--status-fd', '2', '--decrypt'], sealed, PASSPHRASE)
    expect(opened.stdout.toString()).toBe('to gpg')
    expect(opened.stderr).toContain('GOODSIG')
    const signed = await gpg.run(
      ['--armor', '--sign', '--encrypt', '-r', own.fingerprint],
      'from gpg',
      PASSPHRASE,
    )
    expect(await engine.open(signed.stdout.toString(), [unlocked])).toMatchObject({
      text: 'from gpg',
    })
    await gpg.forget()
    const wrong = await gpg.try(['--decrypt'], sealed, 'wrong')
    expect([wrong.code, wrong.stdout.length]).not.toEqual([0, 6])
  },
)
