/** The example of a seed, as its readers would use it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { createSandbox } from '../../src/sandbox/create.ts'
import { seedSchema, type SeedInput } from '../../src/sandbox/seed/schema.ts'

const FILE = 'config/examples/sandbox-seed.yaml'
const text = readFileSync(FILE, 'utf8')

test('every scheduled action of the example seed succeeds', async () => {
  const seed = parse(text) as SeedInput
  await using sandbox = await createSandbox({ world: { ...seed, clock: { mode: 'still' } } })
  const { control } = sandbox
  await control.advance({ ms: 3_600_000 })
  expect(await control.schedule({})).toEqual({ left: 0, errors: [] })
  expect(sandbox.chats.map(({ kind, mode }) => `${kind} ${mode}`)).toEqual([
    'private open',
    'private open',
    'group open',
    // it opened its history on the way
    'group open',
    'channel open',
  ])
  const [echo = { id: 0, token: '' }] = sandbox.bots
  const queued = await control.queued({ botId: echo.id })
  expect(queued.map(({ kind }) => kind)).toContain('callback_query')
  expect(echo.token).toBe(`sandbox_${echo.id}.${seed.bots?.['echo_bot']?.tokenSecret}`)
})

test('config/sandbox-seed.schema.json equals the output of `sandbox --seed-schema`', () => {
  const shipped: unknown = JSON.parse(readFileSync('config/sandbox-seed.schema.json', 'utf8'))
  expect(shipped).toEqual(JSON.parse(seedSchema()))
  expect(text).toContain('$schema=../sandbox-seed.schema.json')
})
