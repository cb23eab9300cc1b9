import { expect, test } from 'vitest'
import { GpgPhone, keyOf, type GpgOptions } from '../support/double-phones.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import type { DoubleChat, ListedPerson } from '../support/double-world.ts'
import { no, ok } from '../support/double-wire.ts'
import {
  armoredCertificate,
  boundSubkey,
  keyPacket,
  userId,
} from '../support/openpgp-certificate.ts'
import { ecdhBody, ecdsa, identify } from '../support/openpgp-key.ts'
import { MADE_MS } from '../support/openpgp-people.ts'

const stage = useStage({ inside: true })

/** A send that must not leave. */
async function refused(chat: DoubleChat, code: string, status = 409): Promise<string> {
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words)
  expect([sent.status, sent.json.error.code]).toEqual([status, code])
  expect(stage.bodies(since)).toEqual([])
  stage.expectNowhere(words)
  return sent.json.error.message
}

/** A send that leaves for these people, with the others skipped for a reason. */
async function reaches(chat: DoubleChat, people: Person[], skipped: unknown[]): Promise<void> {
  const words = canary()
  const since = stage.double.mark()
  const sent = await stage.send(chat, words)
  expect(sent.status, sent.text).toBe(201)
  expect(sent.json.result.postern).toEqual({ sealed: true, recipients: people.length, skipped })
  const [body] = stage.bodies(since)
  for (const { phone } of people) {
    expect((await phone.open(body.armored, stage.botCertificate)).text).toBe(words)
  }
}

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
  const expired = await make({ clock: '20250101T000000', parameters: EXPIRING })
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
  ]
}
const EXPIRING = ['Key-Type: rsa', 'Key-Length: 2048', 'Subkey-Type: rsa', 'Expire-Date: 30']
const SIGNING = ['Key-Type: eddsa', 'Key-Curve: ed25519', 'Expire-Date: 0']
const WEAK = ['Key-Type: rsa', 'Key-Length: 1024', 'Subkey-Type: rsa', 'Subkey-Length: 1024']

test('an unusable certificate costs its person the message, is named in answer and log, and alone is refused', async () => {
  const friend = await stage.person()
  for (const [reason, person] of await unusable()) {
    const group = stage.group([friend, person])
    await reaches(group, [friend], [{ userId: person.id, reason }])
    const named = `"userId":${person.id},"reason":"${reason}"`
    expect(stage.sidecar.logs().includes(named), `the log names ${named}`).toBe(true)

    const alone = stage.privateChat(person)
    await stage.show(alone)
    const message = await refused(alone, 'postern_recipient_unusable')
    expect(message).toContain(`${person.id} (${reason})`)
  }
})

test('a certificate under a fingerprint that is not its own is unusable', async () => {
  const friend = await stage.person()
  const other = await stage.person()
  const person = listed(other.phone.certificate, 'cd'.repeat(20))
  await reaches(
    stage.group([friend, person]),
    [friend],
    [{ userId: person.id, reason: 'fingerprint-mismatch' }],
  )
})

test('a list with two keys for one person is refused', async () => {
  const [a, b] = [await stage.person(), await stage.person()]
  const twice = { id: a.id, key: b.key }
  const message = await refused(stage.group([a, twice]), 'postern_recipients_inconsistent')
  expect(message).toContain(String(a.id))
})

test('a list with one key for two people serves both with one packet, also one listed later', async () => {
  const [a, b] = [await stage.person(), await stage.person()]
  const thief = stage.double.world.addUser(a.key)
  await reaches(stage.group([a, thief]), [a], [])

  const known = stage.group([b])
  await reaches(known, [b], [])
  const later = stage.double.world.addUser(b.key)
  await reaches(stage.group([later]), [b], [])
  await reaches(stage.group([later, b]), [b], [])
})

test('a list that names the bot by its id is refused; who lists the bot’s key alone is left out', async () => {
  const friend = await stage.person()
  const key = (await stage.person()).key
  const bot = stage.double.world.published
  const ours = { certificate: bot?.publicKey ?? '', fingerprint: bot?.fingerprint ?? '' }
  await refused(stage.group([friend, { id: 900, key }]), 'postern_recipients_inconsistent')
  const squatter = { userId: 901, reason: 'own-key' }
  await reaches(stage.group([friend, { id: 901, key: ours }]), [friend], [squatter])
})

test('a private chat with more than the one person is refused', async () => {
  const [a, b] = [await stage.person(), await stage.person()]
  const chat = stage.privateChat(a, { people: [a, b] })
  await stage.show(chat)
  await refused(chat, 'postern_recipients_inconsistent')
})

test('a group without a key is refused rather than sealed to the bot alone', async () => {
  await refused(stage.group([]), 'postern_no_recipient')
})

const absent: [string, Record<string, unknown>, string, number][] = [
  ['that says that the bot was blocked', { blocked: true }, 'blocked_by_user', 403],
  ['whose person closed the account', { user: { id: 3, closed: true } }, 'user_gone', 403],
  ['that says nothing more', {}, 'postern_no_recipient', 409],
]
for (const [name, extra, code, status] of absent) {
  test(`a private chat without a key, ${name}, answers ${code}`, async () => {
    const chat = stage.privateChat(stage.double.world.addUser(null), { extra })
    await stage.show(chat)
    await refused(chat, code, status)
  })
}

test('a revocation sticks, although the service lists the certificate without it again', async () => {
  const person = await stage.person()
  const before = person.phone.certificate
  await person.phone.revoke()
  const revoked = stage.double.world.addUser(keyOf(person.phone), person.id)
  await refused(stage.group([revoked]), 'postern_recipient_unusable')
  await stage.restart()
  const stripped = listed(before, person.phone.fingerprint)
  stripped.id = person.id
  const message = await refused(stage.group([stripped]), 'postern_recipient_unusable')
  expect(message).toContain('revoked')
})

test('key records are read whatever their fields are called', async () => {
  const [a, b] = [await stage.person(), await stage.person()]
  const chat = stage.group([a, b])
  const keys = [
    { id: a.id, pgp: { armor: a.phone.certificate } },
    {
      user: { id: b.id },
      fingerprint: b.phone.fingerprint.toUpperCase(),
      key: b.phone.certificate,
    },
  ]
  using _names = stage.double.script('GET', `/chats/${chat.id}/keys`, ok({ keys, memberCount: 9 }))
  await reaches(chat, [a, b], [])
})

test('a list that is no list is refused', async () => {
  const chat = stage.group([await stage.person()])
  using _lie = stage.double.script('GET', `/chats/${chat.id}/keys`, ok({ keys: 'none' }))
  await refused(chat, 'postern_upstream_invalid', 502)
  using _none = stage.double.script('GET', `/chats/${chat.id}/keys`, no(403, 'forbidden'))
  await refused(chat, 'forbidden', 403)
})
