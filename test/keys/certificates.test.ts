import { afterAll, expect, test } from 'vitest'
import { Certificates } from '../../src/keys/certificates.ts'
import { Journal } from '../../src/keys/journal.ts'
import { createEngine } from '../../src/openpgp/create.ts'
import { open, temporary } from '../store/support.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  keyRevocation,
  userId,
} from '../support/openpgp-certificate.ts'
import { MADE_MS, testPerson, type TestPerson } from '../support/openpgp-people.ts'

const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

const revoked = ({ primary, subkey, name }: TestPerson): string =>
  armoredCertificate(
    keyPacket(primary),
    keyRevocation(primary, { atMs: MADE_MS + 1000, code: 2 }),
    userId(primary, name),
    boundSubkey(primary, subkey),
  )

test('a revocation sticks, also of more certificates than are kept whole, and after a restart', async () => {
  const store = await open(temporary())
  const made = { userId: 1, journal: new Journal(store) }
  const load = () => Certificates.load(engine, store, { maxWhole: 1, maxRevoked: 2 })
  const certificates = await load()
  const [whole, known, tooMany] = ['revoked one', 'revoked two', 'revoked three'].map((name) =>
    testPerson(name),
  ) as [TestPerson, TestPerson, TestPerson]
  for (const one of [whole, known]) {
    await certificates.rememberRevoked(await certificates.judge(revoked(one)), made)
  }
  const last = await certificates.judge(revoked(tooMany))
  const code = 'postern_store_unwritable'
  await expect(certificates.rememberRevoked(last, made)).rejects.toMatchObject({ code })
  for (const each of [certificates, await load()]) {
    const [first, second] = [
      await each.judge(whole.certificate),
      await each.judge(known.certificate),
    ]
    expect([first.unusable, second.unusable]).toEqual(['revoked', 'revoked'])
    // the one is verified against with its revocation, the other against nothing
    expect(first.armored).not.toBe(whole.certificate)
    expect(second.armored).toBe('')
    expect((await each.judge(testPerson('not revoked').certificate)).unusable).toBeNull()
  }
})
