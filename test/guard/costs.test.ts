import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'

const stage = useStage()

test('a first send into a private chat costs one extra call, and later sends and edits none', async () => {
  const chat = stage.privateChat(await stage.person())
  await stage.show(chat)
  const since = stage.double.mark()
  await stage.send(chat, 'first')
  expect(stage.double.names(since)).toEqual([`GET /chats/${chat.id}/keys`, 'POST /messages'])
  const again = stage.double.mark()
  await stage.send(chat, 'second')
  await stage.edit(chat, 7, { text: 'edited' })
  await stage.edit(chat, 7, { markup: null })
  expect(stage.double.names(again)).toEqual([
    'POST /messages',
    'PATCH /messages/7',
    'PATCH /messages/7',
  ])
})

test.each([
  ['protected group costs two extra calls', ['', '/keys']],
  ['readable group costs one extra call', ['']],
])('a first send into a %s, and the next none', async (what, asked) => {
  const isOpen = what.startsWith('readable')
  const chat = isOpen ? stage.openGroup() : stage.group([await stage.person()])
  const since = stage.double.mark()
  await stage.send(chat, 'first')
  await stage.send(chat, 'second')
  const lookups = asked.map((more) => `GET /chats/${chat.id}${more}`)
  expect(stage.double.names(since)).toEqual([...lookups, 'POST /messages', 'POST /messages'])
})

test('a chat that the bot has requested itself costs no extra call', async () => {
  const chat = stage.openGroup()
  await stage.sidecar.call('GET', `/chats/${chat.id}`)
  const since = stage.double.mark()
  await stage.send(chat, 'first')
  expect(stage.double.names(since)).toEqual(['POST /messages'])
})

test('concurrent sends share one lookup', async () => {
  const chat = stage.group([await stage.person()])
  const since = stage.double.mark()
  await Promise.all(['a', 'b', 'c', 'd'].map((text) => stage.send(chat, text)))
  const names = stage.double.names(since)
  expect(names.filter((name) => name.startsWith('GET'))).toEqual([
    `GET /chats/${chat.id}`,
    `GET /chats/${chat.id}/keys`,
  ])
})

test('a sender on the key list costs no lookup, and another one a fresh list and a user key', async () => {
  const [listed, other] = [await stage.person(), await stage.person()]
  const chat = stage.group([listed])
  await stage.send(chat, 'the list is known now')
  const armored = await listed.phone.seal('known', [stage.botCertificate])
  const since = stage.double.mark()
  await stage.deliver([stage.double.world.message(chat, listed, { armored })])
  expect(stage.double.names(since)).toEqual(['GET /updates'])
  const words = await other.phone.seal('not listed', [
    listed.phone.certificate,
    stage.botCertificate,
  ])
  const [message] = await stage.deliver([
    stage.double.world.message(chat, other, { armored: words }),
  ])
  expect(message.postern.verdict).toBe('replayed')
  expect(stage.double.names(since)).toEqual([
    'GET /updates',
    'GET /updates',
    `GET /chats/${chat.id}/keys`,
    `GET /users/${other.id}/key`,
  ])
})

test('a key list is requested again after an update with an unlisted person, or a notice', async () => {
  const [first, second] = [await stage.person(), await stage.person()]
  const chat = stage.group([first])
  await stage.send(chat, 'to the first')
  chat.people.push(second)
  const armored = await second.phone.seal('hello', [stage.botCertificate])
  await stage.deliver([stage.double.world.message(chat, second, { armored })])
  const sent = await stage.send(chat, 'to both')
  expect(sent.json.result.postern.recipients).toBe(2)

  chat.people.pop()
  await stage.deliver([stage.double.world.message(chat, null, { kind: 'member_left' })])
  const after = await stage.send(chat, 'to the first again')
  expect(after.json.result.postern.recipients).toBe(1)
})

test('a refusal by the service drops the cached key list', async () => {
  const chat = stage.group([await stage.person()])
  await stage.send(chat, 'first')
  stage.double.script('POST', '/messages', { status: 403, json: FORBIDDEN }, 1)
  expect((await stage.send(chat, 'second')).status).toBe(403)
  const since = stage.double.mark()
  await stage.send(chat, 'third')
  expect(stage.double.names(since)).toContain(`GET /chats/${chat.id}/keys`)
})
const FORBIDDEN = { ok: false, error: { status: 403, code: 'forbidden', message: 'no right here' } }

test('`/status` counts the sidecar’s own calls', async () => {
  // Of the minute that is counted: how long ago the other tests were is not known.
  for (let n = 0; n < 4; n++) await stage.send(stage.group([await stage.friend()]), 'counted')
  const text = await (await fetch(`${stage.sidecar.adminUrl}/status`)).text()
  const { calls } = JSON.parse(text) as { calls: { usedLastMinute: number; limit: number } }
  const own = stage.double.log.filter(({ method, path }) => method !== 'GET' || path !== '/updates')
  expect(calls.limit).toBe(300)
  expect(calls.usedLastMinute).toBeGreaterThan(5)
  expect(calls.usedLastMinute).toBeLessThan(own.length)
})
