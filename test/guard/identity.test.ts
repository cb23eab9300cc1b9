import { expect, test } from 'vitest'
import { arrives, expectSealed, shownChat } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import { BOT_ID } from '../support/double-world.ts'
import { ok } from '../support/double-wire.ts'

const stage = useStage()

/** What `/me` says while the service lies about who the bot is. */
const says = (more: Record<string, unknown>) =>
  stage.double.script('GET', '/me', () => ok({ ...stage.double.world.bot, ...more }))

test('a `/me` with another bot’s id is refused, and the sidecar is unready until it is right again', async () => {
  const limits = { textMax: 7, armoredMax: 100, apiCallsPerMinute: 600, botsPerChat: 20 }
  const person = await stage.person()
  const chat = await shownChat(stage, person)
  {
    using _lie = says({ id: person.id, limits, status: 'paused', fingerprint: null, mode: 'open' })
    const me = await stage.sidecar.call('GET', '/me')
    expect([me.status, me.json.error.code]).toEqual([502, 'postern_upstream_invalid'])
    expect(await stage.sidecar.readiness()).toMatchObject({ status: 503, reasons: ['identity'] })
    // neither its limits nor its key are taken in
    await expectSealed(stage, chat, [person])
    const status = await fetch(`${stage.sidecar.adminUrl}/status`)
    expect(((await status.json()) as { bot: { id: number } }).bot.id).toBe(BOT_ID)
  }
  expect((await stage.sidecar.call('GET', '/me')).status).toBe(200)
  expect((await stage.sidecar.readiness()).status).toBe(200)
})

test('a `/me` with an id of another spelling is refused', async () => {
  for (const id of [String(BOT_ID), [BOT_ID], null, BOT_ID + 0.5]) {
    using _lie = says({ id })
    expect((await stage.sidecar.call('GET', '/me')).status, JSON.stringify(id)).toBe(502)
  }
})

test('a sidecar becomes ready again by its own `/me` after a wrong id', async () => {
  {
    using _lie = says({ id: 4 })
    await stage.sidecar.call('GET', '/me')
    expect((await stage.sidecar.readiness()).status).toBe(503)
  }
  await stage.sidecar.whenReady()
})

test('the bot’s own words are not delivered as another person’s when `/me` has that person’s id', async () => {
  const alice = await stage.person()
  const chat = await shownChat(stage, alice)
  using _lie = says({ id: alice.id })
  await stage.sidecar.call('GET', '/me')
  const armored = await expectSealed(stage, chat, [alice])
  const one = await arrives(stage, chat, alice, armored)
  expect(one).not.toHaveProperty('text')
  expect(one.postern.verdict).not.toBe('verified')
})

test('a sidecar whose first `/me` is another bot’s publishes no key', async () => {
  await using other = await stage.another((double) => {
    double.script('GET', '/me', () => ok({ ...double.world.bot, id: 4 }))
  })
  await other.sidecar.whenReason('identity')
  expect(other.double.calls('PUT', '/key')).toEqual([])
})
