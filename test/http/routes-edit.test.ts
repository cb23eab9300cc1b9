import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { ok } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()
const KEYBOARD = { inlineKeyboard: [[{ text: 'Docs', url: 'https://example.org/' }]] }

async function chats(): Promise<[kind: string, chat: DoubleChat][]> {
  const chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  return [
    ['readable', stage.openGroup()],
    ['protected', chat],
  ]
}

test('an edit of the text keeps unmentioned buttons and removes buttons that are null', async () => {
  for (const [kind, chat] of await chats()) {
    const since = stage.double.mark()
    await stage.edit(chat, 7, { text: 'a' })
    await stage.edit(chat, 7, { text: 'b', markup: null })
    await stage.edit(chat, 7, { text: 'c', markup: KEYBOARD })
    const [absent, none, some] = stage.bodies(since)
    expect([kind, 'markup' in absent]).toEqual([kind, false])
    expect([kind, none.markup]).toEqual([kind, null])
    expect([kind, some.markup]).toEqual([kind, KEYBOARD])
    const body = kind === 'readable' ? 'text' : 'armored'
    for (const one of [absent, none, some]) {
      expect(Object.keys(one)).toContain(body)
      expect(one).not.toHaveProperty(body === 'text' ? 'armored' : 'text')
      expect(one).not.toHaveProperty('sendId')
    }
  }
})

test('an edit of buttons alone has no body, and its answer names buttons that left unsealed', async () => {
  for (const [kind, chat] of await chats()) {
    for (const markup of [null, KEYBOARD]) {
      const edited = await stage.edit(chat, 7, { markup })
      const asked = stage.double.calls('PATCH', '/messages/7').at(-1)
      expect(asked?.json).toEqual({ chatId: chat.id, markup })
      expect(edited.status).toBe(200)
      if (kind === 'readable' || markup === null) {
        expect(edited.text).toBe(asked?.answered?.body.toString())
      } else expect(edited.json.result).toMatchObject({ id: 7, postern: { clear: ['markup'] } })
    }
  }
})

test('an edit in a readable chat leaves unchanged, and its answer returns to the byte', async () => {
  const edited = await stage.edit(stage.openGroup(), 7, { text: 'hello' })
  expect([edited.status, edited.text]).toEqual([200, stage.lastAnswer('PATCH', '/messages/7')])
})

test('an edit in a protected chat leaves sealed, with recipients and skipped people in its answer', async () => {
  const person = await stage.friend()
  const chat = stage.group([person])
  using _answer = stage.double.script('PATCH', '/messages/7', ok({ id: 7, date: 1, rev: 2 }))
  const edited = await stage.edit(chat, 7, { text: 'hello' })
  expect(edited.json.result).toEqual({
    id: 7,
    date: 1,
    rev: 2,
    postern: { sealed: true, recipients: 1, skipped: [] },
  })
  const { armored } = stage.double.calls('PATCH', '/messages/7').at(-1)?.json ?? {}
  expect((await person.phone.open(armored, stage.botCertificate)).text).toBe('hello')
})

test('an edit keeps the spelling of a message id', async () => {
  await stage.edit(stage.openGroup(), 7, { text: 'known' })
  const { id } = stage.openGroup()
  await stage.sidecar.call('PATCH', '/messages/9007199254740993', { chatId: id, text: 'x' })
  expect(stage.double.calls('PATCH', '/messages/9007199254740993').length).toBe(1)
})
