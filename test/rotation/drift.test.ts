import { expect, test } from 'vitest'
import { canary, useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { no } from '../support/double-wire.ts'
import { until } from '../support/sidecar.ts'
import {
  expectRefused,
  expectSettled,
  keysOf,
  metricOf,
  rotate,
  rotationOf,
  shownBy,
} from './support.ts'

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

test('older, found at a start: the same', async () => {
  const [active, old] = await keysOf(stage.sidecar)
  await stage.sidecar.stop()
  show(old?.fingerprint ?? null)
  await stage.restart()
  await stage.sidecar.whenReady()
  await until(() => shownBy(stage) === active?.fingerprint, 'the active one is shown again')
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

test('foreign: nothing is published over it, no rotation begins, and it turns back by itself', async () => {
  const before = shownBy(stage)
  const since = puts()
  show(FOREIGN)
  await look()
  await stage.sidecar.whenReason('key-conflict')
  expect(await situation('foreign')).toBe(1)
  expectRefused(await stage.sidecar.postern('key', 'rotate'), 'postern_key_conflict', /--replace/)
  expect((await keysOf(stage.sidecar)).filter(({ state }) => state === 'pending')).toEqual([])
  show(before)
  await stage.sidecar.whenReady()
  expect(puts()).toBe(since)
})

test('none: the owner removed it; no rotation puts one back, and it turns back by itself', async () => {
  const before = shownBy(stage)
  const since = puts()
  show(null)
  await look()
  await stage.sidecar.whenReason('bot-unprotected')
  expect(await situation('none')).toBe(1)
  expectRefused(await stage.sidecar.postern('key', 'rotate'), 'postern_bot_unprotected', /hint/)
  show(before)
  await stage.sidecar.whenReady()
  expect(puts()).toBe(since)
})

test.each([
  ['foreign', FOREIGN, 'key-conflict'],
  ['none', null, 'bot-unprotected'],
] as const)(
  'a rotation that waits stands still while the service shows %s, and goes on when that is over',
  async (_name, shown, reason) => {
    const before = shownBy(stage)
    const rule = stage.double.script('PUT', '/key', no(403, 'forbidden'))
    const begun = await stage.sidecar.postern('key', 'rotate')
    expect(begun.code).toBe(1)
    rule[Symbol.dispose]()
    const since = puts()
    show(shown)
    await look()
    await stage.sidecar.whenReason(reason)
    await stage.sidecar.postern('key', 'rotate', '--json')
    await until(async () => (await rotationOf(stage.sidecar))?.phase === 'waiting', 'it waits')
    await stage.sidecar.again().then((sidecar) => (stage.sidecar = sidecar))
    await stage.sidecar.whenReason(reason)
    expect(puts()).toBe(since)
    show(before)
    await stage.sidecar.whenReady()
    expect(shownBy(stage)).not.toBe(before)
    await expectSettled(stage, { retired: (await keysOf(stage.sidecar)).length - 1 })
  },
)

test('pending: the service shows the key of a rotation that had lost track, and it is promoted', async () => {
  const rule = stage.double.script('PUT', '/key', no(500, 'internal'))
  await stage.sidecar.postern('key', 'rotate')
  rule[Symbol.dispose]()
  const since = puts()
  const pending = (await keysOf(stage.sidecar)).find(({ state }) => state === 'pending')
  show(pending?.fingerprint ?? null)
  await look()
  await until(async () => (await rotationOf(stage.sidecar))?.phase === 'done', 'it is done')
  expect(puts()).toBe(since)
  await expectSettled(stage, { retired: (await keysOf(stage.sidecar)).length - 1 })
  expect((await stage.send(chat, 'by the new one')).status).toBe(201)
})
