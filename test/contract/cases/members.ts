import assert from 'node:assert/strict'
import { casesOf, inPrivateChat, inRoom } from '../case.ts'
import { list, no, okFields, type Fields } from '../expect.ts'
import type { Stage } from '../stage.ts'

/** Whether the record contains the user id under some name. */
const isOf = (member: Fields, id: number): boolean => JSON.stringify(member).includes(String(id))

async function idsSeen(stage: Stage, chatId: number): Promise<number[]> {
  const { members, memberCount } = okFields(await stage.bot.get(`/chats/${chatId}/members`))
  assert.equal(memberCount, list(members).length, 'memberCount counts the list as returned')
  const known = [stage.alice.id, stage.bob.id, stage.me.id]
  return known.filter((id) => list(members).some((member) => isOf(member, id)))
}

export const MEMBERS = casesOf('GET /chats/{chatId}/members', {
  'a room lists its members with names, status and title, and without phone numbers': {
    proves: ['endpoint getMembers', 'members-list', 'member-fields', 'member-no-phone'],
    needs: ['rooms'],
    run: inRoom(async (stage, chatId) => {
      await stage.setMembership(chatId, stage.bob.id, { status: 'admin', title: 'Host' })
      assert.deepEqual(await idsSeen(stage, chatId), [stage.alice.id, stage.bob.id, stage.me.id])
      const { members } = okFields(await stage.bot.get(`/chats/${chatId}/members`))
      const bob = list(members).find((member) => isOf(member, stage.bob.id)) ?? {}
      const values = Object.values(bob)
      for (const shown of [stage.bob.id, stage.bob.username, 'Bob', 'admin', 'Host']) {
        assert.ok(values.includes(shown), `${shown} is shown`)
      }
      assert.ok(values.some((value) => typeof value === 'number' && value !== stage.bob.id))
      assert.doesNotMatch(JSON.stringify(members), /phone/i)
    }),
  },
  'a hidden member list shows only administrators to a bot that is no administrator': {
    proves: ['members-hidden'],
    needs: ['rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ rosterHidden: true })
      assert.deepEqual(await idsSeen(stage, chatId), [stage.alice.id])
      no(await stage.bot.get(`/chats/${chatId}/members/${stage.bob.id}`), 'member_not_found')
      await stage.setMembership(chatId, stage.me.id, { status: 'admin' })
      assert.deepEqual(await idsSeen(stage, chatId), [stage.alice.id, stage.bob.id, stage.me.id])
    },
  },
  'a channel with private administrators lists none of them': {
    proves: ['members-channel'],
    needs: ['rooms'],
    run: async (stage) => {
      const chatId = await stage.room({ kind: 'channel', adminsHidden: true })
      assert.deepEqual(await idsSeen(stage, chatId), [stage.bob.id, stage.me.id])
      no(await stage.bot.get(`/chats/${chatId}/members/${stage.alice.id}`), 'member_not_found')
    },
  },
  'the member list of a private chat is a bad request': {
    proves: ['members-private', 'member-one', 'error bad_request'],
    needs: ['private chat'],
    run: inPrivateChat(async (stage, chatId) => {
      no(await stage.bot.get(`/chats/${chatId}/members`), 'bad_request')
      no(await stage.bot.get(`/chats/${chatId}/members/${stage.me.id}`), 'bad_request')
    }),
  },
  'the member list of an unknown chat answers chat_not_found': {
    proves: ['error chat_not_found'],
    run: async ({ bot }) => {
      no(await bot.get('/chats/1/members'), 'chat_not_found')
      no(await bot.get('/chats/1/members/1'), 'chat_not_found')
    },
  },
})

export const MEMBER = casesOf('GET /chats/{chatId}/members/{userId}', {
  'a member is returned by id, and a stranger answers member_not_found': {
    proves: ['endpoint getMember', 'member-one', 'error member_not_found'],
    needs: ['rooms', 'people'],
    run: inRoom(async (stage, chatId) => {
      const path = `/chats/${chatId}/members`
      const member = okFields(await stage.bot.get(`${path}/${stage.alice.id}`))
      const { members } = okFields(await stage.bot.get(path))
      assert.deepEqual(
        member,
        list(members).find((one) => isOf(one, stage.alice.id)),
      )
      const stranger = await stage.person({ phone: false })
      no(await stage.bot.get(`${path}/${stranger.id}`), 'member_not_found')
      no(await stage.bot.get(`${path}/1`), 'member_not_found')
    }),
  },
  'an unknown member id answers member_not_found': {
    proves: ['error member_not_found'],
    needs: ['group'],
    run: async (stage) => {
      no(await stage.bot.get(`/chats/${await stage.group()}/members/1`), 'member_not_found')
    },
  },
})
