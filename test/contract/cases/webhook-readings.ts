import assert from 'node:assert/strict'
import { casesOf, type Case } from '../case.ts'
import { ok, okFields } from '../expect.ts'
import { createReceiver, type Receiver } from '../receiver.ts'
import type { Stage } from '../stage.ts'

const HOUR_MS = 3_600_000

/** Sets the receiver as the bot's webhook, and lets alice write once. */
async function begin(stage: Stage, { url }: Receiver): Promise<void> {
  ok(await stage.bot.post('/webhook', { url }))
  await stage.alice.write(await stage.privateChat(), stage.words())
}

const DELIVERIES = casesOf('Events', [
  {
    name: 'over a long time a failing webhook is tried at each of its times',
    proves: ['webhook-backoff'],
    run: async (stage) => {
      await using receiver = await createReceiver()
      receiver.answers.push(500, 500, 500, 500)
      await begin(stage, receiver)
      await stage.advance(10_000)
      assert.equal(receiver.deliveries.length, 4, 'at once, and after 1, 3 and 7 seconds')
      const { failures } = okFields(await stage.bot.get('/webhook'))
      assert.equal(failures, 4)
    },
  },
  {
    name: 'failures outlast an update that expired, until a delivery succeeds',
    proves: ['webhook-queues', 'webhook-info-fields'],
    run: async (stage) => {
      await using receiver = await createReceiver()
      receiver.answers.push(...Array.from({ length: 200 }, () => 500))
      await begin(stage, receiver)
      await stage.advance(72 * HOUR_MS + 1000)
      const expired = okFields(await stage.bot.get('/webhook'))
      assert.equal(expired['pending'], 0)
      assert.ok(Number(expired['failures']) > 70)
      assert.equal(typeof expired['lastError'], 'string')
      receiver.answers.length = 0
      await stage.alice.write(await stage.privateChat(), stage.words())
      await stage.advance(HOUR_MS)
      const { failures, lastError, pending } = okFields(await stage.bot.get('/webhook'))
      assert.deepEqual(
        { failures, lastError, pending },
        { failures: 0, lastError: null, pending: 0 },
      )
    },
  },
  {
    name: 'a webhook goes on after the token was revoked',
    proves: ['revoke-burns', 'webhook-delivery'],
    run: async (stage) => {
      await using receiver = await createReceiver()
      ok(await stage.bot.post('/webhook', { url: receiver.url }))
      ok(await stage.bot.post('/token/revoke'))
      await stage.alice.write(await stage.privateChat(), stage.words())
      await stage.advance(0)
      assert.equal(receiver.deliveries.length, 1)
    },
  },
])

/** How the sandbox reads what the specification leaves open of deliveries. */
export const WEBHOOK_READINGS: readonly Case[] = DELIVERIES.map((one) => ({
  ...one,
  needs: ['people', 'private chat', 'owner', 'clock'],
  webhooks: 'local',
  only: { ways: ['direct'], because: 'a sidecar delivers by itself, with the token' },
}))
