/** People whom an authority certifies with gpg, before a service that omits, moves and repeats. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { changeSealed } from '../rotation/support.ts'
import { keyOf, type Phone } from '../support/double-phones.ts'
import { expectSealed, known, lines, swap } from '../support/double-sends.ts'
import type { Person } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { GpgAuthority } from '../support/openpgp-authority.ts'
import { isInstalled } from '../support/programs.ts'
import { expectWithheld, useTrustStage } from './trust-scene.ts'

const NOTATION = 'user-id@corp.example'
const HOUR_MS = 3_600_000
const folder = mkdtempSync(join(tmpdir(), 'au-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let written = 0

/** A settings file of its own, so that only a restart reads it. */
function settings(text: string): Record<string, string> {
  const file = join(folder, `${++written}.yaml`)
  writeFileSync(file, `trust:\n  policy: first-use\n  after: 48h\n  continuity: true\n${text}`, {
    mode: 0o600,
  })
  return { POSTERN_CONFIG: file, POSTERN_CACHE_KEY_LIST_SECONDS: '0' }
}

describe.skipIf(!isInstalled('gpg'))('a certification authority', async () => {
  const authority = await GpgAuthority.make()
  afterAll(() => authority[Symbol.asyncDispose]())
  const ca = join(folder, 'ca.asc')
  writeFileSync(ca, authority.certificate)
  const withAuthority = settings(
    `  authorities:\n    - {name: corp, file: ${ca}, notation: ${NOTATION}}\n    - {name: bots, file: ${ca}, userIds: '{userId}@bots.example'}\n`,
  )
  const without = settings('')
  const { stage, ask, waits, signed, bare, block, accept } = useTrustStage(withAuthority)

  const certify = (id: number, { certificate }: Phone): Promise<string> =>
    authority.certify(certificate, { notation: `!${NOTATION}=${id}` })
  const lists = (person: Person, certificate: string): void => {
    person.key = { ...keyOf(person.phone), certificate }
  }
  const journal = async ({ id }: Person): Promise<string[]> => {
    const log = await lines(stage, 'trust', 'log', '--json')
    return log.filter(({ userId }) => userId === id).map(({ kind }) => String(kind))
  }
  /** A person who had another certificate before, and now has one that is certified. */
  async function certifiedPerson(): Promise<{ person: Person; chat: DoubleChat; plain: string }> {
    const { person, chat } = await known(stage)
    await swap(stage, person)
    const plain = person.phone.certificate
    lists(person, await certify(person.id, person.phone))
    return { person, chat, plain }
  }

  test('a changed certificate that an authority certifies is sealed to at once, and listed as verified', async () => {
    const { person, chat } = await certifiedPerson()
    await expectSealed(stage, chat, [person])
    expect(await journal(person)).toEqual(['key-changed', 'authority-verified'])
    const { people } = await ask((operations) => operations.trustList())
    expect(people.find(({ userId }) => userId === person.id)).toMatchObject({
      standing: 'verified',
      fingerprint: person.phone.fingerprint,
      authority: 'corp',
    })
    expect(await signed(chat, person, 'signed')).toMatchObject({ text: 'signed' })
    expectWithheld(await bare(chat, person, 'unsigned'), 'bad-signature', 'stopped-signing')
  })

  test('a certification is remembered over a restart although the service omits it', async () => {
    const { person, chat, plain } = await certifiedPerson()
    await expectSealed(stage, chat, [person])
    lists(person, plain)
    await stage.restart()
    await expectSealed(stage, chat, [person])
  })

  test('a certificate that is certified for another person waits as a changed key', async () => {
    const { person, chat } = await known(stage)
    await swap(stage, person)
    lists(person, await certify(person.id + 1, person.phone))
    await waits(chat, person, 'key-changed')
  })

  test('a revoked certification stays revoked when the service lists the former certificate again', async () => {
    const { person, chat } = await certifiedPerson()
    await expectSealed(stage, chat, [person])
    const made = person.key!.certificate
    lists(person, await authority.revoke(made))
    await waits(chat, person, 'key-changed')
    expect(await journal(person)).toContain('certification-revoked')
    for (let restarts = 0; restarts < 2; restarts++) {
      lists(person, made)
      await waits(chat, person, 'key-changed')
      await stage.restart()
    }
    await accept(person)
    await expectSealed(stage, chat, [person])
  })

  test('a certification unblocks no blocked person, and does not count without its authority in the settings', async () => {
    const { person, chat } = await certifiedPerson()
    const other = await certifiedPerson()
    await expectSealed(stage, other.chat, [other.person])
    await block(person)
    await waits(chat, person, 'blocked')
    await stage.restart(without)
    await waits(other.chat, other.person, 'key-changed')
    await stage.restart(withAuthority)
    await expectSealed(stage, other.chat, [other.person])
  })

  test('a changed certificate is sealed to after `trust.after`, across a restart, and not before', async () => {
    const { person, chat } = await known(stage)
    await swap(stage, person)
    await waits(chat, person, 'key-changed')
    for (const [ms, isTaken] of [
      [47 * HOUR_MS, false],
      [48 * HOUR_MS, true],
    ] as const) {
      const listed_at = Date.now() - ms
      await stage.sidecar.stop()
      await changeSealed(stage.sidecar.dataDir, 'pins', { listed_at })
      await stage.restart()
      if (isTaken) await expectSealed(stage, chat, [person])
      else await waits(chat, person, 'key-changed')
    }
    expect(await journal(person)).toEqual(['key-changed', 'key-taken'])
  })

  test('an authority without a certificate file, or without a rule for user ids, is refused at the start', async () => {
    const { person, chat } = await known(stage)
    await expectSealed(stage, chat, [person])
    for (const [entry, problem] of [
      [`{name: corp, file: ${ca}}`, 'expected one of notation and userIds'],
      [`{name: corp, file: ${ca}, userIds: 'x@bots.example'}`, '{userId}'],
      [
        `{name: corp, file: ${join(folder, 'none.asc')}, notation: ${NOTATION}}`,
        'OpenPGP certificate',
      ],
    ]) {
      const env = settings(`  authorities:\n    - ${entry}\n`)
      await expect(stage.restart(env)).rejects.toThrow(problem)
    }
    await stage.restart(withAuthority)
  })
})
