import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { observableState, copyAsLeftByKill } from '../sandbox/world-file.ts'
import { SandboxDriver } from './ways/sandbox-driver.ts'
import { testAll } from './ways/tests.ts'

const folder = mkdtempSync(join(tmpdir(), 'postern-contract-'))
// before the driver’s own end, which `testAll` registers: hooks run in reverse
afterAll(() => rmSync(folder, { recursive: true, force: true }))

testAll(new SandboxDriver('direct', { folder }))

test('the file after all cases reads as the same world twice', async () => {
  const read = async () => {
    await using sandbox = await createSandbox({
      data: copyAsLeftByKill(join(folder, 'public.world')),
    })
    const { bots, chats } = await observableState(sandbox)
    expect(chats.length).toBeGreaterThan(10)
    return { bots, chats }
  }
  expect(await read()).toEqual(await read())
})
