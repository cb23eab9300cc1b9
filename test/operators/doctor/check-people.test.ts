import { afterAll, expect, test } from 'vitest'
import { createEngine } from '../../../src/openpgp/create.ts'
import { checkPeople } from '../../../src/operators/doctor/check-people.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
  type SelfSignature,
} from '../../support/openpgp-certificate.ts'
import type { SigningKey } from '../../support/openpgp-key.ts'
import { alice, rsaKey } from '../../support/openpgp-people.ts'

const weak = rsaKey(2048)
const certificateOf = (key: SigningKey, hash: NonNullable<SelfSignature['hash']>): string =>
  armoredCertificate(
    keyPacket(key),
    userId(key, 'weak', { hash }),
    boundSubkey(key, alice.subkey, { hash }),
  )
const plain = createEngine({ threads: 1 })
const accepting = createEngine({ threads: 1, acceptWeakHash: [weak.fingerprint.toUpperCase()] })
afterAll(() => Promise.all([plain, accepting].map((one) => one[Symbol.asyncDispose]())))

test('a certificate over SHA-1 is `weak-hash`, and usable where the setting names it', async () => {
  const certificate = certificateOf(weak, 'sha1')
  expect(await plain.judge(certificate)).toMatchObject({ unusable: 'weak-hash' })
  expect(await accepting.judge(certificate)).toMatchObject({ unusable: null })
  expect(await accepting.judge(certificateOf(alice.primary, 'sha1'))).toMatchObject({
    unusable: 'weak-hash',
  })
  expect(await accepting.judge(certificateOf(weak, 'md5'))).toMatchObject({ unusable: 'weak-hash' })
})

test('`check` names the people whose certificates rest on SHA-1', async () => {
  const listed: Record<string, string> = {
    [weak.fingerprint]: certificateOf(weak, 'sha1'),
    [alice.primary.fingerprint]: alice.certificate,
  }
  const linesOf = async (engine: typeof plain) => {
    const all = Object.keys(listed).map((fingerprint, index) => ({
      userId: index + 1,
      listed: fingerprint,
    }))
    const copyOf = (fingerprint: string) => Promise.resolve(listed[fingerprint] ?? null)
    const parts = { trust: { all }, certificates: { copyOf }, engine }
    return await checkPeople(parts as never, false)
  }
  const [line, ...others] = await linesOf(plain)
  expect(others).toEqual([])
  expect(line).toMatchObject({ name: 'sha1', level: 'warn' })
  expect(line?.message).toContain(`of 1 of 2 people`)
  expect(line?.message).toContain(`1 (${weak.fingerprint})`)
  expect(await linesOf(accepting)).toEqual([])
})
