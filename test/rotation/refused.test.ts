import { beforeEach, expect, test } from 'vitest'
import { expectSealed, postern } from '../support/double-sends.ts'
import { useStage } from '../support/double-stage.ts'
import type { DoubleChat } from '../support/double-world.ts'
import { no } from '../support/double-wire.ts'
import { spawnPostern } from '../support/postern-process.ts'
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

const stage = useStage()
let chat: DoubleChat

beforeEach(async () => {
  chat ??= stage.privateChat(await stage.friend())
  await stage.show(chat)
})

test('a refused publication leaves the old key published, and the sidecar ready', async () => {
  const before = shownBy(stage)
  const more = { headers: { 'retry-after': '3' }, error: { retryAfter: 60 } }
  using _rule = stage.double.script('PUT', '/key', no(429, 'rate_limited', more))
  const done = await stage.sidecar.postern('key', 'rotate')
  expectRefused(done, 'failed', /not finished: .*rate_limited/)
  expect(done.stderr).toMatch(/hint: .*--watch.*--abandon/)
  expect(shownBy(stage)).toBe(before)
  expect((await stage.sidecar.readiness()).reasons).toEqual([])
  const { phone } = await stage.friend()
  const { signer } = await phone.open(await expectSealed(stage, chat, []), stage.botCertificate)
  expect(signer).toBe(before)
  expect(await rotationOf(stage.sidecar)).toMatchObject({ phase: 'waiting', from: before })
  expect(await metricOf(stage.sidecar, 'postern_rotations_total{outcome="refused"}')).not.toBe(0)
})

test('`key rotate --abandon` deletes the refused new key', async () => {
  const before = shownBy(stage)
  const pending = (await keysOf(stage.sidecar)).find(({ state }) => state === 'pending')
  expect(await postern(stage, 'key', 'rotate', '--abandon')).toContain(`abandoned; ${before}`)
  const keys = await keysOf(stage.sidecar)
  expect(keys.map(({ fingerprint }) => fingerprint)).not.toContain(pending?.fingerprint)
  await expectSettled(stage, { retired: 0 })
  expect(await rotationOf(stage.sidecar)).toMatchObject({ phase: 'abandoned' })
})

/** `key rotate --watch` in a process of its own, with all that it has printed so far. */
function watch(...flags: string[]) {
  const args = ['key', 'rotate', '--watch', '--data-dir', stage.sidecar.dataDir, ...flags]
  const child = spawnPostern(args, { cwd: process.cwd(), env: {} })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (piece: Buffer) => (output += piece.toString()))
  }
  const ended = new Promise((resolve) => child.on('close', resolve))
  return { child, ended, output: () => output }
}

test('`key rotate --watch` follows a waiting rotation to its end', async () => {
  const rule = stage.double.script('PUT', '/key', no(403, 'forbidden'))
  const { ended, output } = watch('--json')
  await until(() => output().includes('"phase":"waiting"'), 'the command prints that it waits')
  rule[Symbol.dispose]()
  // a further request has the rotation under way tried at once
  await rotate(stage)
  expect(await ended, output()).toBe(0)
  expect(
    output()
      .match(/"phase":"\w+"/g)
      ?.at(-1),
  ).toBe('"phase":"done"')
  await expectSettled(stage, { retired: 1 })
})

test('an interrupted `key rotate --watch` leaves the rotation running', async () => {
  const rule = stage.double.script('PUT', '/key', no(403, 'forbidden'))
  const { child, ended, output } = watch()
  await until(() => output().includes('waiting'), 'the command prints that it waits')
  child.kill('SIGINT')
  expect([await ended, output()]).toEqual([0, expect.stringContaining('goes on in the background')])
  rule[Symbol.dispose]()
  await rotate(stage)
  await expectSettled(stage, { retired: 2 })
})
