import { expect, test } from 'vitest'
import { expectRefused, expectSealed, shownChat } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import { ok } from '../support/double-wire.ts'

const stage = useStage()
const REFUSED = 'postern_downgrade_refused'
const OPEN_GROUP = { kind: 'group', mode: 'open', historyVisible: true }

test('a private chat that the service claims open receives sealed text, without a mode lookup', async () => {
  const person = await stage.friend()
  const chat = await shownChat(stage, person)
  using _lie = stage.double.script('POST', '/messages', ({ json }) =>
    ok({ id: 1, date: json.chatId }, 201),
  )
  const keys = [{ userId: person.id, publicKey: person.key?.certificate }]
  using _keys = stage.double.script('GET', `/chats/${chat.id}/keys`, ok({ keys }))
  chat.mode = 'open'
  const since = stage.double.mark()
  await expectSealed(stage, chat, [person])
  expect(stage.double.names(since)).not.toContain(`GET /chats/${chat.id}`)
})

test('a private chat whose key list is refused as open receives no text', async () => {
  const chat = await shownChat(stage, await stage.friend())
  chat.mode = 'open'
  await expectRefused(stage, chat, REFUSED)
})

test('a private chat that becomes an open group in answers and updates stays private', async () => {
  const chat = await shownChat(stage, await stage.friend())
  Object.assign(chat, OPEN_GROUP)
  await stage.show(chat)
  const shown = await stage.sidecar.call('GET', `/chats/${chat.id}`)
  expect(shown.json.result.kind).toBe('group')
  await expectRefused(stage, chat, REFUSED)
  await stage.restart()
  await expectRefused(stage, chat, REFUSED)
})

test('a private chat is known from a pressed or quoted Message', async () => {
  const person = await stage.friend()
  const [pressed, other] = [stage.privateChat(person), stage.privateChat(person)]
  const { world } = stage.double
  const message = world.message(pressed, null, { text: 'press me', from: { id: 900 } })
  const callbackQuery = { id: 'press', from: { id: person.id }, message, data: 'x' }
  await stage.deliverUpdates([{ kind: 'callback_query', callbackQuery }])
  const replyTo = world.message(other, null, { text: 'quoted' })
  await stage.deliver([world.message(stage.openGroup(), null, { text: 'x', replyTo })])
  for (const chat of [pressed, other]) {
    Object.assign(chat, OPEN_GROUP)
    await expectRefused(stage, chat, REFUSED)
  }
})
