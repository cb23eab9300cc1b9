import assert from 'node:assert/strict'
import { casesOf, inGroup, inRoom } from '../case.ts'
import { no, ok } from '../expect.ts'
import { say } from '../steps.ts'
import type { Stage } from '../stage.ts'

const isHeld = async (stage: Stage, chatId: number, id: number): Promise<boolean> =>
  (await stage.held(chatId)).some((one) => one.id === id)

export const DELETE = casesOf('DELETE /messages/{messageId}', {
  'a bot deletes its own messages anywhere, with chatId in the query or in a body, also from phones':
    {
      proves: ['endpoint deleteMessage', 'delete-own', 'delete-chat-id', 'delete-result'],
      needs: ['people', 'private chat', 'group'],
      run: async (stage) => {
        for (const chatId of [await stage.privateChat(), await stage.group()]) {
          for (const removal of [
            (id: number) => stage.bot.delete(`/messages/${id}?chatId=${chatId}`),
            (id: number) => stage.bot.delete(`/messages/${id}`, { chatId }),
          ]) {
            const id = await say(stage, chatId)
            assert.equal(await stage.alice.shows(chatId, id), true)
            assert.deepEqual(ok(await removal(id)), { deleted: true })
            assert.equal(await isHeld(stage, chatId, id), false)
            assert.equal(await stage.alice.shows(chatId, id), false)
            await stage.advance(1000)
          }
        }
      },
    },
  'a deletion without a valid chatId is a bad request that names the field': {
    proves: ['delete-chat-id', 'names-the-field'],
    needs: ['group'],
    run: async (stage) => {
      const id = await say(stage, await stage.group())
      for (const query of ['', '?chatId=x', '?chatId=']) {
        const { message } = no(await stage.bot.delete(`/messages/${id}${query}`), 'bad_request')
        assert.match(String(message), /chatId/)
      }
      no(await stage.bot.delete(`/messages/${id}`, { chatId: 'x' }), 'bad_request')
    },
  },
  'a bot with the delete-messages right deletes others’ messages in a group or channel': {
    proves: ['delete-others', 'auth-rights'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      for (const kind of ['group', 'channel'] as const) {
        const chatId = await stage.room({ kind })
        await stage.setMembership(chatId, stage.me.id, { status: 'admin', deletes: true })
        const id = await stage.alice.write(chatId, stage.words())
        ok(await stage.bot.delete(`/messages/${id}?chatId=${chatId}`))
        assert.equal(await isHeld(stage, chatId, id), false)
      }
    },
  },
  'a deletion of others’ messages is forbidden without the right and in a private chat': {
    proves: ['delete-others', 'error forbidden'],
    needs: ['people', 'rooms'],
    run: async (stage) => {
      const group = await stage.room()
      const withoutRight = await stage.room()
      await stage.setMembership(withoutRight, stage.me.id, { status: 'admin', deletes: false })
      for (const chatId of [group, withoutRight, await stage.privateChat()]) {
        const id = await stage.alice.write(chatId, stage.words())
        no(await stage.bot.delete(`/messages/${id}?chatId=${chatId}`), 'forbidden')
        assert.equal(await isHeld(stage, chatId, id), true)
      }
    },
  },
  'messages of before the bot left and joined again are deleted by the same rules': {
    proves: ['delete-own', 'delete-others'],
    needs: ['people', 'rooms'],
    run: inRoom(async (stage, chatId) => {
      const own = await say(stage, chatId)
      const theirs = await stage.alice.write(chatId, stage.words())
      ok(await stage.bot.post(`/chats/${chatId}/leave`))
      await stage.join(chatId, stage.me.id)
      const remove = (id: number) => stage.bot.delete(`/messages/${id}?chatId=${chatId}`)
      assert.deepEqual(ok(await remove(own)), { deleted: true })
      no(await remove(theirs), 'forbidden')
      await stage.setMembership(chatId, stage.me.id, { status: 'admin', deletes: true })
      assert.deepEqual(ok(await remove(theirs)), { deleted: true })
      for (const id of [own, theirs]) assert.equal(await isHeld(stage, chatId, id), false)
    }),
  },
  'a deletion of a service notice is forbidden, even with the right to delete': {
    proves: ['delete-notice', 'error forbidden'],
    needs: ['people', 'rooms'],
    run: inRoom(async (stage, chatId) => {
      await stage.setMembership(chatId, stage.me.id, { status: 'admin', deletes: true })
      await stage.bob.leave(chatId)
      const notice = (await stage.held(chatId)).find(({ kind }) => kind !== 'user')
      no(await stage.bot.delete(`/messages/${notice?.id}?chatId=${chatId}`), 'forbidden')
    }),
  },
  'a deletion of a deleted or unknown message answers message_not_found, of an unknown chat chat_not_found':
    {
      proves: [
        'delete-own',
        'delete-gone',
        'safe-retry-rest',
        'error message_not_found',
        'error chat_not_found',
      ],
      needs: ['group'],
      run: inGroup(async (stage, chatId) => {
        const id = await say(stage, chatId)
        const path = `/messages/${id}?chatId=${chatId}`
        assert.deepEqual(ok(await stage.bot.delete(path)), { deleted: true })
        no(await stage.bot.delete(path), 'message_not_found')
        no(await stage.bot.delete(`/messages/987654321?chatId=${chatId}`), 'message_not_found')
        no(await stage.bot.delete(`/messages/${id}?chatId=1`), 'chat_not_found')
      }),
    },
})
