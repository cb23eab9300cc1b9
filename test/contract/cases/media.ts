import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { casesOf } from '../case.ts'
import type { Answer } from '../client.ts'
import { list, no, ok, type Fields } from '../expect.ts'
import { onlyMessage, say } from '../steps.ts'
import type { Stage } from '../stage.ts'

const STORED = {
  ways: ['direct'] as const,
  because: 'the bot never sees ciphertext that is for it, which a case of its own states',
}
const OPENED = {
  ways: ['protected'] as const,
  because: 'only the sidecar with a key opens files and asks for a right to them',
}

/** OpenPGP packets: the first of each kind that a sealed file is made of (RFC 9580, 5). */
const RECIPIENT = 1
const CONTAINER = 18

/** The file of a media item, fetched without a token. */
const fetched = (stage: Stage, item: Fields | undefined): Promise<Answer> =>
  stage.bot.get(String(item?.['url']), { outside: true, token: null })

/** The one media item of the one message that is queued. */
async function onlyItem(stage: Stage): Promise<Fields> {
  const items = list((await onlyMessage(stage))['media'])
  assert.equal(items.length, 1)
  return items[0] ?? {}
}

/** Tags of the packets before the container, and the container's own. */
function tagsOf(bytes: Buffer): number[] {
  const tags: number[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = bytes.readUInt8(at) & 0x3f
    assert.equal(bytes.readUInt8(at) & 0xc0, 0xc0, 'a packet in the new format')
    tags.push(tag)
    if (tag === CONTAINER) return tags
    const length = bytes.readUInt8(at + 1)
    assert.ok(length < 192, 'a recipient packet is short')
    at += 2 + length
  }
  return tags
}

export const MEDIA = casesOf('GET /media/{id}', {
  'a file of a readable chat has an address and is served as stored, without a token': {
    proves: ['media-public', 'media-item', 'message-media'],
    needs: ['people', 'rooms', 'owner'],
    run: async (stage) => {
      await stage.owner.setPrivacyMode({ on: false })
      const picture = randomBytes(300)
      await stage.alice.send(await stage.room({ readable: true }), picture)
      const item = await onlyItem(stage)
      const [path, query] = String(item['url']).split('?')
      assert.equal(path, `/media/${String(item['id'])}`)
      const entitled = /^chat=-?\d+&from=\d+&key=[\w-]{43}$/
      assert.match(query ?? '', stage.per({ service: /^$/, protected: entitled }))
      for (let turn = 0; turn < 2; turn++) {
        const answer = await fetched(stage, item)
        assert.equal(answer.status, 200)
        assert.ok(picture.equals(answer.body))
      }
    },
  },
  'a file of an encrypted chat is OpenPGP ciphertext for the bot and the writer': {
    proves: ['media-ciphertext', 'media-public'],
    needs: ['people', 'owner'],
    only: STORED,
    run: async (stage) => {
      ok(await stage.bot.put('/key', await stage.key()))
      const picture = randomBytes(3000)
      await stage.alice.send(await stage.privateChat(), picture)
      const { body } = await fetched(stage, await onlyItem(stage))
      assert.deepEqual(tagsOf(body), [RECIPIENT, RECIPIENT, CONTAINER], 'the bot and the writer')
      assert.ok(!body.includes(picture.subarray(100, 132)))
    },
  },
  'a file of an encrypted group is sealed to the key list, without a bot in privacy mode': {
    proves: ['media-privacy'],
    needs: ['people', 'rooms', 'owner'],
    only: STORED,
    run: async (stage) => {
      ok(await stage.bot.put('/key', await stage.key()))
      const chatId = await stage.room({ readable: false })
      const people = 2
      for (const [on, recipients] of [
        [true, people],
        [false, people + 1],
      ] as const) {
        await stage.owner.setPrivacyMode({ on })
        const text = `${stage.words()} @${stage.me.username}`
        await stage.bob.send(chatId, randomBytes(3000), { text })
        const message = await onlyMessage(stage)
        assert.ok('armored' in message, 'the words are for the bot in any case')
        const [item] = list(message['media'])
        const { body } = await fetched(stage, item)
        const sealedTo = tagsOf(body).filter((tag) => tag === RECIPIENT)
        assert.equal(sealedTo.length, recipients)
        ok(await stage.bot.get('/updates?offset=999999999999'))
      }
    },
  },
  'timed media has a duration in milliseconds': {
    proves: ['media-duration'],
    needs: ['people', 'rooms', 'private chat'],
    run: async (stage) => {
      const chatId = await stage.room({ readable: true })
      const replyTo = await say(stage, chatId)
      await stage.alice.send(chatId, randomBytes(50), { replyTo, durationMs: 61_234 })
      const item = await onlyItem(stage)
      assert.ok(Object.values(item).includes(61_234), 'under some name')
    },
  },
  'the sidecar serves a file of an encrypted chat decrypted, to the holder of its url or token': {
    proves: [],
    needs: ['people', 'rooms', 'owner'],
    only: OPENED,
    run: async (stage) => {
      for (const chatId of [await stage.privateChat(), await stage.room({ readable: false })]) {
        await stage.owner.setPrivacyMode({ on: false })
        const picture = randomBytes(3000)
        await stage.alice.send(chatId, picture)
        const item = await onlyItem(stage)
        const answer = await fetched(stage, item)
        assert.equal(answer.status, 200)
        assert.ok(picture.equals(answer.body))
        const [path = ''] = String(item['url']).split('?')
        const byToken = await stage.bot.get(path, { outside: true })
        assert.ok(picture.equals(byToken.body))
        no(await stage.bot.get(path, { outside: true, token: null }), 'unauthorized')
        ok(await stage.bot.get('/updates?offset=999999999999'))
      }
    },
  },
  'an attachment that is not sealed to the bot answers postern_not_recipient': {
    proves: [],
    needs: ['people', 'rooms', 'owner'],
    only: OPENED,
    run: async (stage) => {
      const chatId = await stage.room({ readable: false })
      await stage.owner.setPrivacyMode({ on: true })
      const text = `${stage.words()} @${stage.me.username}`
      await stage.bob.send(chatId, randomBytes(3000), { text })
      no(await fetched(stage, await onlyItem(stage)), 'postern_not_recipient')
    },
  },
  'an unknown file answers media_not_found': {
    proves: ['media-unknown', 'error media_not_found'],
    run: async (stage) => {
      const { bot } = stage
      no(await bot.get('/media/nothing', { outside: true }), 'media_not_found')
      no(
        await bot.get('/media/nothing', { outside: true, token: null }),
        stage.per<'media_not_found' | 'unauthorized'>({
          service: 'media_not_found',
          protected: 'unauthorized',
        }),
      )
    },
  },
})
