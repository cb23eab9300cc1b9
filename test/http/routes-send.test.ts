import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { no, ok } from '../support/double-wire.ts'

const stage = useStage()
const KEYBOARD = { inlineKeyboard: [[{ text: 'Yes', callbackData: 'y' }]] }
const SEND_ID = '5e0dbb1e-3f0c-4a6a-9d0f-7a3f9b1c2d3e'

test('a send into a readable chat leaves as the bot wrote it, and its answer returns to the byte', async () => {
  const chat = stage.openGroup()
  const body = { text: 'hello', replyTo: 7, markup: KEYBOARD, silent: true, sendId: SEND_ID }
  using _headers = stage.double.script('POST', '/messages', () =>
    ok({ id: 9007199254740993n.toString(), date: 1 }, 201, {
      'x-request-id': 'abc',
      'set-cookie': 'no=1',
      'retry-after': '3',
    }),
  )
  const sent = await stage.send(chat, 'hello', body)
  const asked = stage.double.calls('POST', '/messages').at(-1)
  expect(asked?.json).toEqual({ chatId: chat.id, ...body })
  expect([sent.status, sent.text]).toEqual([201, asked?.answered?.body.toString()])
  expect(sent.headers).toMatchObject({ 'x-request-id': 'abc', 'retry-after': '3' })
  expect(sent.headers).not.toHaveProperty('set-cookie')
})

test('a send without a sendId has one added, and a repetition carries the same', async () => {
  const chat = stage.openGroup()
  await stage.send(chat, 'hello')
  stage.double.script('POST', '/messages', 'cut', 1)
  const since = stage.double.mark()
  expect((await stage.send(chat, 'hello')).status).toBe(201)
  const [first, second] = stage.bodies(since)
  expect(first.sendId).toMatch(/^[0-9a-f-]{36}$/)
  expect(second).toEqual(first)
})

test('a send into a protected chat leaves sealed, with its other fields and buttons unchanged', async () => {
  const person = await stage.friend()
  const chat = stage.privateChat(person)
  await stage.show(chat)
  const more = { replyTo: null, markup: KEYBOARD, silent: false }
  using _headers = stage.double.script('POST', '/messages', () =>
    ok({ id: 3, date: 4, extra: { n: 1 } }, 201, { 'x-request-id': 'abc' }),
  )
  const sent = await stage.send(chat, 'hello', more)
  const { armored, sendId, ...rest } = stage.double.calls('POST', '/messages').at(-1)?.json ?? {}
  expect(rest).toEqual({ chatId: chat.id, ...more })
  expect(sendId).toMatch(/^[0-9a-f-]{36}$/)
  expect((await person.phone.open(armored, stage.botCertificate)).text).toBe('hello')
  expect([sent.status, sent.headers['x-request-id']]).toEqual([201, 'abc'])
  expect(sent.json.result).toEqual({
    id: 3,
    date: 4,
    extra: { n: 1 },
    postern: { sealed: true, recipients: 1, skipped: [], clear: ['markup'] },
  })
})

test('a sealed send has armor without headers, and numbers in its answer keep their spelling', async () => {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const body = '{"ok":true,"result":{"id":3,"date":4,"seq":9007199254740993,"r":1.0}}'
  using _exact = stage.double.script('POST', '/messages', { status: 201, body })
  const sent = await stage.send(chat, 'hello')
  expect(sent.text).toContain('"seq":9007199254740993,"r":1.0')
  const { armored } = stage.double.calls('POST', '/messages').at(-1)?.json ?? {}
  expect(armored).toMatch(/^-----BEGIN PGP MESSAGE-----\n\n/)
})

test('the service’s echo of a sealed body returns as the text that the bot wrote', async () => {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  using _echo = stage.double.script('POST', '/messages', ({ json }) =>
    ok({ id: 3, date: 4, armored: json.armored }, 201),
  )
  const sent = await stage.send(chat, 'hello')
  expect(sent.json.result).toMatchObject({ text: 'hello' })
  expect(sent.json.result).not.toHaveProperty('armored')
})

test('a refusal of a sealed send returns to the byte', async () => {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  using _refusal = stage.double.script('POST', '/messages', no(403, 'blocked_by_user'))
  const sent = await stage.send(chat, 'hello')
  expect([sent.status, sent.text]).toEqual([403, stage.lastAnswer('POST', '/messages')])
})

for (const kind of ['readable', 'protected'] as const) {
  test(`a bot that hangs up during a send leaves one finished call in a ${kind} chat, not two`, async () => {
    const isOpen = kind === 'readable'
    const chat = isOpen ? stage.openGroup() : stage.privateChat(await stage.friend())
    await stage.show(chat)
    const [arrived, held] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
    using _held = stage.double.script('POST', '/messages', () => {
      arrived.resolve()
      return held.promise
    })
    const since = stage.double.mark()
    const bot = new AbortController()
    const body = { chatId: chat.id, text: 'and gone' }
    const sending = stage.sidecar.call('POST', '/messages', body, { signal: bot.signal })
    await arrived.promise
    bot.abort()
    await expect(sending).rejects.toThrow('aborted')
    held.resolve(undefined)
    const sent = () => stage.double.calls('POST', '/messages', since)
    await expect.poll(() => sent().every(({ answered }) => answered !== null)).toBe(true)
    expect((await stage.send(chat, 'the next')).status).toBe(201)
    expect(sent().map(({ answered }) => answered?.status)).toEqual([201, 201])
  })
}

const armored = '-----BEGIN PGP MESSAGE-----\n\nAAAA\n-----END PGP MESSAGE-----\n'
const wrong: [string, string, string, string | undefined][] = [
  ['no body at all', '', 'bad_request', 'text'],
  ['nothing to say', '{"chatId":CHAT}', 'bad_request', 'text'],
  ['armor', `{"chatId":CHAT,"armored":${JSON.stringify(armored)}}`, 'wrong_body_kind', 'text'],
  ['both', `{"chatId":CHAT,"text":"x","armored":"y"}`, 'wrong_body_kind', 'text'],
  ['a chat twice', '{"chatId":1,"chatId":CHAT,"text":"a"}', 'bad_request', undefined],
  ['no object', '["text"]', 'bad_request', 'text'],
]
for (const [name, template, code, expected] of wrong) {
  test(`a send with ${name} is refused with ${code} and does not leave`, async () => {
    for (const chat of [stage.openGroup(), stage.privateChat(await stage.friend())]) {
      const since = stage.double.mark()
      const body = template.replace('CHAT', String(chat.id))
      const sent = await stage.sidecar.call('POST', '/messages', body)
      expect([sent.status, sent.json.error.code]).toEqual([400, code])
      expect(sent.json.error.expected).toBe(expected)
      expect(sent.json.error.status).toBe(400)
      expect(stage.bodies(since)).toEqual([])
    }
  })
}
