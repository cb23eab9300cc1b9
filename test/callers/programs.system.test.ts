import { afterAll, beforeAll, expect, test } from 'vitest'
import { has } from '../support/lacks.ts'
import calls from './calls.json' with { type: 'json' }
import { CLIENTS, compareCaller, installCallers, isFromNpm, versionOf } from './clients.ts'

let installed: Awaited<ReturnType<typeof installCallers>> | null = null
beforeAll(async () => {
  installed = await installCallers().catch(() => null)
}, 300_000)
afterAll(() => installed?.[Symbol.asyncDispose]())

test.for(Object.entries(CLIENTS))(
  'every call of %s has the same answer directly and through the sidecar, or a promise',
  { timeout: 300_000 },
  async ([name, client], { skip }) => {
    const isThere = isFromNpm(name)
      ? has(installed !== null, 'the registry of npm is not in reach')
      : has(await versionOf(client).then(Boolean, () => false), `${name} is not installed`)
    skip(!isThere, `${name} is not there`)
    const { same, promised, differing } = await compareCaller(name, installed?.path)
    const expected = calls.filter((one) => 'promise' in one).length
    expect([differing, same, promised]).toEqual([[], calls.length - expected, expected])
  },
)
