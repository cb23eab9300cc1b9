import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FIXED_LIMITS, LIMITS } from '../../src/api/limits.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'
import { ask, homeScene, send } from './support.ts'
import { temporaryFolder } from './world-file.ts'

const limitsOf = async (at: Pick<Sandbox, 'url' | 'token'>) =>
  (await ask<{ limits: Record<string, unknown> }>(at, 'GET /me')).result.limits

const { markupBytes, commandsPerScope } = FIXED_LIMITS
const OF_SPEC = { ...LIMITS, markupBytes, commandsPerScope }

test('`/me` reports the limits of the specification', async () => {
  const { sandbox } = await homeScene()
  expect(await limitsOf(sandbox)).toEqual(OF_SPEC)
})

test('`/me` reports the limits that were given, further ones too, and the service enforces them', async () => {
  const limits = { textMax: 10, publicKeyMax: 100 }
  const { sandbox, privateChat: chatId } = await homeScene({ limits })
  expect(await limitsOf(sandbox)).toEqual({ ...OF_SPEC, ...limits })
  expect((await send(sandbox, chatId, { text: 'x'.repeat(11) })).error).toMatchObject({
    code: 'bad_request',
    message: 'text: must be at most 10 UTF-16 code units',
  })
})

test.each([
  [{ textmax: 10 }, 'limits.textmax: no such field'],
  [{ textMax: 0 }, 'limits.textMax: Too small: expected number to be >=1'],
  [{ pollLimitMax: 1.5 }, 'limits.pollLimitMax: Invalid input: expected int, received number'],
  [{ urlMax: '9' }, 'limits.urlMax: Invalid input: expected number, received string'],
  [{ requestBytes: 9 }, 'limits.requestBytes: no such field'],
])('`createSandbox` refuses the limits %j', async (limits, message) => {
  const options = { limits } as SandboxOptions
  const hint: unknown = expect.stringContaining('textMax')
  await expect(createSandbox(options)).rejects.toMatchObject({ code: 'usage', message, hint })
})

test('limits of a world are its own', async () => {
  const { sandbox } = await homeScene({ limits: { textMax: 10 } })
  const { url, bots } = await sandbox.control.addWorld({ limits: { urlMax: 9 } })
  const at = { url, token: bots[0]?.token ?? '' }
  expect(await limitsOf(at)).toEqual({ ...OF_SPEC, urlMax: 9 })
})

test('the limits of a seed hold unless the options differ, and go on in a file and after a reset', async () => {
  const data = join(temporaryFolder(), 'a.world')
  const seed = { bots: { echo_bot: {} }, limits: { textMax: 10, urlMax: 9 } }
  const first = { ...OF_SPEC, textMax: 20, urlMax: 9 }
  const reported = async (options: SandboxOptions) => {
    await using sandbox = await createSandbox({ data, world: seed, ...options })
    const at = { url: sandbox.url, token: sandbox.bots[0]?.token ?? '' }
    await sandbox.reset()
    return await limitsOf(at)
  }
  expect(await reported({ limits: { textMax: 20 } })).toEqual(first)
  expect(await reported({})).toEqual(first)
  expect(await reported({ limits: { pollLimitMax: 7 } })).toEqual({ ...first, pollLimitMax: 7 })
})

test('`claim-limits` changes the limits in `/me` alone', async () => {
  const { sandbox, privateChat } = await homeScene({ limits: { textMax: 10 } })
  sandbox.fault('claim-limits', { limits: { textMax: 2.5, botsPerChat: 3 }, times: 1 })
  expect(await limitsOf(sandbox)).toEqual({ ...OF_SPEC, textMax: 2.5, botsPerChat: 3 })
  expect((await send(sandbox, privateChat, { text: 'x'.repeat(10) })).status).toBe(201)
  expect(await limitsOf(sandbox)).toEqual({ ...OF_SPEC, textMax: 10 })
})
