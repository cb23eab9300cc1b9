/** A key that the one before it vouches for. */
import { generateKey } from 'openpgp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../../src/openpgp/create.ts'
import type { OwnKey, UnlockedKey } from '../../../src/openpgp/engine.ts'
import { MADE_MS } from '../../support/openpgp-people.ts'
import { isInstalled } from '../../support/programs.ts'
import { Gpg } from '../../support/openpgp-gpg.ts'

const LATER_MS = MADE_MS + 86_400_000
const passphrase = 'a passphrase for tests alone'
const engine = createEngine({ threads: 1 })
let old: OwnKey
let certifiedBy: UnlockedKey
let made: OwnKey

beforeAll(async () => {
  old = await engine.generate({ userId: 'echo_bot', createdMs: MADE_MS, passphrase })
  certifiedBy = await engine.unlock(old.locked, passphrase)
  made = await engine.generate({ userId: 'echo_bot', createdMs: LATER_MS, passphrase, certifiedBy })
})
afterAll(() => engine[Symbol.asyncDispose]())

interface Checked {
  /** Key ids of good certifications of the first user id, by whom they are from. */
  good: string[]
  bad: string[]
}

/** What gpg makes of the certifications on a certificate, with others in its keyring. */
async function checked(fingerprint: string, certificates: string[]): Promise<Checked> {
  await using gpg = await Gpg.start()
  for (const certificate of certificates) await gpg.run(['--import'], certificate)
  const listing = await gpg.run(['--with-colons', '--check-sigs', fingerprint])
  const lines = listing.stdout.toString().split('\n')
  const end = lines.findIndex((line) => line.startsWith('sub:'))
  const certifications = lines.slice(0, end).map((line) => line.split(':'))
  const of = (mark: string): string[] =>
    certifications
      .filter(([kind, result]) => kind === 'sig' && result === mark)
      .map(([, , , , keyId]) => keyId?.toLowerCase() ?? '')
  return { good: of('!'), bad: of('-') }
}

const idOf = ({ fingerprint }: { fingerprint: string }): string => fingerprint.slice(-16)

describe.skipIf(!isInstalled('gpg'))('gpg --check-sigs', () => {
  test('finds the certification of the old key on the new certificate, and it is good', async () => {
    const { good, bad } = await checked(made.fingerprint, [old.certificate, made.certificate])
    expect(good.toSorted()).toEqual([idOf(made), idOf(old)].toSorted())
    expect(bad).toEqual([])
  })

  test('does not take it for the certification of another key', async () => {
    const other = await engine.generate({ userId: 'echo_bot', createdMs: MADE_MS, passphrase })
    const { good } = await checked(made.fingerprint, [other.certificate, made.certificate])
    expect(good).toEqual([idOf(made)])
  })

  test('finds none on a first key', async () => {
    const { good } = await checked(old.fingerprint, [old.certificate, made.certificate])
    expect(good).toEqual([idOf(old)])
  })

  test('finds it good when the old key signs with a subkey of its own', async () => {
    const { privateKey, publicKey } = await generateKey({
      type: 'ecc',
      curve: 'curve25519Legacy',
      userIDs: [{ name: 'imported' }],
      subkeys: [{ sign: true }, {}],
      date: new Date(MADE_MS),
      passphrase,
      format: 'armored',
    })
    const imported = await engine.unlock(privateKey, passphrase)
    const next = await engine.generate({
      userId: 'echo_bot',
      createdMs: LATER_MS,
      passphrase,
      certifiedBy: imported,
    })
    const { good, bad } = await checked(next.fingerprint, [publicKey, next.certificate])
    expect(good).toContain(idOf(imported))
    expect(bad).toEqual([])
  })

  test('finds it good when our clock went back between the two', async () => {
    const earlier = await engine.generate({
      userId: 'echo_bot',
      createdMs: MADE_MS - 60_000,
      passphrase,
      certifiedBy,
    })
    const { good } = await checked(earlier.fingerprint, [old.certificate, earlier.certificate])
    expect(good).toContain(idOf(old))
  })
})

test('it is as good to seal to as any, and opens what is sealed to it', async () => {
  expect(await engine.judge(made.certificate)).toMatchObject({
    unusable: null,
    fingerprint: made.fingerprint,
  })
  const reader = await engine.unlock(made.locked, passphrase)
  const certificates = [made.certificate]
  const sealed = { text: 'hello', certificates, signer: certifiedBy, cipher: 'aes256' } as const
  expect(await engine.open(await engine.seal(sealed), [reader])).toMatchObject({ text: 'hello' })
})
