import { expect, test } from 'vitest'
import { shownChat } from '../support/double-sends.ts'
import { canary, useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { no } from '../support/double-wire.ts'
import { until } from '../support/sidecar.ts'
import { expectRefused, expectSettled, keysOf, metricOf, rotate, shownBy } from './support.ts'

const FOREIGN = 'ab'.repeat(20)
const stage = useStage()
let chat: DoubleChat

const puts = () => stage.double.calls('PUT', '/key').length
const situation = (name: string) =>
  metricOf(stage.sidecar, `postern_key_situation{situation="${name}"}`)

/** Lets the service show another fingerprint than was put last; null for none. */
function show(fingerprint: string | null): void {
  const mode = fingerprint === null ? 'open' : 'protected'
  stage.double.world.bot = { ...stage.double.world.bot, mode, fingerprint }
}

/** The bot's own look at `/me`, which tells the sidecar at once. */
const look = () => stage.sidecar.call('GET', '/me')

test('a sidecar publishes the active key again when the service shows a retired one', async () => {
  chat = await shownChat(stage, await stage.friend())
  const old = shownBy(stage)
  const active = await rotate(stage)
  const since = puts()
  show(old)
  await look()
  await until(() => shownBy(stage) === active, 'the active one is shown again')
  await stage.sidecar.whenReady()
  expect(puts() - since).toBe(1)
  expect(stage.double.calls('PUT', '/key').at(-1)?.json.fingerprint).toBe(active)
  await expectSettled(stage, { retired: 1 })
})

test('a sidecar is unready while the service shows a retired key and refuses the active one', async () => {
  const [active, old] = await keysOf(stage.sidecar)
  const rule = stage.double.script('PUT', '/key', no(403, 'forbidden'))
  show(old?.fingerprint ?? null)
  await look()
  await stage.sidecar.whenReason('key-unpublished')
  await until(async () => (await situation('older')) === 1, 'the metric says so')
  const words = canary()
  expect((await stage.send(chat, words)).json.error.code).toBe('postern_key_unpublished')
  stage.expectNowhere(words)
  rule[Symbol.dispose]()
  await stage.sidecar.whenReady()
  expect(shownBy(stage)).toBe(active?.fingerprint)
})

test.each([
  ['foreign', FOREIGN, 'key-conflict', 'postern_key_conflict', /--replace/],
  ['none', null, 'bot-unprotected', 'postern_bot_unprotected', /hint/],
] as const)(
  'a sidecar publishes and rotates nothing while the service shows %s, and recovers by itself',
  async (name, shown, reason, code, hint) => {
    const before = shownBy(stage)
    const since = puts()
    show(shown)
    await look()
    await stage.sidecar.whenReason(reason)
    expect(await situation(name)).toBe(1)
    expectRefused(await stage.sidecar.postern('key', 'rotate'), code, hint)
    expect((await keysOf(stage.sidecar)).filter(({ state }) => state === 'pending')).toEqual([])
    show(before)
    await stage.sidecar.whenReady()
    expect(puts()).toBe(since)
  },
)
