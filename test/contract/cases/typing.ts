import assert from 'node:assert/strict'
import { casesOf, inGroup } from '../case.ts'
import { no, okFields } from '../expect.ts'
import { say } from '../steps.ts'
import type { Stage } from '../stage.ts'

async function sent(stage: Stage, chatId: number, body?: object): Promise<unknown> {
  return okFields(await stage.bot.post(`/chats/${chatId}/typing`, body))['sent']
}

export const TYPING = casesOf('POST /chats/{chatId}/typing', {
  'a typing indicator is sent with or without a body': {
    proves: ['endpoint sendTyping', 'typing-body'],
    needs: ['group', 'private chat', 'clock'],
    run: async (stage) => {
      assert.equal(await sent(stage, await stage.group()), true)
      assert.equal(await sent(stage, await stage.privateChat(), { typing: true }), true)
      assert.equal(await sent(stage, await stage.room(), {}), true)
    },
  },
  'a second typing indicator in a chat within 3 seconds is not sent': {
    proves: ['typing-once', 'limit typingIntervalMs'],
    needs: ['group', 'private chat', 'clock'],
    run: inGroup(async (stage, chatId) => {
      assert.equal(await sent(stage, chatId), true)
      assert.equal(await sent(stage, chatId), false)
      assert.equal(await sent(stage, await stage.privateChat()), true)
      await stage.advance(stage.limits.typingIntervalMs - 1)
      assert.equal(await sent(stage, chatId), false)
      await stage.advance(1)
      assert.equal(await sent(stage, chatId), true)
    }),
  },
  'phones show a typing indicator until a message, `typing: false` or a few seconds': {
    proves: ['typing-clears', 'typing-body'],
    needs: ['people', 'group', 'clock'],
    run: inGroup(async (stage, chatId) => {
      const shown = () => stage.alice.showsTyping(chatId)
      const ends = [
        () => say(stage, chatId),
        async () => assert.equal(await sent(stage, chatId, { typing: false }), true),
        async () => stage.advance(10_000),
      ]
      assert.equal(await shown(), false)
      for (const end of ends) {
        assert.equal(await sent(stage, chatId), true)
        assert.equal(await shown(), true)
        await end()
        assert.equal(await shown(), false)
        await stage.advance(stage.limits.typingIntervalMs)
      }
    }),
  },
  'a typing call answers with `sent` as a boolean': {
    proves: ['endpoint sendTyping'],
    needs: ['group'],
    run: async (stage) => {
      assert.equal(typeof (await sent(stage, await stage.group())), 'boolean')
    },
  },
  'a typing call of a restricted bot, and of a channel subscriber, is forbidden': {
    proves: ['error forbidden'],
    needs: ['rooms'],
    run: async (stage) => {
      const group = await stage.room()
      await stage.setMembership(group, stage.me.id, { status: 'restricted' })
      for (const chatId of [group, await stage.room({ kind: 'channel' })]) {
        no(await stage.bot.post(`/chats/${chatId}/typing`), 'forbidden')
      }
    },
  },
  'a typing call with a wrong body is a bad request, in an unknown chat chat_not_found': {
    proves: ['typing-body', 'error chat_not_found'],
    needs: ['group'],
    run: inGroup(async (stage, chatId) => {
      no(await stage.bot.post(`/chats/${chatId}/typing`, { typing: 'yes' }), 'bad_request')
      no(await stage.bot.post('/chats/1/typing'), 'chat_not_found')
    }),
  },
})
