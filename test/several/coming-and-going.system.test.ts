/** Bots that come, go, change and break while the others go on. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectControl } from '../../src/operators/client.ts'
import { OperatorError } from '../../src/errors.ts'
import { until } from '../support/sidecar.ts'
import { startStage, type Stage } from './support.ts'

let stage: Stage

beforeAll(async () => {
  stage = await startStage({ bots: ['echo', 'news'] })
  await stage.ready('echo', 'news')
}, 180_000)

afterAll(async () => {
  await stage[Symbol.asyncDispose]()
})

const me = async (name: string): Promise<number> => (await stage.call(name, 'GET', '/me')).status

async function refusalOf(action: () => Promise<unknown>): Promise<OperatorError> {
  const error = await action().then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error instanceof OperatorError) return error
  throw new Error('nothing was refused')
}

test('a bot is served once its file is added and refused once its file is removed, while others keep polling', async () => {
  const poll = stage.call('echo', 'GET', '/updates?timeout=30')
  await stage.write('late')
  expect(await me('late')).toBe(401)
  expect(await stage.several.reload()).toMatchObject({ added: ['late'], removed: [], changed: [] })
  await stage.ready('late')
  expect(await me('late')).toBe(200)

  stage.remove('late')
  expect(await stage.several.reload()).toMatchObject({ added: [], removed: ['late'], changed: [] })
  expect(await me('late')).toBe(401)
  expect((await stage.admin('/readyz?bot=late')).status).toBe(404)
  expect((await stage.admin('/metrics')).text).not.toContain('late')
  const { alice } = stage.sandbox.home
  const chatId = await stage.chatOf('echo')
  await stage.sandbox.control.write({ userId: alice.id, chatId, text: 'still there?' })
  expect((await poll).text).toContain('still there?')
})

test('a bot that is removed and added again keeps its key', async () => {
  const keyOf = async (name: string): Promise<string> => {
    await stage.ready(name)
    return (await stage.admin(`/status?bot=${name}`)).json.key.fingerprint as string
  }
  await stage.add('again')
  const before = await keyOf('again')
  await stage.drop('again')
  await stage.add('again')
  expect(await keyOf('again')).toBe(before)
  await stage.drop('again')
})

test('the open poll of a removed bot ends with an empty list', async () => {
  await stage.add('polls')
  await stage.ready('polls')
  const poll = stage.call('polls', 'GET', '/updates?timeout=30')
  await until(async () => {
    const { text } = await stage.admin('/metrics')
    return text.includes('postern_upstream_connections_busy{pool="polls",bot="polls"} 1')
  }, 'the poll is under way')
  await stage.drop('polls')
  expect(await poll).toMatchObject({ status: 200, json: { ok: true, result: [] } })
})

test('a bot with changed settings restarts, and other bots keep running', async () => {
  const startedAt = async (name: string): Promise<string> =>
    (await stage.admin(`/status?bot=${name}`)).json.startedAt as string
  const before = [await startedAt('echo'), await startedAt('news')]
  await stage.write('news', { open: { verify: 'require' } })
  expect(await stage.several.reload()).toMatchObject({ added: [], removed: [], changed: ['news'] })
  await stage.ready('news')
  expect(await startedAt('echo')).toBe(before[0])
  expect(await startedAt('news')).not.toBe(before[1])
  expect(await me('news')).toBe(200)
})

test('a reload with an invalid bot file reports the error and changes nothing', async () => {
  writeFileSync(join(stage.folder, 'wrong.yaml'), 'listen: {port: 1}\n', { mode: 0o600 })
  const { code, message } = await refusalOf(() => stage.several.reload())
  expect(code).toBe('settings')
  expect(message).toContain('bots.d/wrong.yaml:1:1 bots.wrong.listen: is the same for all bots')
  expect([await me('echo'), await me('news')]).toEqual([200, 200])
  rmSync(join(stage.folder, 'wrong.yaml'))
})

test('a control command reaches the bot that --bot names, and an unknown name is refused', async () => {
  await using echo = await connectControl(stage.dataDir, undefined, 'echo')
  await using news = await connectControl(stage.dataDir, undefined, 'news')
  const ids = [(await echo?.status())?.bot?.id, (await news?.status())?.bot?.id]
  expect(ids).toEqual([stage.ids.get('echo'), stage.ids.get('news')])
  for (const name of [null, 'nobody']) {
    await using other = await connectControl(stage.dataDir, undefined, name)
    const { code, hint } = await refusalOf(async () => other?.keyList())
    expect([code, hint]).toEqual(['usage', 'name one with --bot: echo, news'])
  }
})

test('a bot with a damaged store is reported and retried, and other bots stay ready', async () => {
  await stage.stop()
  const file = join(stage.storeOf('news'), 'postern.db')
  const whole = readFileSync(file)
  writeFileSync(file, Buffer.alloc(whole.length, 7))
  await stage.start()
  await stage.ready('echo')
  await until(() => stage.reasons('news')?.includes('store-corrupt') === true, 'the damage')
  expect(await me('echo')).toBe(200)
  const refused = await stage.call('news', 'GET', '/me')
  expect([refused.status, refused.json.error?.code]).toEqual([503, 'postern_bot_down'])
  expect(refused.headers.get('retry-after')).toBe('5')

  expect((await stage.admin('/readyz?bot=echo')).status).toBe(200)
  const { status, json } = await stage.admin('/readyz?bot=news')
  expect([status, json.reasons[0].code]).toEqual([503, 'store-corrupt'])
  expect((await stage.admin('/status?bot=news')).json).toMatchObject({
    name: 'news',
    ready: false,
    reasons: [{ code: 'store-corrupt' }],
  })
  const all = await stage.admin('/readyz')
  expect(all.status).toBe(503)
  expect(all.json.reasons).toMatchObject([{ bot: 'news', code: 'store-corrupt' }])
  expect((await stage.admin('/metrics')).text).toContain('postern_ready{bot="news"} 0')
  await using control = await connectControl(stage.dataDir, undefined, 'news')
  expect((await refusalOf(async () => control?.keyList())).code).toBe('store-corrupt')
  expect(stage.lines.filter((line) => line['msg'] === 'the bot cannot be started')).toMatchObject([
    { bot: 'news', code: 'store-corrupt' },
  ])

  writeFileSync(file, whole)
  await stage.ready('news')
  expect(await me('news')).toBe(200)
})

test('a damaged store that the operator moves aside is not replaced by an empty store', async () => {
  const folder = stage.storeOf('news')
  const file = join(folder, 'postern.db')
  await stage.stop()
  const whole = readFileSync(file)
  writeFileSync(file, Buffer.alloc(whole.length, 7))
  await stage.start()
  await until(() => stage.reasons('news')?.includes('store-corrupt') === true, 'the damage')
  renameSync(folder, `${folder}.aside`)
  await until(() => stage.reasons('news')?.includes('store-missing') === true, 'that it is gone')
  expect(existsSync(folder)).toBe(false)
  const { json } = await stage.admin('/readyz?bot=news')
  expect(json.reasons[0].hint).toContain('remove the bot and add it again')

  renameSync(`${folder}.aside`, folder)
  writeFileSync(file, whole)
  await stage.ready('news')
})

test('a bot whose token the service revokes is not ready, and other bots stay ready', async () => {
  const botId = stage.ids.get('news') ?? 0
  await stage.sandbox.control.revokeToken({ botId })
  expect(await me('news')).toBe(401)
  await until(() => stage.reasons('news')?.includes('token') === true, 'the token')
  expect((await stage.admin('/readyz?bot=echo')).status).toBe(200)
  expect(await me('echo')).toBe(200)
})

test('a client token that two bots share is refused for both and logged', async () => {
  const file = join(stage.root, 'client-token')
  writeFileSync(file, 'of the one\n'.replaceAll(' ', '-'), { mode: 0o600 })
  await stage.write('echo', { clientTokenFile: file })
  await stage.add('other', { clientToken: 'of-the-other' })
  await stage.ready('echo', 'other')
  const statusOf = async (token: string): Promise<number> =>
    (await stage.call('', 'GET', '/me', { token })).status
  expect([await statusOf('of-the-one'), await statusOf('of-the-other')]).toEqual([200, 200])
  writeFileSync(file, 'of-the-other\n')
  await until(async () => (await statusOf('something')) === 401 && twins() > 0, 'the twins')
  expect(await statusOf('of-the-other')).toBe(401)
  writeFileSync(file, 'of-its-own\n')
  await until(async () => (await statusOf('of-its-own')) === 200, 'a token of its own')
  expect(await statusOf('of-the-other')).toBe(200)
})

const twins = (): number =>
  stage.lines.filter(({ msg }) => String(msg).startsWith('two bots expect the same token')).length
