import { expect, test } from 'vitest'
import { expectReadable, expectRefused, postern, shownChat } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage({ env: { POSTERN_CACHE_CHAT_SECONDS: '0' } })
const REFUSED = 'postern_downgrade_refused'

/** A group that was seen protected, and claims to be open. */
async function latched(): Promise<DoubleChat> {
  const chat = stage.group([await stage.friend()])
  await stage.send(chat, 'sealed')
  chat.historyVisible = true
  return chat
}

test('`chat allow-readable --pending` lifts the latches of refused chats alone', async () => {
  const [first, second, untouched] = [await latched(), await latched(), await latched()]
  await stage.send(first, 'x')
  await stage.edit(second, 7, { text: 'x' })
  const rows = JSON.parse(await postern(stage, 'chat', 'list', '--json')) as { id: number }[]
  const rowOf = (chat: DoubleChat) => rows.find(({ id }) => id === chat.id)
  expect(rowOf(first)).toMatchObject({ latched: true, refused: true })
  expect(rowOf(untouched)).toMatchObject({ latched: true, refused: false })

  const lifted = await stage.sidecar.postern('chat', 'allow-readable', '--pending')
  expect(lifted.code, lifted.stderr).toBe(0)
  expect(lifted.stdout.trim().split('\n').toSorted()).toEqual([`${first.id}`, `${second.id}`])
  for (const chat of [first, second]) await expectReadable(stage, chat)
  await expectRefused(stage, untouched, REFUSED)
})

test('`chat allow-readable` lifts a latch over a restart, until the chat is protected again', async () => {
  const chat = await latched()
  await expectRefused(stage, chat, REFUSED)
  const done = await stage.sidecar.postern('chat', 'allow-readable', String(chat.id))
  expect([done.code, done.stdout.trim()]).toEqual([0, String(chat.id)])
  await expectReadable(stage, chat)
  await stage.restart()
  await expectReadable(stage, chat)

  chat.historyVisible = false
  expect((await stage.send(chat, 'sealed')).status).toBe(201)
  chat.historyVisible = true
  await expectRefused(stage, chat, REFUSED)
})

test('`chat allow-readable` of a private chat lifts nothing while the bot has a key', async () => {
  const chat = await shownChat(stage, await stage.friend())
  await stage.send(chat, 'sealed')
  chat.mode = 'open'
  const done = await stage.sidecar.postern('chat', 'allow-readable', String(chat.id))
  expect([done.code, done.stdout, done.stderr]).toEqual([0, '', 'nothing to lift\n'])
  await expectRefused(stage, chat, REFUSED)
  expect(await postern(stage, 'chat', 'list')).toMatch(
    new RegExp(`^${chat.id} +private +\\S+ +by key +`, 'm'),
  )
  expect(await postern(stage, 'chat', 'show', String(chat.id))).toMatch(/^a message is +sealed$/m)
})

test('`chat allow-readable` with an unknown chat lifts no latch, and names it', async () => {
  const chat = await latched()
  const ids = [String(chat.id), '4711', '4712']
  const done = await stage.sidecar.postern('chat', 'allow-readable', ...ids)
  expect([done.code, done.stdout]).toEqual([1, ''])
  expect(done.stderr).toMatch(/^postern: chats 4711, 4712 are not known$/m)
  expect(done.stderr).toMatch(/^code: refused$/m)
  await expectRefused(stage, chat, REFUSED)
})
