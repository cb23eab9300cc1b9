/** Texts and files that are signed in the open, with gpg as the other side. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createEngine, type Signed, type UnlockedKey } from '../../../src/openpgp/index.ts'
import { Gpg } from '../../support/openpgp-gpg.ts'

const TEXT = 'entry: 5\nhash: ab \nlast'
const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

let own: { certificate: string; unlocked: UnlockedKey }
beforeAll(async () => {
  const createdMs = Date.now() - 60_000
  const made = await engine.generate({ userId: 'bot', createdMs, passphrase: 'p', isRandom: true })
  own = { certificate: made.certificate, unlocked: await engine.unlock(made.locked, 'p') }
})

/** gpg with one key, and that key's certificate. */
async function alice(userId = 'alice <4711@example.org>') {
  const gpg = await Gpg.start()
  onTestFinished(() => gpg[Symbol.asyncDispose]())
  await gpg.run(['--quick-generate-key', userId, 'ed25519', 'sign', 'never'])
  const certificate = (await gpg.run(['--armor', '--export'])).stdout.toString()
  return { gpg, certificate }
}

const verify = async (signed: Signed | null, certificate: string) =>
  signed && (await engine.verify(signed, certificate, Date.now()))

const document = (signed: Signed | null) => signed && Buffer.from(signed.document).toString()

test('a text that `signText` signed verifies with gpg, and fails with one word changed', async () => {
  const signed = await engine.signText('entry: 5\nhash: ab', own.unlocked, Date.now())
  const gpg = await Gpg.start()
  onTestFinished(() => gpg[Symbol.asyncDispose]())
  await gpg.run(['--import'], own.certificate)
  expect((await gpg.try(['--verify'], signed)).code).toBe(0)
  expect((await gpg.try(['--verify'], signed.replace('entry: 5', 'entry: 6'))).code).not.toBe(0)
  const read = await engine.readSigned(Buffer.from(signed), null)
  expect(document(read)).toBe('entry: 5\nhash: ab')
  expect(await verify(read, own.certificate)).toEqual(['valid'])
  const other = Buffer.from(signed.replace('entry: 5', 'entry: 6'))
  expect(await verify(await engine.readSigned(other, null), own.certificate)).toEqual(['bad'])
})

test.each([
  ['in cleartext', ['--clearsign']],
  ['inline and armored', ['--armor', '--sign']],
  ['inline and binary', ['--sign']],
  ['inline without compression', ['--compress-algo', 'none', '--sign']],
])('a file that gpg signed %s is read and verifies', async (_how, args) => {
  const { gpg, certificate } = await alice()
  const file = (await gpg.run(args, TEXT)).stdout
  const read = await engine.readSigned(file, null)
  expect(document(read)?.trimEnd()).toBe(
    args[0] === '--clearsign' ? TEXT.replace('ab ', 'ab') : TEXT,
  )
  expect(await verify(read, certificate)).toEqual(['valid'])
  expect(await verify(read, own.certificate)).toEqual(['other-key'])
})

test.each([
  ['armored', ['--armor']],
  ['binary', []],
])(
  'a detached signature of gpg (%s) verifies for its file and for no other',
  async (_how, args) => {
    const { gpg, certificate } = await alice()
    const signature = (await gpg.run([...args, '--detach-sign'], TEXT)).stdout
    const read = await engine.readSigned(Buffer.from(TEXT), signature)
    expect(await verify(read, certificate)).toEqual(['valid'])
    const other = await engine.readSigned(Buffer.from(`${TEXT}.`), signature)
    expect(await verify(other, certificate)).toEqual(['bad'])
  },
)

test('text around a cleartext signature is not part of the signed document', async () => {
  const { gpg, certificate } = await alice()
  const signed = (await gpg.run(['--clearsign'], 'signed')).stdout.toString()
  const read = await engine.readSigned(Buffer.from(`${signed}\nadded\n`), null)
  expect(document(read) ?? 'signed').not.toContain('added')
  const before = await engine.readSigned(Buffer.from(`added\n${signed}`), null)
  // without the form at its beginning, it is a file that nobody signed
  expect(before?.signatures).toEqual([])
  expect(await verify(read, certificate)).not.toEqual(['bad'])
})

test('`readSigned` returns null for a damaged signed file, and no signatures for plain text', async () => {
  const signed = await engine.signText('text', own.unlocked, Date.now())
  expect(await engine.readSigned(Buffer.from(signed.slice(0, -60)), null)).toBeNull()
  expect(await engine.readSigned(Buffer.from('text'), Buffer.from('noise'))).toBeNull()
  expect((await engine.readSigned(Buffer.from('4711,ab'), null))?.signatures).toEqual([])
})

test('`readKeyring` lists each certificate of a gpg keyring with its user ids and notations', async () => {
  const { gpg, certificate } = await alice()
  await gpg.run(['--quick-generate-key', 'bob <12@example.org>', 'rsa2048', 'sign', 'never'])
  await gpg.run([
    '--cert-notation',
    'userid@example.org=12',
    '--quick-add-uid',
    'bob <12@example.org>',
    'bob too',
  ])
  const o = { most: 10, nowMs: Date.now() + 1000 }
  for (const args of [['--export'], ['--armor', '--export']]) {
    const listed = await engine.readKeyring((await gpg.run(args)).stdout, o)
    expect(listed?.map(({ userIds }) => userIds.toSorted())).toEqual([
      ['alice <4711@example.org>'],
      ['bob <12@example.org>', 'bob too'],
    ])
    expect(listed?.[1]?.notations).toContainEqual({ name: 'userid@example.org', value: '12' })
    const judged = await engine.judge(listed?.[0]?.armored ?? '')
    expect(judged.fingerprint).toBe((await engine.judge(certificate)).fingerprint)
  }
  const both = (await gpg.run(['--armor', '--export'])).stdout.toString()
  expect(await engine.readKeyring(Buffer.from(both + both), o)).toHaveLength(4)
  expect(await engine.readKeyring(Buffer.from(both), { ...o, most: 1 })).toBeNull()
})

test('`readKeyring` returns null for a keyring with a secret key and for a truncated one', async () => {
  const { gpg } = await alice()
  const o = { most: 10, nowMs: Date.now() + 1000 }
  const secret = (await gpg.run(['--export-secret-keys'])).stdout
  expect(await engine.readKeyring(secret, o)).toBeNull()
  const certificates = (await gpg.run(['--export'])).stdout
  expect(await engine.readKeyring(certificates.subarray(0, -9), o)).toBeNull()
})
