import { expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { ask, outcome, still } from './support.ts'

const ids = async (sandbox: Sandbox, chatId: number) => {
  const response = await ask<{ members: { id: number }[]; memberCount: number }>(
    sandbox,
    `GET /chats/${chatId}/members`,
  )
  expect(response.result.memberCount).toBe(response.result.members.length)
  return response.result.members.map(({ id }) => id)
}

test('a member is a person with a status and rights', async () => {
  await using sandbox = await still()
  const { alice, bob, bot, readableGroup } = sandbox.home
  expect(await ids(sandbox, readableGroup)).toEqual([alice.id, bob.id, bot.id])
  const response = await ask(sandbox, `GET /chats/${readableGroup}/members/${alice.id}`)
  expect(response.result).toEqual({
    id: alice.id,
    username: 'alice',
    firstName: 'Alice',
    lastName: null,
    isBot: false,
    status: 'owner',
    rights: 31,
    title: null,
  })
})

test('where the member list is hidden a bot that is no administrator sees administrators only', async () => {
  await using sandbox = await still()
  const { alice, bob, bot, readableGroup: chatId } = sandbox.home
  await sandbox.control.changeChat({ chatId, rosterHidden: true })
  expect(await ids(sandbox, chatId)).toEqual([alice.id])
  expect(await outcome(sandbox, `GET /chats/${chatId}/members/${bob.id}`)).toBe('member_not_found')
  await sandbox.control.setMembership({ chatId, userId: bot.id, status: 'admin' })
  expect(await ids(sandbox, chatId)).toEqual([alice.id, bob.id, bot.id])
  expect(await outcome(sandbox, `GET /chats/${chatId}/members/${bob.id}`)).toBe(200)
})

test('a channel may hide its administrators', async () => {
  await using sandbox = await still()
  const { alice, bob, bot } = sandbox.home
  const members = [alice.id, bob.id, bot.id]
  const { id } = await sandbox.control.addRoom({ kind: 'channel', members, adminsHidden: true })
  expect(await ids(sandbox, id)).toEqual([bob.id, bot.id])
  expect(await outcome(sandbox, `GET /chats/${id}/members/${alice.id}`)).toBe('member_not_found')
})

test('a private chat has no members, and strangers are not found', async () => {
  await using sandbox = await still()
  const { alice, privateChat, readableGroup } = sandbox.home
  expect(await outcome(sandbox, `GET /chats/${privateChat}/members`)).toBe('bad_request')
  expect(await outcome(sandbox, `GET /chats/${privateChat}/members/${alice.id}`)).toBe(
    'bad_request',
  )
  for (const id of [1, 'x']) {
    expect(await outcome(sandbox, `GET /chats/${readableGroup}/members/${id}`)).toBe(
      'member_not_found',
    )
  }
  expect(await outcome(sandbox, 'GET /chats/1/members')).toBe('chat_not_found')
  expect(await outcome(sandbox, `GET /chats/1/members/${alice.id}`)).toBe('chat_not_found')
})
