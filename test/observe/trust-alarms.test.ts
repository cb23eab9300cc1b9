/** Every alarm on trust is provoked by a service that lies, and its line of the runbook is gone through. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { TRUST_ALARM_CODES, type TrustAlarm } from '../../src/observe/trust-alarms.ts'
import { startAlertReceiver } from '../support/alert-receiver.ts'
import { GpgPhone, keyOf } from '../support/double-phones.ts'
import { canary, useStage, type Person } from '../support/double-stage.ts'
import { GpgAuthority } from '../support/openpgp-authority.ts'
import { ok, type Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const { url, posted } = await startAlertReceiver()
const folder = mkdtempSync(join(tmpdir(), 'al-'))
const authority = await GpgAuthority.make()
afterAll(async () => {
  await authority[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
const file = join(folder, 'ca.asc')
writeFileSync(file, authority.certificate)
const config = join(folder, 'postern.yaml')
const entry = `{name: corp, file: ${file}, userIds: '{userId}@bots.example'}`
writeFileSync(config, `trust:\n  authorities:\n    - ${entry}\n`, { mode: 0o600 })
const stage = useStage({
  env: {
    POSTERN_CONFIG: config,
    POSTERN_ALERT_URL: url,
    POSTERN_CACHE_KEY_LIST_SECONDS: '0',
  },
})

const provoked = new Set<TrustAlarm>()

/** Waits until an alarm has reached the operator. */
async function expectAlarm(alert: TrustAlarm, about: object): Promise<void> {
  const alerts = (): Json[] => posted.filter((one) => one.alert === alert)
  await expect.poll(alerts).toContainEqual(expect.objectContaining({ holds: true, ...about }))
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(
    new RegExp(`^postern_trust_alarms_total\\{alarm="${alert}"\\} [1-9]`, 'm'),
  )
  provoked.add(alert)
}

async function postern(...args: (string | number)[]): Promise<string> {
  const { code, stderr, stdout } = await stage.sidecar.postern(...args.map(String))
  expect(code, stderr).toBe(0)
  return stdout + stderr
}

const sent = async (chat: DoubleChat): Promise<string | number> => {
  const { status, json } = await stage.send(chat, canary())
  return status === 201 ? status : json.error.code
}

async function known(): Promise<{ person: Person; chat: DoubleChat }> {
  const person = await stage.person()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  expect(await sent(chat)).toBe(201)
  return { person, chat }
}

async function swap(person: Person): Promise<void> {
  const phone = stage.use(await GpgPhone.make())
  Object.assign(person, { phone, key: keyOf(phone) })
}

test('each alarm counts from 0, so that its first is seen as an increase', async () => {
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  const shown = [...metrics.matchAll(/^postern_trust_alarms_total\{alarm="([\w-]+)"\} 0$/gm)]
  expect(shown.map(([, alarm]) => alarm)).toEqual(TRUST_ALARM_CODES)
})

test('verified-changed: the person is verified anew, and gets messages again', async () => {
  const { person, chat } = await known()
  await postern('trust', 'verify', person.id, person.phone.fingerprint)
  await swap(person)
  expect(await sent(chat)).toBe('postern_trust_required')
  await expectAlarm('verified-changed', { userId: person.id })
  await postern('trust', 'verify', person.id, person.phone.fingerprint)
  expect(await sent(chat)).toBe(201)
})

test('pinned-changed, in a chat that is pinned and in a bot that is: the person is accepted', async () => {
  const { person, chat } = await known()
  await postern('trust', 'policy', 'pinned', '--chat', chat.id)
  await postern('trust', 'accept', person.id)
  expect(await sent(chat)).toBe(201)
  await swap(person)
  expect(await sent(chat)).toBe('postern_trust_required')
  await expectAlarm('pinned-changed', { userId: person.id, chatId: chat.id })
  await postern('trust', 'accept', person.id)
  expect(await sent(chat)).toBe(201)

  const other = await known()
  await postern('trust', 'policy', 'pinned')
  await postern('trust', 'accept', other.person.id)
  await swap(other.person)
  expect(await sent(other.chat)).toBe('postern_trust_required')
  await expectAlarm('pinned-changed', { userId: other.person.id })
  await postern('trust', 'policy', 'accept')
})

test('first-use-changed: the person is accepted', async () => {
  const { person, chat } = await known()
  await postern('trust', 'policy', 'first-use')
  await swap(person)
  expect(await sent(chat)).toBe('postern_trust_required')
  await expectAlarm('first-use-changed', { userId: person.id })
  await postern('trust', 'accept', person.id)
  expect(await sent(chat)).toBe(201)
  await postern('trust', 'policy', 'accept')
})

test('certification-revoked: the person is verified', async () => {
  const { person, chat } = await known()
  const made = await authority.certify(person.phone.certificate)
  Object.assign(person, { key: { ...person.key, certificate: await authority.revoke(made) } })
  expect(await sent(chat)).toBe(201)
  await expectAlarm('certification-revoked', { userId: person.id })
  await postern('trust', 'verify', person.id, person.phone.fingerprint)
  expect(await sent(chat)).toBe(201)
})

test('a changed certificate of anybody else raises no alarm', async () => {
  const { person, chat } = await known()
  await swap(person)
  expect(await sent(chat)).toBe(201)
  const { person: verified, chat: theirs } = await known()
  await postern('trust', 'verify', verified.id, verified.phone.fingerprint)
  await swap(verified)
  expect(await sent(theirs)).toBe('postern_trust_required')
  await expectAlarm('verified-changed', { userId: verified.id })
  expect(posted.filter(({ userId }) => userId === person.id)).toEqual([])
})

test('shared-certificate: its owner is named, and the other gets nothing under it', async () => {
  const { person } = await known()
  const thief = stage.double.world.addUser(person.key)
  const chat = stage.group([person, thief])
  expect(await sent(chat)).toBe(201)
  const [userId] = [person.id, thief.id].sort((a, b) => a - b)
  await expectAlarm('shared-certificate', { userId })
  await postern('trust', 'accept', person.id)
  const { json } = await stage.send(chat, canary())
  expect(json.result.postern.skipped).toEqual([{ userId: thief.id, reason: 'other-person' }])
})

test('own-key-listed: with a key of their own, the person gets messages', async () => {
  const { person } = await known()
  const { fingerprint } = stage.double.world.bot
  const own = { certificate: stage.botCertificate, fingerprint: String(fingerprint) }
  const liar = stage.double.world.addUser(own)
  const chat = stage.group([person, liar])
  expect(await sent(chat)).toBe(201)
  await expectAlarm('own-key-listed', { userId: liar.id, chatId: chat.id })
  const alone = stage.group([liar])
  expect(await sent(alone)).toBe('postern_recipient_unusable')
  await expectAlarm('own-key-listed', { userId: liar.id, chatId: alone.id })
  const phone = stage.use(await GpgPhone.make())
  Object.assign(liar, { key: keyOf(phone) })
  expect((await stage.send(chat, canary())).json.result.postern.skipped).toEqual([])
})

test('list-contradicts: an honest list is sealed to again', async () => {
  const { person } = await known()
  const chat = stage.group([person])
  const listed = { userId: person.id, publicKey: person.phone.certificate }
  const lie = ok({ keys: [listed], memberCount: 1 })
  using scripted = stage.double.script('GET', `/chats/${chat.id}/keys`, lie)
  expect(await sent(chat)).toBe('postern_recipients_inconsistent')
  await expectAlarm('list-contradicts', { chatId: chat.id })
  expect(await postern('trust', 'log')).toContain('1 keys for 1 members')
  scripted[Symbol.dispose]()
  expect(await sent(chat)).toBe(201)
})

test('list-shrank: the log names who is not on the list any more', async () => {
  const people = [(await known()).person, (await known()).person, (await known()).person]
  const chat = stage.group(people)
  expect(await sent(chat)).toBe(201)
  chat.people = people.slice(0, 1)
  expect(await sent(chat)).toBe(201)
  await expectAlarm('list-shrank', { chatId: chat.id })
  const gone = people.slice(1).map(({ id }) => id)
  expect(await postern('trust', 'log')).toContain(`removed ${gone.join(', ')}`)
})

test('kind-tightened: the operator takes it back, and the group can be written to again', async () => {
  const { person } = await known()
  const chat = stage.group([person, (await known()).person])
  expect(await sent(chat)).toBe(201)
  const lie = stage.double.world.message(chat, person, { text: 'any' })
  await stage.deliver([{ ...lie, chat: { ...lie.chat, kind: 'private' } }])
  await expectAlarm('kind-tightened', { chatId: chat.id })
  expect(await sent(chat)).toBe('postern_recipients_inconsistent')
  await postern('chat', 'correct-kind', chat.id, '--to', 'group', '--yes')
  expect(await sent(chat)).toBe(201)
  const log = await postern('trust', 'log')
  expect(log).toMatch(/kind-tightened.*from group; to private/)
  expect(log).toMatch(/kind-corrected.*from private; to group/)
})

test('stranger, on the list and as a sender: where the wrong person was learned, the right one is bound', async () => {
  const { person, chat } = await known()
  const other = await stage.person()
  chat.people = [other]
  expect(await sent(chat)).toBe('postern_recipients_inconsistent')
  await expectAlarm('stranger', { userId: other.id, chatId: chat.id })
  await postern('chat', 'bind', chat.id, other.id)
  expect(await sent(chat)).toBe(201)

  const words = await person.phone.seal(canary(), [stage.botCertificate])
  const message = stage.double.world.message(chat, person, { armored: words })
  const [got] = await stage.deliver([message])
  expect(got.postern).toMatchObject({ verdict: 'bad-signature', reason: 'other-person' })
  await expectAlarm('stranger', { userId: person.id, chatId: chat.id })
})

test('every alarm that there is was provoked here', () => {
  expect([...provoked].toSorted()).toEqual(TRUST_ALARM_CODES.toSorted())
})
