import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ARMORED, ask, protect, still } from './support.ts'

interface Got {
  message: Record<string, unknown>
}

async function delivered(sandbox: Sandbox, content: object): Promise<Record<string, unknown>> {
  const { alice, privateChat } = sandbox.home
  await sandbox.control.post({ userId: alice.id, chatId: privateChat, ...content })
  const { result } = await ask<Got[]>(sandbox, 'GET /updates')
  return result.at(-1)?.message ?? {}
}

test('a message says where, who, when and what', async () => {
  await using sandbox = await still()
  const { alice, privateChat } = sandbox.home
  expect(await delivered(sandbox, { text: 'hello' })).toEqual({
    id: 1,
    chat: { id: privateChat, kind: 'private' },
    from: { id: alice.id, username: 'alice', firstName: 'Alice', lastName: null, isBot: false },
    date: sandbox.now(),
    replyTo: null,
    kind: 'user',
    text: 'hello',
    media: [],
  })
})

test('readable text is trimmed, folded and cut at 4000 on delivery', async () => {
  await using sandbox = await still()
  expect(await delivered(sandbox, { text: ' a\r\n\n\n\nb ' })).toMatchObject({ text: 'a\n\nb' })
  const long = await delivered(sandbox, { text: 'x'.repeat(4096) })
  expect(long['text']).toHaveLength(4000)
})

test('sealed text arrives as it came, and only as armored', async () => {
  await using sandbox = await still()
  await protect(sandbox)
  const message = await delivered(sandbox, { armored: ARMORED })
  expect(message['armored']).toBe(ARMORED)
  expect(message).not.toHaveProperty('text')
})

test('readable text that contains an OpenPGP header travels as armored', async () => {
  await using sandbox = await still()
  const text = 'look: -----BEGIN PGP MESSAGE-----'
  const message = await delivered(sandbox, { text })
  expect(message['armored']).toBe(text)
  expect(message).not.toHaveProperty('text')
})

test('a quoted message comes along, without what it quotes itself', async () => {
  await using sandbox = await still()
  const first = await delivered(sandbox, { text: 'first' })
  const second = await delivered(sandbox, { text: 'second', replyTo: first['id'] })
  const third = await delivered(sandbox, { text: 'third', replyTo: second['id'] })
  expect(third['replyTo']).toMatchObject({ text: 'second', replyTo: null })
})

test('of a quoted message from before the bot arrived only the id is shown', async () => {
  await using sandbox = await still()
  const { alice, bot } = sandbox.home
  const { id: chatId } = await sandbox.control.addRoom({
    kind: 'group',
    historyVisible: true,
    members: [alice.id],
  })
  const post = (text: string, replyTo?: number) =>
    sandbox.control.post({ userId: alice.id, chatId, text, replyTo })
  const { messageId } = await post('before')
  await sandbox.control.join({ chatId, userId: bot.id })
  await post('/look', messageId)
  const { result } = await ask<Got[]>(sandbox, 'GET /updates')
  expect(result.at(-1)?.message['replyTo']).toEqual({ id: messageId })
})

test('a file is served to anybody exactly as it is stored', async () => {
  await using sandbox = await still()
  const bytes = Buffer.from([0, 255, 1, 254, 13, 10])
  const { mediaId } = await sandbox.control.addMedia({ base64: bytes.toString('base64') })
  const message = await delivered(sandbox, { text: 'look', mediaIds: [mediaId] })
  expect(message['media']).toEqual([{ id: mediaId, url: `/media/${mediaId}` }])
  const file = await fetch(`${sandbox.url}/media/${mediaId}`)
  expect(Buffer.from(await file.arrayBuffer())).toEqual(bytes)
})

test('an unknown file is media_not_found in the envelope', async () => {
  await using sandbox = await still()
  const answer = await fetch(`${sandbox.url}/media/nothing`)
  expect(answer.status).toBe(404)
  expect(await answer.json()).toMatchObject({ ok: false, error: { code: 'media_not_found' } })
})
