import assert from 'node:assert/strict'
import { casesOf } from '../case.ts'
import { at, no, ok, okFields, okList } from '../expect.ts'
import { received, receivedWords, send, written } from '../steps.ts'

export const UPDATES = casesOf('GET /updates', {
  'updates are returned oldest first under growing ids': {
    proves: ['endpoint getUpdates', 'updates-order', 'update-fields', 'event-order'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      const texts = await written(stage, 3)
      const updates = await received(stage)
      assert.deepEqual(
        updates.map((update) => at(update, 'message.text')),
        texts,
      )
      const ids = updates.map(({ updateId }) => Number(updateId))
      assert.ok(ids.every((id, index) => index === 0 || id > Number(ids[index - 1])))
      assert.ok(updates.every(({ kind }) => kind === 'message'))
    },
  },
  'an empty queue is an empty list at once': {
    proves: ['updates-empty'],
    needs: ['owner'],
    run: async ({ bot }) => assert.deepEqual(ok(await bot.get('/updates')), []),
  },
  '`limit` cuts the list of updates, 100 by default and at most, or as reported': {
    proves: ['updates-query', 'updates-order', 'limit pollLimitMax'],
    needs: ['people'],
    run: async (stage) => {
      const { pollLimitMax } = stage.limits
      const most = Math.min(pollLimitMax, 100)
      await stage.queue(pollLimitMax + 1)
      const count = async (query: string) => okList(await stage.bot.get(`/updates${query}`)).length
      assert.equal(await count(''), most)
      assert.equal(await count(`?limit=${pollLimitMax}`), pollLimitMax)
      assert.equal(await count('?limit=1'), 1)
      assert.equal(await count('?limit=7&timeout=0&offset=0'), 7)
    },
  },
  '`offset` deletes the updates below it, and a poll without offset returns the rest again': {
    proves: ['updates-offset', 'updates-no-offset', 'queued update: queued -> deleted (offset)'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      const texts = await written(stage, 3)
      assert.equal((await received(stage)).length, 3)
      const [, second] = await received(stage)
      const id = Number(second?.['updateId'])
      const rest = okList(await stage.bot.get(`/updates?offset=${id}`))
      assert.deepEqual(
        rest.map((update) => at(update, 'message.text')),
        texts.slice(1),
      )
      assert.deepEqual(await receivedWords(stage), texts.slice(1))
      assert.equal(okList(await stage.bot.get('/updates?offset=0')).length, 2)
      assert.equal(okList(await stage.bot.get(`/updates?offset=${id + 2}`)).length, 0)
      assert.deepEqual(await received(stage), [])
    },
  },
  'a poll with a number that is no integer or out of range is a bad request': {
    proves: ['updates-query', 'limit pollLimitMax', 'limit pollTimeoutMaxS'],
    run: async ({ bot, limits }) => {
      const wrong = ['offset=-1', 'limit=0', `limit=${limits.pollLimitMax + 1}`]
      const times = [`timeout=${limits.pollTimeoutMaxS + 1}`, 'timeout=-1', 'timeout=soon']
      for (const query of [...wrong, ...times, 'offset=x', 'offset=1.5', 'limit=1.5']) {
        no(await bot.get(`/updates?${query}`), 'bad_request')
      }
    },
  },
  'a poll waits until an update arrives': {
    proves: ['updates-wait'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      const poll = stage.bot.get('/updates?timeout=50')
      await stage.polling()
      const [texts] = await written(stage, 1)
      assert.equal(at(okList(await poll)[0], 'message.text'), texts)
    },
  },
  'a poll ends with an empty list after its timeout, and not before': {
    proves: ['updates-wait', 'updates-empty', 'limit pollTimeoutMaxS'],
    needs: ['clock'],
    run: async (stage) => {
      const { pollTimeoutMaxS } = stage.limits
      let isOver = false
      const path = `/updates?timeout=${pollTimeoutMaxS}`
      const poll = stage.bot.get(path).finally(() => (isOver = true))
      await stage.polling()
      await stage.advance(pollTimeoutMaxS * 1000 - 1)
      ok(await stage.bot.get('/me'))
      assert.equal(isOver, false)
      await stage.advance(1)
      assert.deepEqual(ok(await poll), [])
    },
  },
  'a second poll ends the first at once with an empty list': {
    proves: ['updates-one-poll'],
    needs: ['people', 'private chat'],
    run: async (stage) => {
      const first = stage.bot.get('/updates?timeout=50')
      await stage.polling()
      const second = stage.bot.get('/updates?timeout=50')
      assert.deepEqual(ok(await first), [])
      await stage.polling()
      const [texts] = await written(stage, 1)
      assert.equal(at(okList(await second)[0], 'message.text'), texts)

      const end = okList(await stage.bot.get('/updates'))[0]?.['updateId']
      const third = stage.bot.get(`/updates?timeout=50&offset=${Number(end) + 1}`)
      await stage.polling()
      assert.deepEqual(await received(stage), [], 'a call that does not wait ends it too')
      assert.deepEqual(ok(await third), [])
    },
  },
})

const HOURS_MS = 3_600_000

export const QUEUE = casesOf('Events', {
  'an update is kept for 72 hours and then dropped': {
    proves: ['event-retention', 'limit retentionMs', 'queued update: queued -> dropped (72 hours)'],
    needs: ['clock', 'people'],
    run: async (stage) => {
      await written(stage, 1)
      await stage.advance(72 * HOURS_MS)
      assert.equal((await received(stage)).length, 1)
      await stage.advance(1)
      assert.deepEqual(await received(stage), [])
    },
  },
  'more than 10 000 unread updates, or as reported, drop the oldest': {
    proves: [
      'event-retention',
      'limit retentionUpdates',
      'queued update: queued -> dropped (10 000 unread)',
    ],
    needs: ['people'],
    run: async (stage) => {
      const { retentionUpdates } = stage.limits
      await stage.queue(retentionUpdates)
      const oldest = async () => okList(await stage.bot.get('/updates?limit=1'))[0]?.['updateId']
      const before = Number(await oldest())
      await stage.queue(2)
      assert.equal(await oldest(), before + 2)
      assert.equal(okFields(await stage.bot.get('/me'))['queued'], retentionUpdates)
    },
  },
  'a bot’s own message is not delivered to it': {
    proves: ['event-not-own'],
    needs: ['people', 'private chat', 'group'],
    run: async (stage) => {
      for (const chatId of [await stage.privateChat(), await stage.group()]) {
        ok(await send(stage, chatId), 201)
      }
      assert.deepEqual(await received(stage), [])
    },
  },
})
