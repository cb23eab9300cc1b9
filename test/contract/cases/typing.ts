import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { no, okFields } from '../expect.ts'
import { say } from '../steps.ts'
import type { Stage } from '../stage.ts'

async function sent(stage: Stage, chatId: number, body?: object): Promise<unknown> {
  return okFields(await stage.bot.post(`/chats/${chatId}/typing`, body))['sent']
}

export const TYPING = casesOf('POST /chats/{chatId}/typing', {
  'an indicator goes out, with or without a body': {
    proves: ['endpoint sendTyping', 'typing-body'],
    needs: ['group', 'private chat', 'clock'],
    run: async (stage) => {
      assert.equal(await sent(stage, await stage.group()), true)
      assert.equal(await sent(stage, await stage.privateChat(), { typing: true }), true)
      assert.equal(await sent(stage, await stage.room(), {}), true)
    },
  },
  'at most one goes out per chat every 3 seconds': {
    proves: ['typing-once', 'limit typingIntervalMs'],
    needs: ['group', 'private chat', 'clock'],
    run: async (stage) => {
      const chatId = await stage.group()
      assert.equal(await sent(stage, chatId), true)
      assert.equal(await sent(stage, chatId), false)
      assert.equal(await sent(stage, await stage.privateChat()), true)
      await stage.advance(2999)
      assert.equal(await sent(stage, chatId), false)
      await stage.advance(1)
      assert.equal(await sent(stage, chatId), true)
    },
  },
  'false clears early': {
    proves: ['typing-body'],
    needs: ['group', 'clock'],
    run: async (stage) => {
      const chatId = await stage.group()
      assert.equal(await sent(stage, chatId), true)
      assert.equal(await sent(stage, chatId, { typing: false }), true)
    },
  },
  'phones show it until a message lands, it is cleared, or a few seconds have passed': {
    proves: ['typing-clears', 'typing-body'],
    needs: ['people', 'group', 'clock'],
    run: async (stage) => {
      const chatId = await stage.group()
      const shown = () => stage.alice.showsTyping(chatId)
      const ends = [
        () => say(stage, chatId),
        () => sent(stage, chatId, { typing: false }),
        async () => stage.advance(10_000),
      ]
      assert.equal(await shown(), false)
      for (const end of ends) {
        assert.equal(await sent(stage, chatId), true)
        assert.equal(await shown(), true)
        await end()
        assert.equal(await shown(), false)
        await stage.advance(3000)
      }
    },
  },
  'typing answers whether an indicator went out': {
    proves: ['endpoint sendTyping'],
    needs: ['group'],
    run: async (stage) => {
      assert.equal(typeof (await sent(stage, await stage.group())), 'boolean')
    },
  },
  'a restricted bot and a subscriber of a channel are forbidden to type': {
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
  'a body of the wrong type, and a chat that is not there, are refused': {
    proves: ['typing-body', 'error chat_not_found'],
    needs: ['group'],
    run: async (stage) => {
      const chatId = await stage.group()
      no(await stage.bot.post(`/chats/${chatId}/typing`, { typing: 'yes' }), 'bad_request')
      no(await stage.bot.post('/chats/1/typing'), 'chat_not_found')
    },
  },
})
