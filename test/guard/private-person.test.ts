import { expect, test } from 'vitest'
import { expectRefused, expectSealed, known, lines, postern } from '../support/double-sends.ts'
import { canary, useStage } from '../support/double-stage.ts'
import type { Json } from '../support/double-wire.ts'
import type { DoubleChat } from '../support/double-world.ts'

const stage = useStage({ env: { POSTERN_CACHE_KEY_LIST_SECONDS: '0' } })

const refused = (chat: DoubleChat) => expectRefused(stage, chat, 'postern_recipients_inconsistent')

async function personIn(chat: DoubleChat): Promise<number | null> {
  const rows = JSON.parse(await postern(stage, 'chat', 'list', '--json')) as Json[]
  return rows.find(({ id }) => id === chat.id).personId
}

test('a private chat’s key list with another person is refused under every policy', async () => {
  const { person: alice, chat } = await known(stage)
  const mallory = await stage.friend()
  expect(await personIn(chat)).toBe(alice.id)
  for (const people of [[mallory], [alice, mallory]]) {
    chat.people = people
    expect(await refused(chat)).toContain(String(mallory.id))
  }
  await postern(stage, 'trust', 'verify', String(alice.id), alice.phone.fingerprint)
  await postern(stage, 'trust', 'accept', String(mallory.id))
  for (const policy of ['first-use', 'pinned', 'accept']) {
    await postern(stage, 'trust', 'policy', policy)
    await refused(chat)
  }
  const log = await lines(stage, 'trust', 'log', '--json')
  const kinds = log.filter(({ chatId }) => chatId === chat.id).map(({ kind }) => kind)
  expect(kinds).toContain('list-contradicts')
  chat.people = [alice]
  await expectSealed(stage, chat, [alice])
})

test('a private chat’s key list with another person is refused after a restart, under any certificate', async () => {
  const { person: alice, chat } = await known(stage)
  const mallory = await stage.friend()
  await stage.restart()
  await stage.sidecar.whenReady()
  chat.people = [mallory]
  await refused(chat)
  chat.people = [{ id: mallory.id, key: alice.key }]
  await refused(chat)
})

test('concurrent sends with key lists of two people reach one of them at most', async () => {
  const [alice, mallory] = [await stage.person(), await stage.friend()]
  const chat = stage.privateChat(alice)
  await stage.show(chat)
  let turn = 0
  using _lie = stage.double.script('GET', `/chats/${chat.id}/keys`, () => {
    chat.people = [turn++ % 2 === 0 ? alice : mallory]
    return undefined
  })
  const since = stage.double.mark()
  await Promise.all([1, 2, 3, 4, 5, 6].map(async () => await stage.send(chat, canary())))
  const bound = await personIn(chat)
  expect([alice.id, mallory.id]).toContain(bound)
  const stranger = bound === alice.id ? mallory : alice
  for (const { armored } of stage.bodies(since)) {
    await expect(stranger.phone.open(armored, stage.botCertificate)).rejects.toThrow()
  }
})

test('`chat bind` changes the person of a private chat, and of no group', async () => {
  const { person: alice, chat } = await known(stage)
  const mallory = await stage.friend()
  chat.people = [mallory]
  await refused(chat)
  const bound = await postern(stage, 'chat', 'bind', String(chat.id), String(mallory.id))
  expect(bound).toMatch(/private chat/)
  await expectSealed(stage, chat, [mallory])
  chat.people = [alice]
  await refused(chat)
  const group = stage.group([alice])
  await stage.show(group)
  const ended = await stage.sidecar.postern('chat', 'bind', String(group.id), String(alice.id))
  expect([ended.code, ended.stdout]).toEqual([1, ''])
  expect(ended.stderr).toMatch(/not known as a private chat/)
})
