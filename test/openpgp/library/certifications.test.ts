/** Certifications that gpg and sq make, and those that do not count. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { enums, generateKey, readKey, revokeKey } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Certified } from '../../../src/openpgp/certifier.ts'
import { createEngine } from '../../../src/openpgp/create.ts'
import { certify as certifyKey, unlockedFrom } from '../../../src/openpgp/library/secret-key.ts'
import { GpgAuthority, type CertifyOptions } from '../../support/openpgp-authority.ts'
import {
  armoredCertificate,
  boundSubkey,
  certifiedBy,
  keyPacket,
  userId as writeUserId,
} from '../../support/openpgp-certificate.ts'
import { MADE_MS, testPerson } from '../../support/openpgp-people.ts'
import { TYPE, expiresAfter, notation as writeNotation } from '../../support/openpgp-signature.ts'
import type { SignatureOptions } from '../../support/openpgp-signature.ts'
import { isInstalled, run } from '../../support/programs.ts'

const NOTATION = 'user-id@corp.example'
const DAY_MS = 86_400_000
const NOW_MS = Math.floor(Date.now() / 1000) * 1000
const engine = createEngine({ threads: 1 })
afterAll(() => engine[Symbol.asyncDispose]())

const SUBJECT = { notation: NOTATION, value: '4711' }
type Subject = typeof SUBJECT | { userId: string } | 'own-user-id'

async function certificateOf(...userIds: string[]): Promise<string> {
  const { publicKey } = await generateKey({
    type: 'ecc',
    curve: 'curve25519Legacy',
    userIDs: userIds.map((name) => ({ name })),
    date: new Date(NOW_MS - 10 * DAY_MS),
    format: 'armored',
  })
  return publicKey
}

interface Asked {
  by?: { fingerprint: string; armored: string }
  subject?: Subject
  known?: string | null
  nowMs?: number
}

let authority: GpgAuthority
async function certified(armored: string, o: Asked = {}): Promise<Certified> {
  const { subject = SUBJECT, known = null, nowMs = NOW_MS + 60_000 } = o
  const by = o.by ?? { fingerprint: authority.fingerprint, armored: authority.certificate }
  const [found] = await engine.certifications(armored, [{ ...by, subject, known }], nowMs)
  if (found === undefined) throw new Error('no answer')
  return found
}
const proves = async (armored: string, o?: Asked): Promise<boolean> =>
  (await certified(armored, o)).period !== null
const NOTHING: Certified = { period: null, isWithdrawn: false, remember: null }

describe.skipIf(!isInstalled('gpg'))('a gpg authority', () => {
  let alice: string
  beforeAll(async () => {
    authority = await GpgAuthority.make({ atMs: NOW_MS - 20 * DAY_MS })
    alice = await certificateOf('4711@bots.example', 'Alice')
  })
  afterAll(() => authority[Symbol.asyncDispose]())
  const certify = (o: CertifyOptions = {}, of = alice): Promise<string> =>
    authority.certify(of, { notation: `${NOTATION}=4711`, atMs: NOW_MS - DAY_MS, ...o })

  test("a certification with a notation, critical or not, proves a person's id until it expires", async () => {
    for (const notation of [`${NOTATION}=4711`, `!${NOTATION}=4711`]) {
      const { period } = await certified(await certify({ notation, expires: '3d' }))
      expect(period).toEqual({ madeMs: NOW_MS - DAY_MS, untilMs: NOW_MS + 2 * DAY_MS })
    }
    const ends = await certify({ expires: '3d' })
    expect(await certified(ends, { nowMs: NOW_MS + 2 * DAY_MS - 1000 })).not.toEqual(NOTHING)
    expect(await certified(ends, { nowMs: NOW_MS + 2 * DAY_MS })).toEqual(NOTHING)
  })

  test('a certification that gpg repeats for another person ends the one before', async () => {
    const notation = `${NOTATION}=4712`
    const both = await certify({ notation }, await certify({ atMs: NOW_MS - 2 * DAY_MS }))
    expect(await certified(both)).toEqual({ ...NOTHING, isWithdrawn: true })
    const subject = { notation: NOTATION, value: '4712' }
    expect((await certified(both, { subject })).period?.madeMs).toBe(NOW_MS - DAY_MS)
  })

  test.each([0, 1, 2, 3])('a certification of level %i counts', async (level) => {
    expect((await certified(await certify({ level }))).period).not.toBeNull()
  })

  test('a certification with another notation, another value or no notation proves nothing', async () => {
    for (const notation of [`${NOTATION}=47110`, `${NOTATION}=4711 `, `id@corp.example=4711`]) {
      expect(await certified(await certify({ notation }))).toEqual(NOTHING)
    }
    expect(await certified(alice)).toEqual(NOTHING)
    const other = await certify({ notation: '!id@corp.example=4711' })
    expect(await certified(other, { subject: { userId: '4711@bots.example' } })).toEqual(NOTHING)
  })

  test('a certification proves its own user id, by the whole id or the address inside, and no other', async () => {
    const subject = { userId: '4711@bots.example' }
    expect(await proves(await certify({ userId: '4711@bots.example' }), { subject })).toBe(true)
    expect(await certified(await certify({ userId: 'Alice' }), { subject })).toEqual(NOTHING)
    const named = await certificateOf('Alice <4711@bots.example>')
    expect(await proves(await certify({}, named), { subject })).toBe(true)
    for (const liar of [
      '4711@bots.example <x@y.example>',
      'a <4711@bots.example> <x@y.example>',
      '4711@bots.example.org',
      '14711@bots.example',
      'x@y.example 4711@bots.example',
    ]) {
      const made = await certify({}, await certificateOf(liar))
      expect(await certified(made, { subject })).toEqual(NOTHING)
    }
  })

  test('a revoked certification stays revoked when omitted, until a newer certification', async () => {
    const made = await certify({ atMs: NOW_MS - 4 * DAY_MS })
    const revoked = await authority.revoke(made, { atMs: NOW_MS - 2 * DAY_MS })
    expect(await certified(revoked)).toEqual({ period: null, isWithdrawn: true, remember: revoked })
    const known = { known: revoked }
    expect(await certified(revoked, known)).toEqual({ ...NOTHING, isWithdrawn: true })
    expect(await certified(made, known)).toEqual({ ...NOTHING, isWithdrawn: true })
    expect(await certified(alice, known)).toEqual({ ...NOTHING, isWithdrawn: true })
    const anew = await certify({ atMs: NOW_MS - DAY_MS })
    expect((await certified(anew, known)).period).toMatchObject({ madeMs: NOW_MS - DAY_MS })
  })

  test('a certification counts as revoked when the known copy is empty or unreadable', async () => {
    const made = await certify()
    for (const known of ['', 'nothing', alice]) {
      expect(await certified(made, { known })).toEqual({ ...NOTHING, isWithdrawn: true })
    }
  })

  test('two copies that each lack one revocation are remembered as revoked, without a certificate', async () => {
    const made = await certify({ atMs: NOW_MS - 4 * DAY_MS })
    const revoke = (userId: string, atMs: number) => authority.revoke(made, { userId, atMs })
    const first = await revoke('Alice', NOW_MS - 3 * DAY_MS)
    expect((await certified(first)).period).not.toBeNull()
    const second = await revoke('4711@bots.example', NOW_MS - 2 * DAY_MS)
    expect(await certified(second, { known: first })).toEqual({
      period: null,
      isWithdrawn: true,
      remember: '',
    })
  })

  test('an authority whose key has expired proves nothing', async () => {
    await using short = await GpgAuthority.make({ atMs: NOW_MS - 5 * DAY_MS, expires: '8d' })
    const notation = `${NOTATION}=4711`
    const made = await short.certify(alice, { notation, atMs: NOW_MS - DAY_MS })
    const by = { fingerprint: short.fingerprint, armored: short.certificate }
    expect((await certified(made, { by })).period?.untilMs).toBe(NOW_MS + 3 * DAY_MS)
    expect(await certified(made, { by, nowMs: NOW_MS + 3 * DAY_MS })).toEqual(NOTHING)
  })

  test('an authority whose certificate is revoked proves nothing', async () => {
    await using bad = await GpgAuthority.make({ atMs: NOW_MS - 5 * DAY_MS })
    const made = await bad.certify(alice, { notation: `${NOTATION}=4711` })
    const { fingerprint } = bad
    expect(await proves(made, { by: { fingerprint, armored: bad.certificate } })).toBe(true)
    const armored = await bad.revoked()
    expect((await engine.judge(armored)).unusable).toBe('revoked')
    expect(await certified(made, { by: { fingerprint, armored } })).toEqual(NOTHING)
  })

  test('a certification over SHA-1, or by an RSA key of 1024 bits, proves nothing', async () => {
    expect(await certified(await certify({ digest: 'SHA1' }))).toEqual(NOTHING)
    await using weak = await GpgAuthority.make({ atMs: NOW_MS - 5 * DAY_MS, algorithm: 'rsa1024' })
    const made = await weak.certify(alice, { notation: `${NOTATION}=4711` })
    const by = { fingerprint: weak.fingerprint, armored: weak.certificate }
    expect(await certified(made, { by })).toEqual(NOTHING)
  })

  test('a certification by another key, or by the certified key itself, proves nothing', async () => {
    await using other = await GpgAuthority.make({ atMs: NOW_MS - 5 * DAY_MS })
    const made = await other.certify(alice, { notation: `${NOTATION}=4711` })
    expect(await certified(made)).toEqual(NOTHING)
    const by = { fingerprint: authority.fingerprint, armored: other.certificate }
    const byBoth = await other.certify(await certify(), { notation: `${NOTATION}=4711` })
    for (const one of [await certify(), byBoth]) {
      expect(await certified(one, { by })).toEqual(NOTHING)
    }
    const self = { fingerprint: (await engine.judge(alice)).fingerprint ?? '', armored: alice }
    const subject = { userId: '4711@bots.example' }
    expect(await certified(alice, { by: self, subject })).toEqual(NOTHING)
  })

  test('a certification of a user id without a self-signature proves nothing', async () => {
    const made = await readKey({ armoredKey: await certify({ userId: '4711@bots.example' }) })
    const subject = { userId: '4711@bots.example' }
    const user = made.users.find(({ userID }) => userID?.userID === subject.userId)
    expect((await certified(made.armor(), { subject })).period).not.toBeNull()
    user!.selfCertifications = []
    expect(await certified(made.armor(), { subject })).toEqual(NOTHING)
  })
})

describe('the statements of a certifier', () => {
  const [by, of] = [testPerson('authority'), testPerson('4711@bots.example')]
  const dayMs = (day: number): number => MADE_MS + day * DAY_MS
  const gives = (day: number, value = '4711', more: Buffer[] = [], on = of): Buffer => {
    const hashed = [writeNotation(NOTATION, value, true), ...more]
    return certifiedBy(by.primary, on, { atMs: dayMs(day), hashed })
  }
  const revokes = (day: number, more: Partial<SignatureOptions> = {}): Buffer =>
    certifiedBy(by.primary, of, { atMs: dayMs(day), type: TYPE.certificationRevocation, ...more })
  const forged = (day: number) => revokes(day, { numbers: Buffer.from([0, 1, 1, 0, 1, 1]) })
  const times = (length: number, one: (at: number) => Buffer) =>
    Array.from({ length }, (_, at) => one(at))
  const copied = gives(1, '4711', [], { ...of, primary: testPerson('another').primary })
  const many = times(16, () => gives(1))
  const critical = revokes(2, { hashed: [writeNotation('unknown@corp.example', '1', true)] })
  const ended = gives(2, '4711', [expiresAfter(60)])

  test.each<[what: string, statements: Buffer[], madeOn: number | null, isWithdrawn: boolean]>([
    ['a revocation with a critical notation counts', [gives(1), critical], null, true],
    ['a certification that is copied from another key proves nothing', [copied], null, false],
    ['16 certifications are read', many, 1, false],
    ['17 certifications prove nothing', [...many, gives(1)], null, false],
    ['a revocation behind 16 certifications counts', [...many, revokes(2)], null, true],
    ['17 forged revocations count as one', [gives(1), ...times(17, forged)], null, true],
    ['15 forged revocations revoke nothing', [...times(15, forged), gives(1)], 1, false],
    ['a newer certification for another person counts', [gives(2, '9999'), gives(1)], null, true],
    ['a certification for another person alone proves nothing', [gives(2, '9999')], null, false],
    ['a newer certification that has ended counts', [gives(1), ended], null, false],
    ['a newer certification for the person counts', [gives(2), gives(1, '9999')], 2, false],
  ])('%s', async (_, statements, madeOn, isWithdrawn) => {
    const { primary, name, subkey } = of
    const made = [writeUserId(primary, name), ...statements, boundSubkey(primary, subkey)]
    const found = await certified(armoredCertificate(keyPacket(primary), ...made), {
      by: { fingerprint: by.primary.fingerprint, armored: by.certificate },
      nowMs: dayMs(9),
    })
    expect(found.period?.madeMs ?? null).toBe(madeOn && dayMs(madeOn))
    expect(found.isWithdrawn).toBe(isWithdrawn)
  })
})

describe('the previous key', () => {
  const ECC = { type: 'ecc', curve: 'curve25519Legacy', userIDs: { name: 'alice' } } as const
  const passphrase = 'a passphrase for tests alone'
  const make = async (userId: string, createdMs: number, before?: string) => {
    const by = before === undefined ? before : await engine.unlock(before, passphrase)
    const key = { userId, createdMs, passphrase, isRandom: true }
    return await engine.generate({ ...key, certifiedBy: by })
  }
  const follows = async (
    next: string,
    { fingerprint, certificate: armored }: { fingerprint: string; certificate: string },
  ) => await certified(next, { by: { fingerprint, armored }, subject: 'own-user-id' })

  test('the next key of a rotation is certified by the previous key', async () => {
    const old = await make('echo_bot', NOW_MS - 9 * DAY_MS)
    const next = await make('echo_bot', NOW_MS - DAY_MS, old.locked)
    expect((await follows(next.certificate, old)).period).not.toBeNull()
    expect(await follows((await make('echo_bot', NOW_MS)).certificate, old)).toEqual(NOTHING)
  })

  test('a key with another user id is no successor of the key that certified it', async () => {
    const old = await make('alice', NOW_MS - 9 * DAY_MS)
    const bob = await make('bob', NOW_MS - DAY_MS, old.locked)
    expect(await follows(bob.certificate, old)).toEqual(NOTHING)
  })

  /** A key and its successor, which it certifies. */
  async function succession(nextMs: number, more: { keyExpirationTime?: number } = {}) {
    const [old, next] = await Promise.all(
      [{ date: new Date(NOW_MS - 9 * DAY_MS), ...more }, { date: new Date(nextMs) }].map(
        async (options) => (await generateKey({ ...ECC, ...options, format: 'object' })).privateKey,
      ),
    )
    if (old === undefined || next === undefined) throw new Error('no keys')
    await certifyKey(next, unlockedFrom(old))
    const publicKey = old.toPublic()
    const before = { fingerprint: publicKey.getFingerprint(), certificate: publicKey.armor() }
    return { old, before, certificate: next.toPublic().armor() }
  }

  test('a successor is not certified once the previous key is revoked, for any reason', async () => {
    const { old, before, certificate } = await succession(NOW_MS - DAY_MS)
    expect((await follows(certificate, before)).period).not.toBeNull()
    const { keySuperseded, keyCompromised, keyRetired } = enums.reasonForRevocation
    for (const flag of [keySuperseded, keyCompromised, keyRetired]) {
      const { publicKey: revoked } = await revokeKey({
        key: old,
        reasonForRevocation: { flag },
        format: 'armored',
      })
      expect(await follows(certificate, { ...before, certificate: revoked })).toEqual(NOTHING)
    }
  })

  test('a successor is not certified once the previous key has expired', async () => {
    const ends = { keyExpirationTime: (8 * DAY_MS) / 1000 }
    const { before, certificate } = await succession(NOW_MS - 3 * DAY_MS, ends)
    expect(await follows(certificate, before)).toEqual(NOTHING)
    const by = { fingerprint: before.fingerprint, armored: before.certificate }
    const nowMs = NOW_MS - 2 * DAY_MS
    expect(await certified(certificate, { by, subject: 'own-user-id', nowMs })).not.toEqual(NOTHING)
  })
})

test.skipIf(!isInstalled('sq'))(
  'a certification by sq with a critical notation counts until it expires',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sq-'))
    const file = (name: string): string => join(folder, name)
    const sq = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await run('sq', args)
      expect(code, stderr).toBe(0)
      return stdout.toString()
    }
    try {
      const made = '--userid authority --cannot-encrypt --export'.split(' ')
      await sq('key', 'generate', ...made, file('ca'))
      writeFileSync(file('person'), await certificateOf('Alice <4711@bots.example>'))
      const notation = ['--notation', `!${NOTATION}`, '4711', '--expires-in', '2d']
      const [ca, person] = [file('ca'), file('person')]
      const certificate = await sq('certify', ...notation, ca, person, 'Alice <4711@bots.example>')
      const armored = await sq('key', 'extract-cert', file('ca'))
      const by = { fingerprint: (await engine.judge(armored)).fingerprint ?? '', armored }
      const nowMs = Date.now() + 60_000
      const subject = { userId: '4711@bots.example' }
      expect(await proves(certificate, { by, nowMs })).toBe(true)
      expect(await proves(certificate, { by, nowMs, subject })).toBe(false)
      expect(await certified(certificate, { by, nowMs: nowMs + 2 * DAY_MS })).toEqual(NOTHING)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
