/** A signed list of fingerprints: whose it is, what it may change, and what it must not. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../../src/openpgp/index.ts'
import {
  applyList,
  compareList,
  describeRow,
  readList,
  withCertificates,
  type ListRequest,
} from '../../src/operators/trust/import-list.ts'
import { safetyNumber } from '../../src/operators/trust/number.ts'
import { trusting } from '../kernel/people/trust-scene.ts'
import { Gpg } from '../support/openpgp-gpg.ts'

const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

const [A, B, C] = ['a', 'b', 'c'].map((one) => one.repeat(40)) as [string, string, string]
let gpg: Gpg
let ca: { certificate: string; fingerprint: string }
let mallory: string
beforeAll(async () => {
  gpg = await Gpg.start()
  for (const name of ['ca', 'mallory']) {
    await gpg.run(['--quick-generate-key', name, 'ed25519', 'sign', 'never'])
  }
  const certificate = (await gpg.run(['--armor', '--export', 'ca'])).stdout.toString()
  const { fingerprint } = await engine.judge(certificate)
  ca = { certificate, fingerprint: fingerprint ?? '' }
  mallory = (await gpg.run(['--armor', '--export', 'mallory'])).stdout.toString()
})
afterAll(() => gpg[Symbol.asyncDispose]())

const sign = async (args: string[], list: string | Uint8Array): Promise<Buffer> =>
  (await gpg.run(['-u', 'ca', ...args], list)).stdout

const read = (file: string | Uint8Array, o: Partial<ListRequest> = {}) =>
  readList(engine, {
    file: Buffer.from(file),
    signature: null,
    by: null,
    pattern: null,
    notation: null,
    ...o,
  })

test.each([
  ['in cleartext', ['--clearsign']],
  ['inline', ['--sign']],
])('a list that is signed %s is read, and its signer named', async (_how, args) => {
  const file = await sign(args, `userId,fingerprint\n4711,${A}\n12,${B.toUpperCase()}\n`)
  expect(await read(file, { by: ca.certificate })).toEqual({
    signer: ca.fingerprint,
    people: [
      { userId: 4711, fingerprint: A, line: 2 },
      { userId: 12, fingerprint: B, line: 3 },
    ],
  })
  await expect(read(file, { by: mallory })).rejects.toThrow('no signature on the list is by')
  await expect(read(file)).rejects.toThrow('the list is signed')
})

test('a list with a detached signature is read, and rejected once a row is changed', async () => {
  const list = `4711,${A}\n`
  const signature = await sign(['--detach-sign'], list)
  const by = ca.certificate
  expect(await read(list, { by, signature })).toMatchObject({ signer: ca.fingerprint })
  await expect(read(list.replace('4711', '4712'), { by, signature })).rejects.toThrow(
    'no signature',
  )
  await expect(read(list, { by })).rejects.toThrow('nobody signed the list')
  await expect(read(list, { by, signature: Buffer.from('noise') })).rejects.toThrow(
    'cannot be read',
  )
  await expect(read(list, { by: 'noise', signature })).rejects.toMatchObject({ code: 'usage' })
})

test('an unsigned list is read where the operator allows it, and a repeated row once', async () => {
  expect(await read(`4711;${A}\n4711,${A}`)).toEqual({
    signer: null,
    people: [{ userId: 4711, fingerprint: A, line: 1 }],
  })
})

test.each([
  ['two fingerprints of a person', `1,${A}\n2,${B}\n1,${C}\n`, 'line 3 contradicts line 1'],
  ['one fingerprint of two people', `1,${A}\n2,${A}\n`, 'line 2 contradicts line 1'],
  ['another line', `1,${A}\nignore me\n`, 'line 2 is not'],
  ['control characters', `1,${A}\n2,\u001b[2J${B}\n`, 'line 2 is not'],
  ['a formula', `1,${A}\n=1+1,${B}\n`, 'line 2 is not'],
  ['a short fingerprint', `1,${A.slice(1)}\n`, 'line 1 is not'],
  ['an id that is no number', `0x1,${A}\n`, 'line 1 is not'],
  ['an id beyond exact integers', `9999999999999999,${A}\n`, 'line 1 is not'],
  ['nobody', 'userId,fingerprint\n', 'names nobody'],
  ['too many lines', '\n'.repeat(10_001), 'more than 10000 lines'],
])(
  'a list with %s is refused as a whole, and its text is not repeated',
  async (_what, list, message) => {
    const error = await read(list).catch((one: unknown) => one as Error)
    expect(error).toMatchObject({ code: 'refused', message: expect.stringContaining(message) })
    expect((error as Error).message).not.toContain('\u001b')
  },
)

async function ring() {
  const other = await Gpg.start()
  onTestFinished(() => other[Symbol.asyncDispose]())
  await other.run(['--quick-generate-key', 'Alice <4711@example.org>', 'ed25519', 'sign', 'never'])
  await other.run(['--quick-generate-key', 'Bob <12@example.org.evil>', 'ed25519', 'sign', 'never'])
  const file = (await other.run(['--export'])).stdout
  return { file, signature: await sign(['--detach-sign'], file) }
}

test('a keyring gives the people whose user ids match the whole pattern', async () => {
  const { file, signature } = await ring()
  const how = { by: ca.certificate, signature }
  const { people } = await read(file, { ...how, pattern: '{userId}@example.org' })
  expect(people).toMatchObject([{ userId: 4711, line: 1 }])
  await expect(read(file, how)).rejects.toMatchObject({ code: 'usage' })
  await expect(read(file, { ...how, pattern: 'x' })).rejects.toMatchObject({ code: 'usage' })
  await expect(read(file, { ...how, pattern: '{userId}@exampleXorg' })).rejects.toThrow('nobody')
  await expect(read(file, { ...how, notation: 'userid@example.org' })).rejects.toThrow('nobody')
})

async function decided() {
  const scene = await trusting()
  const { trust } = scene
  const people = [1, 2, 3, 4].map((userId) => ({ userId, fingerprint: String(userId).repeat(40) }))
  await trust.saw(people)
  await trust.decisions.verify(2, '2'.repeat(40))
  await trust.decisions.verify(3, C)
  await trust.decisions.block(4)
  return scene
}
const LIST = [1, 2, 3, 4, 5].map((userId) => {
  return { userId, fingerprint: String(userId).repeat(40), line: userId }
})

test('an import verifies new people alone, and journals each with the signer', async () => {
  const scene = await decided()
  const rows = compareList(LIST, scene)
  expect(rows.map(({ effect }) => effect)).toEqual([
    'new',
    'same',
    'conflict',
    'blocked',
    'unknown',
  ])
  expect(rows.map(describeRow).join('\n')).toMatch(/person 4 stays blocked, not with 4444/)
  expect(await applyList(rows, scene, { signer: ca.fingerprint, hasUnknown: false })).toBe(1)
  expect(scene.changes.at(-1)).toEqual({
    kind: 'verified',
    userId: 1,
    detail: { fingerprint: '1'.repeat(40), listedBy: ca.fingerprint },
  })
  expect(scene.trust.standingOf(4)).toBe('blocked')
  expect(scene.trust.standingOf(5)).toBeUndefined()
  expect(await applyList(rows.slice(4), scene, { signer: null, hasUnknown: true })).toBe(1)
  expect(scene.trust.standingOf(5)).toBe('verified')
})

test('an import is refused for a person who was blocked meanwhile', async () => {
  const scene = await decided()
  const rows = compareList(LIST, scene)
  await scene.trust.decisions.block(1)
  await expect(applyList(rows, scene, { signer: null, hasUnknown: false })).rejects.toThrow(
    'decided otherwise',
  )
  expect(scene.trust.standingOf(1)).toBe('blocked')
})

test('an import verifies a person whom only an authority verified', async () => {
  const firstUse = { afterMs: null, authorities: [{ id: 'corp' }] }
  const scene = await trusting({ firstUse })
  const vouched = { fingerprint: A, by: 'corp', madeMs: 1, untilMs: Number.MAX_SAFE_INTEGER }
  const evidence = { vouched, withdrawnBy: [], follows: null, revocations: [] }
  await scene.trust.saw([{ userId: 1, fingerprint: A, evidence }])
  expect(scene.trust.standingOf(1)).toBe('verified')
  const rows = compareList([{ userId: 1, fingerprint: A, line: 1 }], scene)
  expect(rows).toMatchObject([{ effect: 'new' }])
  await applyList(rows, scene, { signer: null, hasUnknown: false })
  expect((await trusting({ store: scene.store })).trust.standingOf(1)).toBe('verified')
})

test('an import of safety numbers verifies only the certificate that each number is of', async () => {
  const scene = await decided()
  const bot = { userId: 7, fingerprint: 'd'.repeat(40) }
  await scene.trust.saw([{ userId: 1, fingerprint: A }])
  const lineOf = async (userId: number, fingerprint: string, by = bot) => {
    const { digits } = await safetyNumber({ bot: by, person: { userId, fingerprint } })
    return `${userId},${digits.replaceAll(/\d{5}(?=\d)/g, '$& ')}`
  }
  const effectsOf = async (...lines: Promise<string>[]) => {
    const { people } = await read((await Promise.all(lines)).join('\n'))
    const rows = compareList(await withCertificates(people, { ...scene, bot }), scene)
    return rows.map(({ userId, fingerprint, effect }) => [userId, fingerprint.length, effect])
  }
  const former = { ...bot, fingerprint: 'e'.repeat(40) }
  const [mine, listed] = ['1'.repeat(40), A]
  expect(await effectsOf(lineOf(1, mine), lineOf(4, '4'.repeat(40)), lineOf(5, B))).toEqual([
    [1, 40, 'new'],
    [4, 40, 'blocked'],
    [5, 60, 'differs'],
  ])
  expect(await effectsOf(lineOf(1, listed), lineOf(3, '3'.repeat(40)))).toEqual([
    [1, 40, 'new'],
    [3, 40, 'conflict'],
  ])
  expect(await effectsOf(lineOf(1, mine, former), lineOf(2, C))).toEqual([
    [1, 60, 'differs'],
    [2, 60, 'differs'],
  ])
  const { people } = await read(await lineOf(1, mine))
  await expect(withCertificates(people, { ...scene, bot: null })).rejects.toThrow('no published')
  const rows = compareList(await withCertificates(people, { ...scene, bot }), scene)
  await applyList(rows, scene, { signer: null, hasUnknown: true })
  expect(scene.changes.at(-1)).toMatchObject({ userId: 1, detail: { fingerprint: mine } })
})

test('an import of more than 500 safety numbers is refused', async () => {
  const lines = Array.from({ length: 501 }, (_, n) => `${n + 1},${String(n).padStart(60, '0')}`)
  const { people } = await read(lines.join('\n'))
  const bot = { userId: 7, fingerprint: A }
  await expect(withCertificates(people, { ...(await trusting()), bot })).rejects.toThrow('500')
})

test('an import does not give a person a certificate that the operator gave to another', async () => {
  const scene = await decided()
  const [row] = compareList([{ userId: 1, fingerprint: C, line: 1 }], scene)
  expect(row).toMatchObject({ effect: 'conflict' })
})
