import { expect, test } from 'vitest'
import { shownChat } from '../support/double-sends.ts'
import { canary, useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage()
const KEYBOARD = { inlineKeyboard: [[{ text: 'Yes', callbackData: 'y' }]] }

/** A person presses a button in a chat. */
async function press(chat: DoubleChat, id: string): Promise<void> {
  const message = stage.double.world.message(chat, null, { markup: KEYBOARD })
  const callbackQuery = { id, from: { id: chat.people[0]?.id ?? 7 }, data: 'y', message }
  await stage.deliverUpdates([{ kind: 'callback_query', callbackQuery }])
}

const answer = (id: string, body?: object) =>
  stage.sidecar.call('POST', `/callbacks/${id}/answer`, body)

async function counted(field: string): Promise<number> {
  const metrics = await (await fetch(`${stage.sidecar.adminUrl}/metrics`)).text()
  const line = new RegExp(`^postern_clear_fields_total\\{field="${field}"\\} (\\d+)$`, 'm')
  return Number(line.exec(metrics)?.[1])
}

const privateChat = async () => await shownChat(stage, await stage.friend())

test('the answers to a send and an edit with buttons in a protected chat name `markup` as clear', async () => {
  const chat = await privateChat()
  const before = await counted('markup')
  const sent = await stage.send(chat, canary(), { markup: KEYBOARD })
  expect(sent.json.result.postern).toMatchObject({ sealed: true, clear: ['markup'] })
  const { id } = sent.json.result
  const edited = await stage.edit(chat, id, { text: canary(), markup: KEYBOARD })
  expect(edited.json.result.postern.clear).toEqual(['markup'])
  const alone = await stage.edit(chat, id, { markup: KEYBOARD })
  expect(alone.json.result.postern).toEqual({ clear: ['markup'] })
  expect(await counted('markup')).toBe(before + 3)
})

test('the answers to messages without buttons, and in a readable chat, name no clear field', async () => {
  const chat = await privateChat()
  const before = await counted('markup')
  const sent = await stage.send(chat, canary(), { markup: null })
  expect(sent.json.result.postern).not.toHaveProperty('clear')
  const removed = await stage.edit(chat, sent.json.result.id, { markup: null })
  expect(removed.json.result).not.toHaveProperty('postern')
  const readable = await stage.send(stage.openGroup(), 'words', { markup: KEYBOARD })
  expect(readable.json.result).not.toHaveProperty('postern')
  expect(await counted('markup')).toBe(before)
})

test('the answer to a press in a protected or unknown chat names its clear fields', async () => {
  await press(await privateChat(), 'press-1')
  const told = await answer('press-1', { text: 'done', url: 'https://example.org', alert: true })
  expect(told.json.result).toEqual({ answered: true, postern: { clear: ['text', 'url'] } })
  expect((await answer('never-seen', { text: 'done' })).json.result.postern.clear).toEqual(['text'])
  expect(await counted('url')).toBe(1)
})

test('`clearFields: allow` counts clear fields, and does not name them in the answer', async () => {
  await stage.restart({ POSTERN_CLEAR_FIELDS: 'allow' })
  const chat = await privateChat()
  const sent = await stage.send(chat, canary(), { markup: KEYBOARD })
  expect(sent.json.result.postern).toEqual({ sealed: true, recipients: 1, skipped: [] })
  expect((await answer('never-seen', { text: 'done' })).json.result).toEqual({ answered: true })
  expect([await counted('markup'), await counted('text')]).toEqual([1, 1])
})

test('`clearFields: refuse` refuses clear fields in a protected chat, and none in a readable one', async () => {
  await stage.restart({ POSTERN_CLEAR_FIELDS: 'refuse' })
  const chat = await privateChat()
  const { id } = (await stage.send(chat, canary())).json.result
  await press(chat, 'press-4')
  const since = stage.double.mark()
  const refused = [
    await stage.send(chat, canary(), { markup: KEYBOARD }),
    await stage.edit(chat, id, { text: canary(), markup: KEYBOARD }),
    await stage.edit(chat, id, { markup: KEYBOARD }),
    await answer('press-4', { text: 'done' }),
    await answer('never-seen', { url: 'https://example.org' }),
  ]
  for (const { status, json } of refused) {
    expect([status, json.error.code]).toEqual([409, 'postern_clear_refused'])
  }
  expect(refused[0]?.json.error.message).toMatch(/: markup; .*`clearFields`/)
  const calls = stage.double.calls(undefined, /^\/(messages|callbacks)/, since)
  expect(calls).toEqual([])
  expect((await stage.edit(chat, id, { markup: null })).status).toBe(200)
  expect((await answer('press-4')).json.result).toEqual({ answered: true })
  const open = stage.openGroup()
  expect((await stage.send(open, 'words', { markup: KEYBOARD })).status).toBe(201)
  await press(open, 'press-5')
  expect((await answer('press-5', { text: 'done' })).json.result).toEqual({ answered: true })
})

test('`clearFields: refuse` refuses an edit of buttons while the chat’s mode is unknown', async () => {
  const chat = stage.group([await stage.friend()])
  using _gone = stage.double.script('GET', `/chats/${chat.id}`, 'cut')
  const edited = await stage.edit(chat, 7, { markup: KEYBOARD })
  expect(edited.status).toBeGreaterThanOrEqual(500)
  expect(stage.double.calls('PATCH', '/messages/7')).toEqual([])
})
