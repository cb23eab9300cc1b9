/** Every trust alarm is provoked by a lying service, and ended as its line of the runbook says. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { connectControl, type RunningSidecar } from '../../src/operators/client.ts'
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
  env: { POSTERN_CONFIG: config, POSTERN_ALERT_URL: url, POSTERN_CACHE_KEY_LIST_SECONDS: '0' },
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

/** A command of the operator, over the control socket. */
async function operate<T>(run: (control: RunningSidecar) => Promise<T>): Promise<T> {
  await using control = await connectControl(stage.sidecar.dataDir)
  if (control === null) throw new Error('no sidecar runs')
  return await run(control)
}
const verify = ({ id: userId, phone: { fingerprint } }: Person) =>
  operate((control) => control.trustVerify({ userId, fingerprint }))
const accept = ({ id: userId }: Person) => operate((control) => control.trustAccept({ userId }))
const policy = (name: 'accept' | 'first-use' | 'pinned', chatId: number | null = null) =>
  operate((control) => control.trustPolicy({ chatId, policy: name }))
/** What `trust log` prints. */
const trustLog = async () => (await stage.sidecar.postern('trust', 'log')).stdout

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

test('`postern_trust_alarms_total` has a zero for each alarm from the start', async () => {
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  const shown = [...metrics.matchAll(/^postern_trust_alarms_total\{alarm="([\w-]+)"\} 0$/gm)]
  expect(shown.map(([, alarm]) => alarm)).toEqual(TRUST_ALARM_CODES)
})

test('`verified-changed` ends with `trust verify`, and the person receives messages again', async () => {
  const { person, chat } = await known()
  await verify(person)
  await swap(person)
  expect(await sent(chat)).toBe('postern_trust_required')
  await expectAlarm('verified-changed', { userId: person.id })
  await verify(person)
  expect(await sent(chat)).toBe(201)
})

test('`pinned-changed` under the policy of a chat or of the bot ends with `trust accept`', async () => {
  const { person, chat } = await known()
  await policy('pinned', chat.id)
  await accept(person)
  expect(await sent(chat)).toBe(201)
  await swap(person)
  expect(await sent(chat)).toBe('postern_trust_required')
  await expectAlarm('pinned-changed', { userId: person.id, chatId: chat.id })
  await accept(person)
  expect(await sent(chat)).toBe(201)

  const other = await known()
  await policy('pinned')
  await accept(other.person)
  await swap(other.person)
  expect(await sent(other.chat)).toBe('postern_trust_required')
  await expectAlarm('pinned-changed', { userId: other.person.id })
  await policy('accept')
})

test('`first-use-changed` ends with `trust accept`', async () => {
  const { person, chat } = await known()
  await policy('first-use')
  await swap(person)
  expect(await sent(chat)).toBe('postern_trust_required')
  await expectAlarm('first-use-changed', { userId: person.id })
  await accept(person)
  expect(await sent(chat)).toBe(201)
  await policy('accept')
})

test('`certification-revoked` ends with `trust verify`', async () => {
  const { person, chat } = await known()
  const made = await authority.certify(person.phone.certificate)
  Object.assign(person, { key: { ...person.key, certificate: await authority.revoke(made) } })
  expect(await sent(chat)).toBe(201)
  await expectAlarm('certification-revoked', { userId: person.id })
  await verify(person)
  expect(await sent(chat)).toBe(201)
})

test('a changed certificate of an unverified person raises no alarm under the policy `accept`', async () => {
  const { person, chat } = await known()
  await swap(person)
  expect(await sent(chat)).toBe(201)
  const { person: verified, chat: theirs } = await known()
  await verify(verified)
  await swap(verified)
  expect(await sent(theirs)).toBe('postern_trust_required')
  await expectAlarm('verified-changed', { userId: verified.id })
  expect(posted.filter(({ userId }) => userId === person.id)).toEqual([])
})

test('`shared-certificate` ends with `trust accept` of the owner, and the other person is skipped', async () => {
  const { person } = await known()
  const thief = stage.double.world.addUser(person.key)
  const chat = stage.group([person, thief])
  expect(await sent(chat)).toBe(201)
  const [userId] = [person.id, thief.id].sort((a, b) => a - b)
  await expectAlarm('shared-certificate', { userId })
  await accept(person)
  const { json } = await stage.send(chat, canary())
  expect(json.result.postern.skipped).toEqual([{ userId: thief.id, reason: 'other-person' }])
})

test('`own-key-listed` ends with a key of the person’s own', async () => {
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

test('`list-contradicts` ends with an honest key list', async () => {
  const { person } = await known()
  const chat = stage.group([person])
  const listed = { userId: person.id, publicKey: person.phone.certificate }
  const lie = ok({ keys: [listed], memberCount: 1 })
  using scripted = stage.double.script('GET', `/chats/${chat.id}/keys`, lie)
  expect(await sent(chat)).toBe('postern_recipients_inconsistent')
  await expectAlarm('list-contradicts', { chatId: chat.id })
  expect(await trustLog()).toContain('keys: 1, members with the bot: 1')
  scripted[Symbol.dispose]()
  expect(await sent(chat)).toBe(201)
})

test('`list-shrank` is in `trust log` with the removed people', async () => {
  const people = [(await known()).person, (await known()).person, (await known()).person]
  const chat = stage.group(people)
  expect(await sent(chat)).toBe(201)
  chat.people = people.slice(0, 1)
  expect(await sent(chat)).toBe(201)
  await expectAlarm('list-shrank', { chatId: chat.id })
  const gone = people.slice(1).map(({ id }) => id)
  expect(await trustLog()).toContain(`removed ${gone.join(', ')}`)
})

test('`kind-tightened` ends with `chat correct-kind`, and the group receives messages again', async () => {
  const { person } = await known()
  const chat = stage.group([person, (await known()).person])
  expect(await sent(chat)).toBe(201)
  const lie = stage.double.world.message(chat, person, { text: 'any' })
  await stage.deliver([{ ...lie, chat: { ...lie.chat, kind: 'private' } }])
  await expectAlarm('kind-tightened', { chatId: chat.id })
  expect(await sent(chat)).toBe('postern_recipients_inconsistent')
  await operate((control) => control.chatCorrectKind({ chatId: chat.id, kind: 'group' }))
  expect(await sent(chat)).toBe(201)
  const log = await trustLog()
  expect(log).toMatch(/kind-tightened.*from group; to private/)
  expect(log).toMatch(/kind-corrected.*from private; to group/)
})

test('`stranger` on the key list or as a sender ends with `chat bind` of the right person', async () => {
  const { person, chat } = await known()
  const other = await stage.person()
  chat.people = [other]
  expect(await sent(chat)).toBe('postern_recipients_inconsistent')
  await expectAlarm('stranger', { userId: other.id, chatId: chat.id })
  await operate((control) => control.chatBind({ chatId: chat.id, userId: other.id }))
  expect(await sent(chat)).toBe(201)

  const words = await person.phone.seal(canary(), [stage.botCertificate])
  const message = stage.double.world.message(chat, person, { armored: words })
  const [got] = await stage.deliver([message])
  expect(got.postern).toMatchObject({ verdict: 'bad-signature', reason: 'other-person' })
  await expectAlarm('stranger', { userId: person.id, chatId: chat.id })
})

test('every code of `TRUST_ALARM_CODES` has a test with a whole sidecar', () => {
  expect([...provoked].toSorted()).toEqual(TRUST_ALARM_CODES.toSorted())
})

test('each change of trust is counted by kind, and logged', async () => {
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^postern_trust_changes_total\{kind="kind-corrected"\} 1$/m)
  expect(stage.sidecar.logs()).toContain('"change":"kind-corrected"')
})
