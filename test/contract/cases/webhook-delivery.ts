import assert from 'node:assert/strict'
import { type Case, casesOf } from '../case.ts'
import { at, ok, okFields, type Fields } from '../expect.ts'
import { createReceiver, type Receiver } from '../receiver.ts'
import { received, until, written } from '../steps.ts'
import type { Stage } from '../stage.ts'

const HOUR_MS = 3_600_000

/** Sets the receiver as the bot's webhook. */
const set = async (stage: Stage, { url }: Receiver, more: object = {}) =>
  okFields(await stage.bot.post('/webhook', { url, ...more }))

/** `GET /webhook`, once it is as expected. */
const info = (stage: Stage, isSo: (info: Fields) => boolean): Promise<Fields> =>
  until(async () => okFields(await stage.bot.get('/webhook')), isSo)

const failed = (stage: Stage, count: number): Promise<Fields> =>
  info(stage, ({ failures }) => failures === count)

const wordsOf = ({ deliveries }: Receiver): unknown[] =>
  deliveries.map(({ body }) => at(JSON.parse(body), 'message.text'))

/** Sets the receiver; then alice writes. */
async function begin(stage: Stage, receiver: Receiver, count = 1): Promise<string[]> {
  await set(stage, receiver)
  return await written(stage, count)
}

const DELIVERIES = casesOf('Events', {
  'a webhook receives updates one by one in order, with user agent and secret': {
    proves: [
      'webhook-delivery',
      'webhook-agent',
      'auth-webhook-secret',
      'delivery: pending -> delivered (2xx within 10 s)',
    ],
    run: async (stage) => {
      await using receiver = await createReceiver()
      const texts = await written(stage, 2)
      await set(stage, receiver, { secret: 'top-secret_1' })
      texts.push(...(await written(stage, 1)))
      await receiver.until(3)
      assert.deepEqual(wordsOf(receiver), texts)
      for (const { method, path, headers } of receiver.deliveries) {
        assert.equal(method, 'POST')
        assert.equal(path, '/hook')
        assert.match(headers['content-type'] ?? '', /^application\/json\b/)
        assert.equal(headers['user-agent'], 'Service-Bot-Api/1')
        assert.equal(headers['x-service-bot-api-secret-token'], 'top-secret_1')
      }
      const bodies = receiver.deliveries.map(({ body }) => JSON.parse(body) as Fields)
      const ids = bodies.map(({ updateId }) => Number(updateId))
      assert.deepEqual(
        ids,
        ids.toSorted((a, b) => a - b),
      )
      const { failures, lastError } = await info(stage, ({ pending }) => pending === 0)
      assert.deepEqual({ failures, lastError }, { failures: 0, lastError: null })
    },
  },
  'a webhook without a secret has no secret header, and any 2xx confirms a delivery': {
    proves: ['webhook-2xx', 'auth-webhook-secret'],
    run: async (stage) => {
      await using receiver = await createReceiver([204, 299])
      await begin(stage, receiver, 2)
      await info(stage, ({ pending }) => pending === 0)
      assert.equal(receiver.deliveries.length, 2)
      const [first] = receiver.deliveries
      assert.ok(!('x-service-bot-api-secret-token' in (first?.headers ?? {})))
    },
  },
  'a failed webhook delivery is repeated before others, after 1, 2 and 4 seconds': {
    proves: [
      'webhook-backoff',
      'webhook-2xx',
      'limit webhookBackoffFirstMs',
      'delivery: pending -> pending (failure, backoff)',
      'webhook-info-fields',
    ],
    run: async (stage) => {
      await using receiver = await createReceiver([500, 404, 199 + 201])
      const [first, second] = await begin(stage, receiver, 2)
      for (const [index, waitMs] of [1000, 2000, 4000].entries()) {
        const { lastError, pending } = await failed(stage, index + 1)
        assert.equal(typeof lastError, 'string')
        assert.equal(pending, 2)
        await stage.advance(waitMs - 1)
        ok(await stage.bot.get('/webhook'))
        assert.equal(receiver.deliveries.length, index + 1)
        await stage.advance(1)
        await receiver.until(index + 2)
      }
      await info(stage, ({ pending }) => pending === 0)
      assert.deepEqual(wordsOf(receiver), [first, first, first, first, second])
    },
  },
  '`GET /webhook` shows the time of the next attempt': {
    proves: ['webhook-info-fields'],
    run: async (stage) => {
      await using receiver = await createReceiver([500])
      await begin(stage, receiver)
      const shown = Object.values(await failed(stage, 1))
      assert.ok(shown.includes(stage.now() + 1000), 'in a second, under some name')
    },
  },
  'a redirect by a webhook is a failure and is not followed': {
    proves: ['webhook-redirect'],
    run: async (stage) => {
      await using receiver = await createReceiver([302])
      await begin(stage, receiver)
      await failed(stage, 1)
      assert.deepEqual(
        receiver.deliveries.map(({ path }) => path),
        ['/hook'],
      )
      await stage.advance(1000)
      await receiver.until(2)
    },
  },
  'a webhook without an answer within 10 seconds is a failure': {
    proves: ['webhook-timeout', 'limit webhookAnswerMs'],
    run: async (stage) => {
      await using receiver = await createReceiver([0])
      await begin(stage, receiver)
      await receiver.until(1)
      await stage.advance(9_999)
      assert.equal(okFields(await stage.bot.get('/webhook'))['failures'], 0)
      await stage.advance(1)
      await failed(stage, 1)
    },
  },
  'the retry wait of a webhook doubles up to an hour, and ten failures notify the owner': {
    proves: [
      'webhook-backoff',
      'webhook-told',
      'limit webhookBackoffMaxMs',
      'limit webhookFailuresToNotify',
    ],
    run: async (stage) => {
      await using receiver = await createReceiver(Array.from({ length: 15 }, () => 500))
      const before = (await stage.owner.notices()).length
      // The sidecar cannot notify the owner: it reports to the operator, by log and readiness.
      const expected = stage.per({ service: 1, protected: 0, open: 0 })
      await begin(stage, receiver)
      for (let count = 1; count <= 15; count++) {
        await failed(stage, count)
        assert.equal((await stage.owner.notices()).length - before, count >= 10 ? expected : 0)
        const waitMs = Math.min(1000 * 2 ** (count - 1), HOUR_MS)
        await stage.advance(waitMs - 1)
        ok(await stage.bot.get('/webhook'))
        assert.equal(receiver.deliveries.length, count)
        await stage.advance(1)
        await receiver.until(count + 1)
      }
      await info(stage, ({ pending, failures }) => pending === 0 && failures === 0)
    },
  },
  'updates of a failing webhook stay queued for 72 hours': {
    proves: ['webhook-queues'],
    run: async (stage) => {
      await using receiver = await createReceiver([500])
      await begin(stage, receiver, 3)
      assert.equal((await failed(stage, 1))['pending'], 3)
      ok(await stage.bot.delete('/webhook'))
      assert.equal((await received(stage)).length, 3)
      await stage.advance(72 * HOUR_MS + 1000)
      assert.deepEqual(await received(stage), [])
      assert.equal(receiver.deliveries.length, 1, 'none after it was deleted')
    },
  },
})

/** They need a receiver on this machine, which a sandbox and a sidecar deliver to. */
export const WEBHOOK_DELIVERY: readonly Case[] = DELIVERIES.map((one) => ({
  ...one,
  needs: ['people', 'private chat', 'owner', 'clock'],
  webhooks: 'local',
}))
