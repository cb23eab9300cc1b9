import assert from 'node:assert/strict'
import { casesOf, inPrivateChat } from '../case.ts'
import { no, ok } from '../expect.ts'

export const LEAVE = casesOf('POST /chats/{chatId}/leave', {
  'a bot leaves a group or channel, and the service adds a notice': {
    proves: ['endpoint leaveChat', 'leave-result'],
    needs: ['rooms', 'people'],
    run: async (stage) => {
      for (const kind of ['group', 'channel'] as const) {
        const chatId = await stage.room({ kind })
        assert.deepEqual(ok(await stage.bot.post(`/chats/${chatId}/leave`)), { left: true })
        const notice = (await stage.held(chatId)).at(-1)
        assert.equal(notice?.fromId, stage.me.id)
        assert.notEqual(notice?.kind, 'user')
        no(await stage.bot.get(`/chats/${chatId}`), 'chat_not_found')
        no(await stage.bot.post(`/chats/${chatId}/leave`), 'chat_not_found')
      }
    },
  },
  'a private chat cannot be left': {
    proves: ['leave-private', 'error bad_request'],
    needs: ['private chat', 'people'],
    run: inPrivateChat(async (stage, chatId) => {
      no(await stage.bot.post(`/chats/${chatId}/leave`), 'bad_request')
      ok(await stage.bot.get(`/chats/${chatId}`))
    }),
  },
})
