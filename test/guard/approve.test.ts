/** Sends and edits that leave once a person has approved them by a signed reply. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { keyOf } from '../support/double-phones.ts'
import { canary, newPhone, useStage, type Person } from '../support/double-stage.ts'
import { BOT_TOKEN, type DoubleChat } from '../support/double-world.ts'
import { no, type Json } from '../support/double-wire.ts'

const [BOSS, MATE] = [815, 816]
let files = 0
const folder = mkdtempSync(join(tmpdir(), 'approve-'))
/** A settings file with these rules. */
function rules(...approve: object[]): { POSTERN_CONFIG: string } {
  const file = join(folder, `${++files}.yaml`)
  writeFileSync(file, JSON.stringify({ approve }))
  return { POSTERN_CONFIG: file }
}
const GROUP_ID = -77
const GROUPS = { chats: [GROUP_ID], by: [BOSS, MATE], within: '1h' }
const stage = useStage({ env: rules(GROUPS) })

let boss: Person
let mate: Person
let chat: DoubleChat
let office: DoubleChat
let mateOffice: DoubleChat

/** The latest request in a private chat, as its person reads it. */
async function requested(since: number, where = office, phone = boss.phone) {
  const find = () =>
    stage.double.world.written.filter(({ chatId, id }) => chatId === where.id && id > since).at(-1)
  await expect.poll(find).toBeDefined()
  const { id = 0, body } = find() ?? {}
  const { text } = await phone.open(body.armored, stage.botCertificate)
  return { id, text, code: /^ok (\S+)$/m.exec(text)?.[1] ?? '' }
}

/** A call that waits for a word, and the request for it. */
async function asked(o: { text?: string; more?: Record<string, unknown> } = {}) {
  const since = stage.double.world.id()
  const { text = canary(), more = {} } = o
  const { status, json } = await stage.send(chat, text, more)
  const { id, state } = json.result.postern.outbox
  expect([status, state]).toEqual([202, 'asked'])
  return { entry: String(id), words: text, ...(await requested(since)) }
}

/** A signed reply. @returns the Message that the bot gets */
async function reply(
  text: string,
  o: {
    quoting?: number
    by?: Person
    where?: DoubleChat
    armored?: Promise<string>
    more?: object
  },
): Promise<Json> {
  const { by = boss, where = office, quoting, more = {} } = o
  const armored = await (o.armored ?? by.phone.seal(text, [stage.botCertificate]))
  const replyTo = quoting === undefined ? null : { id: quoting }
  const message = stage.double.world.message(where, by, { armored, replyTo, ...more })
  return (await stage.deliver([message]))[0]
}

const shown = async (id: string): Promise<{ state: string; code: string | null }> => {
  const headers = { authorization: `Bearer ${BOT_TOKEN}` }
  const response = await fetch(`${stage.sidecar.url}/postern/v1/outbox/${id}`, { headers })
  const { result }: Json = await response.json()
  return result
}
const becomes = (id: string, state: string) =>
  expect.poll(async () => (await shown(id)).state).toBe(state)
/** What the bot has of a request, and of all that quotes or contains one. */
const CLOSED = { opened: false, verdict: 'not-recipient', reason: 'approval-request' }
/** How many calls into the chat have left. */
const left = () => stage.double.world.written.filter(({ chatId }) => chatId === chat.id).length
const journal = async (): Promise<Json[]> => {
  const { stdout } = await stage.sidecar.postern('trust', 'log', '--json')
  const lines = stdout
    .trim()
    .split('\n')
    .map((line): Json => JSON.parse(line))
  return lines.filter(({ kind }) => kind.startsWith('approval-'))
}

/** What the journal has as the reason. */
const whyNot = async (entry: string): Promise<string | undefined> =>
  (await journal()).findLast(
    ({ kind, detail }) => kind === 'approval-ignored' && detail.entry === entry,
  )?.detail.why

async function at(id: number): Promise<Person> {
  const phone = stage.use(await newPhone({ createdMs: Date.UTC(2026, 0, 1) }))
  return Object.assign(stage.double.world.addUser(keyOf(phone), id), { phone })
}
beforeAll(async () => {
  ;[boss, mate] = [await at(BOSS), await at(MATE)]
  chat = stage.group([await stage.friend()], { id: GROUP_ID })
  office = stage.privateChat(boss)
  mateOffice = stage.privateChat(mate)
  await reply('hi', {})
  await reply('hi', { by: mate, where: mateOffice })
})

test('a call that needs an approval leaves after the signed reply `ok`, and not before', async () => {
  const before = left()
  const { entry, words, id, text, code } = await asked({ more: { replyTo: 7 } })
  expect(text).toContain(`to: chat ${chat.id} (group)`)
  expect(text).toContain('by: the bot itself')
  expect(text).toContain('with: {"replyTo":7}')
  expect(text).toMatch(new RegExp(`to the end of this message:\n${words}$`))
  expect(left()).toBe(before)
  const got = await reply(` Ok ${code.toLowerCase()}\n`, { quoting: id })
  expect(got.postern).toEqual(CLOSED)
  await becomes(entry, 'sent')
  expect(left()).toBe(before + 1)
  stage.expectNowhere(words)
  const [asking, given] = (await journal()).slice(-2)
  expect(asking).toMatchObject({ kind: 'approval-asked', detail: { entry, by: [BOSS, MATE] } })
  expect(given).toMatchObject({ kind: 'approval-given', userId: BOSS })
  expect(given.detail).toEqual({
    entry,
    digest: asking.detail.digest,
    fingerprint: boss.phone.fingerprint,
  })
})

test('a call that the person refuses never leaves, and has the code `postern_approval_refused`', async () => {
  const before = left()
  const { entry, id, code } = await asked()
  await reply(`no ${code} because it is rude`, { quoting: id })
  await becomes(entry, 'refused')
  expect(await shown(entry)).toMatchObject({ code: 'postern_approval_refused' })
  const [last] = (await journal()).slice(-1)
  expect(last).toMatchObject({ kind: 'approval-refused', userId: BOSS, detail: { entry } })
  await reply(`ok ${code}`, { quoting: id })
  expect([await shown(entry), left()]).toMatchObject([{ state: 'refused' }, before])
  expect(JSON.stringify(await journal())).not.toContain('rude')
})

describe('a reply that does not count', () => {
  const sealed = (code: string, by: Person, how: 'seal' | 'sealUnsigned' = 'seal') =>
    by.phone[how](`ok ${code}`, [stage.botCertificate])

  test.each<[string, (request: { id: number; code: string }) => Promise<unknown>, string]>([
    [
      'of another person with the same code',
      ({ id, code }) => reply(`ok ${code}`, { quoting: id, by: mate, where: mateOffice }),
      'other-quotation',
    ],
    ['without a quotation', ({ code }) => reply(`ok ${code}`, {}), 'other-quotation'],
    [
      'without a signature',
      ({ id, code }) => reply('', { quoting: id, armored: sealed(code, boss, 'sealUnsigned') }),
      'not-verified',
    ],
    [
      'signed by another person in the approver’s name',
      ({ id, code }) => reply('', { quoting: id, armored: sealed(code, mate) }),
      'not-verified',
    ],
  ])('an approval reply %s is ignored', async (_what, answer, why) => {
    const before = left()
    const request = await asked()
    await answer(request)
    await expect.poll(() => whyNot(request.entry)).toBe(why)
    expect([await shown(request.entry), left()]).toMatchObject([{ state: 'asked' }, before])
    await reply(`no ${request.code}`, { quoting: request.id })
    await becomes(request.entry, 'refused')
  })

  test('an approval reply that is delivered again with another quotation is replayed', async () => {
    const [one, two] = [await asked(), await asked()]
    const armored = boss.phone.seal(`ok ${two.code}`, [stage.botCertificate])
    await reply('', { quoting: one.id, armored })
    await reply('', { quoting: two.id, armored })
    expect(await whyNot(two.entry)).toBe('not-verified')
    for (const { entry, code, id } of [one, two]) {
      expect((await shown(entry)).state).toBe('asked')
      await reply(`no ${code}`, { quoting: id })
    }
  })
})

test('a quoted request is closed to the bot in every update, and the bot cannot write its code', async () => {
  const { entry, words, id, text, code } = await asked()
  const { body } = stage.double.world.written.find((one) => one.id === id) ?? { body: {} }
  const request = stage.double.world.message(office, boss, { id, armored: body.armored })
  const sealed = (inner: string) => boss.phone.seal(inner, [stage.botCertificate])
  const quoting = async (inner: string, replyTo: unknown) =>
    stage.double.world.message(office, boss, { armored: await sealed(inner), replyTo })
  const from = { ...request.from, id: stage.double.world.bot.id }
  for (const kind of ['message', 'message_edited', 'callback_query']) {
    const all = [
      await quoting('Why?', request),
      await quoting('Why?', { ...request, from }),
      await quoting('Why?', { id }),
      await quoting('Why?', { x: [await quoting('Why?', request)] }),
      await quoting(text, null),
      await quoting(`Why? It is ${code.toLowerCase()}`, null),
    ].map((message) =>
      kind === 'message' || kind === 'message_edited'
        ? { kind, message }
        : { kind, callback_query: { id: 'p', from: boss, message } },
    )
    const given = JSON.stringify(await stage.deliverUpdates(all))
    for (const secret of [code, words, 'Why?']) expect(given).not.toContain(secret)
  }
  const look = [...code.toLowerCase()].join('\u200b ').replace('a', 'а')
  const answers = [
    await stage.send(office, `Please write ok ${look}`),
    await stage.send(chat, 'x', {
      markup: { inlineKeyboard: [[{ text: code, callbackData: 'x' }]] },
    }),
    await stage.edit(office, 5, { text: [...code].reverse().join('') }),
    await stage.sidecar.call('POST', '/callbacks/p/answer', { text: code }),
    await stage.sidecar.call('PUT', '/commands', { commands: [{ name: 'x', description: code }] }),
  ]
  expect(answers.map(({ json }) => json.error.code)).toEqual(
    answers.map(() => 'postern_code_refused'),
  )
  await reply(`no ${code}`, { quoting: id })
  await becomes(entry, 'refused')
  expect((await reply('thanks', {})).text).toBe('thanks')
})

test('a request for an approval cannot be edited or deleted by the bot', async () => {
  const { entry, id, code } = await asked()
  const since = stage.double.mark()
  const edited = await stage.edit(office, id, { text: 'harmless' })
  const where = { chatId: office.id }
  const deleted = await stage.sidecar.call('DELETE', `/messages/${id}`, where)
  const without = await stage.sidecar.call('DELETE', `/messages/${id}?chatId=${office.id}`)
  const codes = [edited, deleted, without].map(({ json }) => json.error.code)
  expect(codes).toEqual(Array(3).fill('postern_request_fixed'))
  const headers = { prefer: 'respond-async' }
  const later = await stage.sidecar.call(
    'PATCH',
    `/messages/${id}`,
    { ...where, text: 'x' },
    { headers },
  )
  await becomes(later.json.result.postern.outbox.id, 'refused')
  expect(stage.double.calls(undefined, `/messages/${id}`, since)).toEqual([])
  await reply(`no ${code}`, { quoting: id })
  await becomes(entry, 'refused')
})

test('an edit needs an approval, an approved call keeps its time, and the operator can drop or refuse it', async () => {
  const before = left()
  const since = stage.double.world.id()
  const edit = await stage.edit(chat, 77, { text: 'better' })
  const edited = edit.json.result.postern.outbox.id
  const request = await requested(since)
  expect(request.text).toContain('what: message 77, changed')
  await stage.sidecar.postern('approve', 'refuse', edited)
  await becomes(edited, 'refused')
  await reply(`ok ${request.code}`, { quoting: request.id })
  const dropped = await asked()
  await stage.sidecar.postern('outbox', 'drop', dropped.entry)
  await reply(`ok ${dropped.code}`, { quoting: dropped.id })
  const deliverAt = Date.now() + 3000
  const late = await asked({ more: { deliverAt } })
  expect(late.text).toContain(`when: at ${new Date(deliverAt).toISOString()} or later`)
  await reply(`ok ${late.code}`, { quoting: late.id })
  await becomes(late.entry, 'sent')
  expect([left(), Date.now() >= deliverAt]).toEqual([before + 1, true])
})

describe('after the approval', () => {
  /** The service takes nothing for the chat, so that a call waits although it may leave. */
  const away = () =>
    stage.double.script('POST', '/messages', ({ json }) =>
      json.chatId === chat.id ? no(503, 'internal') : undefined,
    )
  async function approved() {
    const request = await asked()
    await reply(`ok ${request.code}`, { quoting: request.id })
    await becomes(request.entry, 'waiting')
    return request.entry
  }
  async function refusedWith(entry: string, code: string): Promise<void> {
    await becomes(entry, 'refused')
    expect(await shown(entry)).toMatchObject({ code })
  }

  test('an approved call is refused once the rules name another approver, and `outbox retry` requests anew', async () => {
    const gone = away()
    const entry = await approved()
    await stage.restart(rules({ ...GROUPS, by: [MATE] }))
    await stage.sidecar.whenReady()
    await refusedWith(entry, 'postern_approver_changed')
    gone[Symbol.dispose]()
    const since = stage.double.world.id()
    const { stderr } = await stage.sidecar.postern('outbox', 'retry', entry)
    expect(stderr).toContain('asked anew')
    const again = await requested(since, mateOffice, mate.phone)
    expect((await shown(entry)).state).toBe('asked')
    await reply(`ok ${again.code}`, { quoting: again.id, by: mate, where: mateOffice })
    await becomes(entry, 'sent')
    await stage.restart(rules(GROUPS))
    await stage.sidecar.whenReady()
  })
})

test('a kill between a request for an approval and its record sends no second request', async () => {
  const since = stage.double.world.id()
  let entry = ''
  {
    using _lost = stage.double.script('POST', '/messages', no(503, 'internal'), 1)
    const { json } = await stage.send(chat, canary())
    entry = json.result.postern.outbox.id
    await expect
      .poll(() => stage.double.calls('POST', '/messages').at(-1)?.json.chatId)
      .toBe(office.id)
    await stage.sidecar.kill()
  }
  await stage.restart()
  await stage.sidecar.whenReady()
  const { id, code } = await requested(since)
  await reply(`ok ${code}`, { quoting: id })
  await becomes(entry, 'sent')
  const ids = stage.double
    .calls('POST', '/messages')
    .map(({ json }) => json)
    .filter(({ chatId }) => chatId === office.id)
    .slice(-2)
  expect(ids[0].sendId).toBe(ids[1].sendId)
})
