/** Before anything is published: what each chat would be, and to whom it would be sealed. */
import { expect, test } from 'vitest'
import { dataFolder } from '../operators/support.ts'
import { Stage } from '../support/double-stage.ts'

test('`check --chats` before a key is published reports how each chat would be sealed, and publishes none', async () => {
  const stage = new Stage()
  await using _ended = { [Symbol.asyncDispose]: () => stage.end() }
  await stage.begin({ dataDir: dataFolder(), env: { POSTERN_KEY_PUBLISH: 'false' }, ready: false })
  const person = await stage.friend()
  const chat = stage.privateChat(person, { mode: 'open' })
  const group = stage.openGroup()
  for (const one of [chat, group]) expect((await stage.send(one, 'hello')).status).toBe(201)

  const look = async () => {
    const { stdout } = await stage.sidecar.postern('check', '--chats', '--json')
    return new Map(
      (JSON.parse(stdout) as { chatId: number }[]).map((shown) => [shown.chatId, shown]),
    )
  }
  const before = await look()
  expect(before.get(group.id)).toMatchObject({ body: 'readable', problem: null })
  expect(before.get(chat.id)).toMatchObject({
    body: 'unknown',
    problem: { hint: expect.stringContaining(`postern chat bind ${chat.id}`) as unknown },
  })
  await stage.sidecar.postern('chat', 'bind', String(chat.id), String(person.id))
  expect((await look()).get(chat.id)).toMatchObject({
    body: 'sealed',
    people: [{ userId: person.id, skipped: null }],
    problem: null,
  })
  expect(stage.double.world.published ?? null).toBeNull()
})
