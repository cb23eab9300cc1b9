import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { useStage } from '../support/double-stage.ts'
import { spawnPostern } from '../support/postern-process.ts'
import { until } from '../support/sidecar.ts'
import { changeSealed, expectSettled, keysOf, metricOf, rotationOf } from './support.ts'

const DAY_MS = 86_400_000
const stage = useStage({ env: { POSTERN_KEY_ROTATE_EVERY_DAYS: '7' } })

/** Lets the published key be as old as that, and starts anew. */
async function restartWithAge(days: number): Promise<void> {
  await stage.sidecar.stop()
  const at = Date.now() - days * DAY_MS
  await changeSealed(stage.sidecar.dataDir, 'own_keys', { published_at: at }, { state: 'active' })
  await stage.restart()
}

function watched(args: string[]): { stdout: Readable; closed: Promise<unknown> } {
  const child = spawnPostern(args, { cwd: process.cwd(), env: {} })
  if (child.stdout === null) throw new Error('no stdout')
  return { stdout: child.stdout, closed: once(child, 'close') }
}

/** A command that rotates, and when it has said its first word. */
function watching(dataDir: string): { joined: Promise<unknown>; ended: Promise<string> } {
  const args = ['key', 'rotate', '--json', '--data-dir', dataDir]
  const { stdout, ...child } = watched(args)
  let output = ''
  stdout.on('data', (piece: Buffer) => (output += piece.toString()))
  return { joined: once(stdout, 'data'), ended: child.closed.then(() => output) }
}

const puts = () => stage.double.calls('PUT', '/key').length

test('a planned rotation and three `key rotate` commands at once are one rotation', async () => {
  const held = Promise.withResolvers<void>()
  const rule = stage.double.script('PUT', '/key', async () => {
    await held.promise
    return undefined
  })
  const [keys, since] = [(await keysOf(stage.sidecar)).length, puts()]
  await restartWithAge(8)
  await until(() => puts() > since, 'the planned one is at the service')
  const commands = [1, 2, 3].map(() => watching(stage.sidecar.dataDir))
  await Promise.all(commands.map(({ joined }) => joined))
  held.resolve()
  const shown = await Promise.all(commands.map(({ ended }) => ended))
  rule[Symbol.dispose]()
  const made = new Set(shown.map((text) => /"to":"(\w+)"/.exec(text)?.[1]))
  expect([...made]).toEqual([expect.stringMatching(/^\w{40}$/)])
  await until(async () => (await rotationOf(stage.sidecar))?.phase === 'done', 'it is done')
  expect([(await keysOf(stage.sidecar)).length, puts()]).toEqual([keys + 1, since + 1])
  await expectSettled(stage, { retired: keys })
})

test('no key is made while the clocks are too far apart, neither planned nor by `key rotate`', async () => {
  const before = (await keysOf(stage.sidecar)).length
  const wrong = () => ({ date: new Date(Date.now() + 600_000).toUTCString() })
  const rule = stage.double.script('GET', '/me', () => ({
    headers: wrong(),
    json: { ok: true, result: stage.double.world.bot },
  }))
  await restartWithAge(10)
  await stage.sidecar.whenReason('clock')
  const name = 'postern_rotations_total{outcome="not-made"}'
  await until(async () => (await metricOf(stage.sidecar, name)) > 0, 'the plan was tried')
  const done = await stage.sidecar.postern('key', 'rotate')
  expect(done.code).toBe(1)
  expect(done.stderr).toMatch(/our clock is \d+ s behind.*\nhint: set this machine’s clock/)
  expect((await keysOf(stage.sidecar)).length).toBe(before)

  rule[Symbol.dispose]()
  await restartWithAge(0)
  await stage.sidecar.whenReady()
  await expectSettled(stage, { retired: before - 1 })
})
