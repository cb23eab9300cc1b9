import { expect, test } from 'vitest'
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

// The tests of this file follow one another.
test('equal: the service shows the active key, and nothing is done', async () => {
  chat = stage.privateChat(await stage.friend())
  await stage.show(chat)
  const since = puts()
  await look()
  expect([await situation('equal'), puts()]).toEqual([1, since])
  expect((await stage.sidecar.readiness()).status).toBe(200)
})

test('older: the service shows an old key of ours, and the active one is published again', async () => {
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

test('older, while the service takes no key: said in /readyz, and private sends wait for it', async () => {
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
  ['foreign: somebody else put one', FOREIGN, 'key-conflict', 'postern_key_conflict', /--replace/],
  ['none: the owner removed it', null, 'bot-unprotected', 'postern_bot_unprotected', /hint/],
] as const)(
  '%s; nothing is published over it, no rotation begins, and it turns back by itself',
  async (name, shown, reason, code, hint) => {
    const before = shownBy(stage)
    const since = puts()
    show(shown)
    await look()
    await stage.sidecar.whenReason(reason)
    expect(await situation(name.split(':')[0] ?? '')).toBe(1)
    expectRefused(await stage.sidecar.postern('key', 'rotate'), code, hint)
    expect((await keysOf(stage.sidecar)).filter(({ state }) => state === 'pending')).toEqual([])
    show(before)
    await stage.sidecar.whenReady()
    expect(puts()).toBe(since)
  },
)
