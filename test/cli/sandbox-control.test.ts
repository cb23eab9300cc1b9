import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/sandbox/create.ts'
import { runInProcess } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await createSandbox()
})
afterAll(() => sandbox[Symbol.asyncDispose]())

const run = (line: string, env: Record<string, string> = {}) =>
  runInProcess(['sandbox', ...line.split(' ')], env)
const names = (): string[] => sandbox.people.map(({ username }) => username)

describe('`sandbox reset`, `snapshot` and `restore`', () => {
  test('`sandbox snapshot`, `restore` and `reset` restore the world, and print the name of a snapshot', async () => {
    const at = `--control ${sandbox.controlUrl}`
    await sandbox.control.addPerson({ username: 'carol' })
    expect(await run(`snapshot before ${at}`)).toEqual({ code: 0, stdout: 'before\n', stderr: '' })
    await sandbox.control.addPerson({ username: 'dave' })
    expect(await run(`restore before ${at}`)).toMatchObject({ code: 0, stdout: '' })
    expect(names()).toEqual(['alice', 'bob', 'carol'])
    expect(await run(`snapshot ${at}`)).toMatchObject({ code: 0, stdout: 'snapshot-1\n' })
    expect(await run(`reset ${at}/`)).toMatchObject({ code: 0, stdout: '' })
    expect(names()).toEqual(['alice', 'bob'])
  })

  test('`sandbox restore` uses the control URL of the environment, and a world by its own URL', async () => {
    const world = await sandbox.control.addWorld({ name: 'one' })
    const env = { POSTERN_SANDBOX_CONTROL: world.controlUrl }
    expect(await run('snapshot here', env)).toMatchObject({ code: 0, stdout: 'here\n' })
    expect(await run('restore here', env)).toMatchObject({ code: 0 })
    const elsewhere = await run(`restore here --control ${sandbox.controlUrl}`, env)
    expect(elsewhere.code).toBe(1)
    expect(elsewhere.stderr).toContain('there is no snapshot here')
  })

  test.each([
    ['reset', {}, 2, 'no sandbox is named, and none of yours runs'],
    ['reset --control nonsense', {}, 2, 'is no URL'],
    ['reset --control javascript:x', {}, 2, 'is no URL with http:// or https://'],
    ['reset', { POSTERN_SANDBOX_CONTROL: 'file:///tmp' }, 2, 'is no URL with http:// or https://'],
    ['restore', { POSTERN_SANDBOX_CONTROL: 'http://127.0.0.1:9' }, 2, 'name'],
    ['reset --control http://127.0.0.1:9', {}, 1, 'no sandbox answers at http://127.0.0.1:9'],
    ['rest', {}, 2, 'rest'],
  ])('`sandbox %s` is refused with a hint', async (line, env, code, message) => {
    const ran = await run(line, env)
    expect([ran.code, ran.stdout]).toEqual([code, ''])
    expect(ran.stderr).toContain(message)
    expect(ran.stderr).toContain('hint: ')
  })

  test('`sandbox snapshot` and `reset` print the refusal of a sandbox and of another server', async () => {
    const bad = await run(`snapshot a/b --control ${sandbox.controlUrl}`)
    expect([bad.code, bad.stdout]).toEqual([1, ''])
    expect(bad.stderr).toContain('must be 1 to 64 of')
    const gone = await run(`reset --control ${sandbox.controlUrl}/worlds/none`)
    expect(gone.stderr).toContain('no such world')
    const api = await run(`reset --control ${sandbox.url}`)
    expect([api.code, api.stdout]).toEqual([1, ''])
  })
})
