import { afterAll, expect, test } from 'vitest'
import { Certificates, type CertificatesParts } from '../../../src/kernel/people/certificates.ts'
import { judgeList } from '../../../src/kernel/people/observe.ts'
import { Journal } from '../../../src/kernel/people/journal.ts'
import { createEngine } from '../../../src/openpgp/create.ts'
import type { Store } from '../../../src/store/store.ts'
import { open, temporary } from '../../store/support.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../../support/openpgp-certificate.ts'
import { bothPerson } from '../../support/openpgp-ml-kem.ts'
import { MADE_MS, revokedCertificate, testPerson } from '../../support/openpgp-people.ts'
import type { TestPerson } from '../../support/openpgp-people.ts'
import { keyExpiresAfter } from '../../support/openpgp-signature.ts'
import { memoryOf } from '../../../src/store/memory.ts'

const engine = createEngine()
afterAll(() => engine[Symbol.asyncDispose]())

const loadCertificates = (store: Store, bounds: Partial<CertificatesParts> = {}) => {
  const memory = memoryOf(store)
  return Certificates.load({ engine, memory, journal: new Journal(memory), ...bounds })
}

const revoked = (person: TestPerson): string =>
  revokedCertificate(person, { atMs: MADE_MS + 1000, code: 2 })

test('a revocation is remembered past `maxWhole`, refused past `maxRevoked`, and kept over a restart', async () => {
  const store = await open(temporary())
  const load = () => loadCertificates(store, { maxWhole: 1, maxRevoked: 2 })
  const certificates = await load()
  const [whole, known, tooMany] = ['revoked one', 'revoked two', 'revoked three'].map((name) =>
    testPerson(name),
  ) as [TestPerson, TestPerson, TestPerson]
  for (const one of [whole, known]) {
    await certificates.rememberRevoked(await certificates.judge(revoked(one)), 1)
  }
  const last = await certificates.judge(revoked(tooMany))
  const code = 'postern_store_unwritable'
  await expect(certificates.rememberRevoked(last, 1)).rejects.toMatchObject({ code })
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

test('a list with several copies of a certificate has the subkey of ML-KEM and the revocation of each, in any order', async () => {
  const person = bothPerson('twice', MADE_MS)
  const { primary, subkey, kem, name } = person
  const id = userId(primary, name)
  const copy = (...parts: Buffer[]) => armoredCertificate(keyPacket(primary), ...parts)
  const stripped = copy(id, boundSubkey(primary, subkey))
  const whole = copy(id, boundSubkey(primary, subkey), boundSubkey(primary, kem))
  const other = testPerson('beside them').certificate
  const certificates = await loadCertificates(await open(temporary()))
  for (const list of [
    [stripped, other, whole],
    [whole, other, stripped],
  ]) {
    const [first, beside, last] = await judgeList(list, certificates)
    expect([first?.encryptionKeys[0], last?.encryptionKeys[0]]).toEqual(
      Array(2).fill(kem.fingerprint),
    )
    expect(beside?.armored).toBe(other)
    const ended = await judgeList([...list, revoked(person)], certificates)
    const never = list.map((armored) => (armored === other ? null : 'revoked'))
    expect(ended.map(({ unusable }) => unusable)).toEqual([...never, 'revoked'])
  }
})

/** The same certificate, whose owner has stated since that it ended a minute after it was made. */
const ended = ({ primary, subkey, name }: TestPerson): string =>
  armoredCertificate(
    keyPacket(primary),
    userId(primary, name, { atMs: MADE_MS + 1000, hashed: [keyExpiresAfter(60)] }),
    boundSubkey(primary, subkey),
  )

test('the newest self-signature of a certificate counts over older copies, after a restart too', async () => {
  const store = await open(temporary())
  const certificates = await loadCertificates(store)
  const person = testPerson('ended')
  for (const armored of [person.certificate, ended(person)]) {
    await certificates.keepCopies([await certificates.judge(armored)])
  }
  for (const each of [certificates, await loadCertificates(store)]) {
    const older = await each.judge(person.certificate)
    expect([older.unusable, older.isNews]).toEqual(['expired', undefined])
    await each.keepCopies([older])
    expect((await each.judge(ended(person))).unusable).toBe('expired')
    const copy = await each.copyOf(older.fingerprint ?? '')
    expect((await engine.judge(copy ?? '')).unusable).toBe('expired')
  }
})
