/** A key that is certified by the previous key. */
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

/** Locked by a short hash, which is enough for a random passphrase. */
const generate = (createdMs: number, by?: UnlockedKey): Promise<OwnKey> => {
  const options = { userId: 'echo_bot', createdMs, passphrase, isRandom: true }
  return engine.generate({ ...options, certifiedBy: by })
}

beforeAll(async () => {
  old = await generate(MADE_MS)
  certifiedBy = await engine.unlock(old.locked, passphrase)
  made = await generate(LATER_MS, certifiedBy)
})
afterAll(() => engine[Symbol.asyncDispose]())

interface Checked {
  /** Key ids of good certifications of the first user id, by whom they are from. */
  good: string[]
  bad: string[]
}

/** Certifications on a certificate as gpg finds them, with others in its keyring. */
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
  test('gpg finds the certification of a rotated key by the previous key alone good', async () => {
    const other = await generate(MADE_MS)
    const all = [old, other, made].map(({ certificate }) => certificate)
    const { good, bad } = await checked(made.fingerprint, all)
    expect(good.toSorted()).toEqual([idOf(made), idOf(old)].toSorted())
    expect(bad).toEqual([])
  })

  test('gpg finds the certification by a previous key with a signing subkey good', async () => {
    const { privateKey, publicKey } = await generateKey({
      type: 'ecc',
      curve: 'curve25519Legacy',
      userIDs: [{ name: 'imported' }],
      subkeys: [{ sign: true }, {}],
      date: new Date(MADE_MS),
      passphrase,
      config: { s2kIterationCountByte: 0 },
      format: 'armored',
    })
    const imported = await engine.unlock(privateKey, passphrase)
    const next = await generate(LATER_MS, imported)
    const { good, bad } = await checked(next.fingerprint, [publicKey, next.certificate])
    expect(good).toContain(idOf(imported))
    expect(bad).toEqual([])
  })

  test('gpg finds the certification of a key that is dated before its certifier good', async () => {
    const earlier = await generate(MADE_MS - 60_000, certifiedBy)
    const { good } = await checked(earlier.fingerprint, [old.certificate, earlier.certificate])
    expect(good).toContain(idOf(old))
  })
})
