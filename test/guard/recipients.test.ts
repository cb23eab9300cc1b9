import { expect, test } from 'vitest'
import { GpgPhone, type GpgOptions } from '../support/double-phones.ts'
import { expectRefused, expectSealed, shownChat } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import { BOT_ID, type ListedPerson } from '../support/double-world.ts'
import { ok } from '../support/double-wire.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../support/openpgp-certificate.ts'
import { ecdhBody, ecdsa, identify } from '../support/openpgp-key.ts'
import { MADE_MS } from '../support/openpgp-people.ts'

const stage = useStage()

/** Somebody whose listed key cannot be used. */
function listed(certificate: string, fingerprint = 'ab'.repeat(20)): ListedPerson {
  return stage.double.world.addUser({ certificate, fingerprint })
}

const block = (inside: string) =>
  `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${inside}\n-----END PGP PUBLIC KEY BLOCK-----\n`

/** A certificate whose encryption key is no point of its curve. */
function offCurve(): ListedPerson {
  const oid = '082a8648ce3d030107'
  const primary = ecdsa('P-256', oid, MADE_MS)
  const body = ecdhBody('P-256', oid, MADE_MS)
  const last = body.length - 5
  body[last] = (body[last] ?? 0) ^ 1
  const parts = [userId(primary, 'bent'), boundSubkey(primary, identify(body, MADE_MS))]
  return listed(armoredCertificate(keyPacket(primary), ...parts), primary.fingerprint)
}

async function unusable(): Promise<[reason: string, person: ListedPerson][]> {
  const make = async (options?: GpgOptions) => stage.use(await GpgPhone.make(options))
  const expired = await make({ clockMs: Date.UTC(2025, 0, 1), parameters: EXPIRING })
  const signing = await make({ parameters: SIGNING })
  const weak = await make({ parameters: WEAK })
  const revoked = await make()
  await revoked.revoke()
  const secret = await make()
  const exported = (await secret.gpg(['--armor', '--export-secret-keys'])).stdout.toString()
  const of = ({ certificate, fingerprint }: GpgPhone) => listed(certificate, fingerprint)
  return [
    ['expired', of(expired)],
    ['no-encryption-subkey', of(signing)],
    ['weak-algorithm', of(weak)],
    ['revoked', of(revoked)],
    ['unparseable', listed(block('AAAA'))],
    ['unparseable', listed('no key at all')],
    ['weak-algorithm', offCurve()],
    ['secret-key', listed(exported.replaceAll('PRIVATE', 'PUBLIC'), secret.fingerprint)],
    ['unparseable', listed(secret.certificate + revoked.certificate)],
    ['fingerprint-mismatch', listed((await make()).certificate, 'cd'.repeat(20))],
  ]
}
const EXPIRING = [
  'Key-Type: eddsa',
  'Key-Curve: ed25519',
  'Subkey-Type: ecdh',
  'Subkey-Curve: cv25519',
  'Expire-Date: 30',
]
const SIGNING = ['Key-Type: eddsa', 'Key-Curve: ed25519', 'Expire-Date: 0']
const WEAK = ['Key-Type: rsa', 'Key-Length: 1024', 'Subkey-Type: rsa', 'Subkey-Length: 1024']

test('a person with an unusable certificate is skipped in a group, named in answer and log, and refused alone', async () => {
  const friend = await stage.person()
  for (const [reason, person] of await unusable()) {
    const group = stage.group([friend, person])
    await expectSealed(stage, group, [friend], [{ userId: person.id, reason }])
    const named = `"userId":${person.id},"reason":"${reason}"`
    expect(stage.sidecar.logs().includes(named), `the log names ${named}`).toBe(true)

    const alone = await shownChat(stage, person)
    const message = await expectRefused(stage, alone, 'postern_recipient_unusable')
    expect(message).toContain(`${person.id} (${reason})`)
  }
})

test('a contradictory key list, and one without a key, is refused', async () => {
  const [a, b] = [await stage.person(), await stage.person()]
  const twice = { id: a.id, key: b.key }
  const inconsistent = 'postern_recipients_inconsistent'
  expect(await expectRefused(stage, stage.group([a, twice]), inconsistent)).toContain(`${a.id}`)
  await expectRefused(stage, stage.group([a, { id: BOT_ID, key: b.key }]), inconsistent)
  await expectRefused(stage, stage.group([]), 'postern_no_recipient')
  const group = stage.group([a])
  const { certificate: publicKey, fingerprint } = a.phone
  const [key, other] = [{ userId: a.id, fingerprint, publicKey }, { user: { id: b.id } }]
  for (const list of [{ keys: [key], memberCount: 1 }, { keys: [{ ...key, ...other }] }]) {
    using _lie = stage.double.script('GET', `/chats/${group.id}/keys`, ok(list))
    await expectRefused(stage, group, inconsistent)
  }
})

test.each<[string, Record<string, unknown>, string, number]>([
  ['whose record has `blocked`', { blocked: true }, 'blocked_by_user', 403],
  ['whose person has `closed`', { user: { id: 3, closed: true } }, 'user_gone', 403],
  ['without a further field', {}, 'postern_no_recipient', 409],
])('a private chat without a key %s is refused with a code', async (_, extra, code, status) => {
  const chat = stage.privateChat(stage.double.world.addUser(null), { extra })
  await stage.show(chat)
  await expectRefused(stage, chat, code, status)
})

test('key records are read under any field names', async () => {
  const [a, b] = [await stage.person(), await stage.person()]
  const chat = stage.group([a, b])
  const { certificate: key, fingerprint } = b.phone
  const keys = [
    { id: a.id, pgp: { armor: a.phone.certificate } },
    { user: { id: b.id }, fingerprint: fingerprint.toUpperCase(), key },
  ]
  using _names = stage.double.script('GET', `/chats/${chat.id}/keys`, ok({ keys, memberCount: 9 }))
  await expectSealed(stage, chat, [a, b])
})
