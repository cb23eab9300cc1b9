import { expect, onTestFinished, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/create.ts'
import { createReceiver } from '../contract/receiver.ts'
import { ask } from './support.ts'

/** Calls the API of a world. */
const call = (
  { url, bots }: { url: string; bots: { token: string }[] },
  request: string,
  body?: object,
) => ask({ url, token: bots[0]?.token ?? '' }, request, body === undefined ? {} : { body })

async function open(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await createSandbox(options)
  onTestFinished(() => sandbox[Symbol.asyncDispose]())
  return sandbox
}

test('a second world has its own address, token, people and keys', async () => {
  const { control, url, controlUrl, bots } = await open()
  const world = await control.addWorld({ name: 'one' })
  expect(world).toMatchObject({
    name: 'one',
    path: '/worlds/one',
    url: `${url}/worlds/one`,
    controlUrl: `${controlUrl}/worlds/one`,
    bots: [{ username: 'echo_bot' }],
    people: [{ username: 'alice' }, { username: 'bob' }],
    chats: [{ kind: 'private' }, { kind: 'group' }, { kind: 'group' }],
  })
  expect(await call(world, 'GET /me')).toMatchObject({ ok: true, result: { username: 'echo_bot' } })
  const key = await call(world, `GET /users/${world.people[0]?.id}/key`)
  expect(key).toMatchObject({ ok: true })
  expect(await call({ url: world.url, bots }, 'GET /me')).toMatchObject({
    error: { code: 'unauthorized' },
  })
  expect(await call({ url, bots: world.bots }, 'GET /me')).toMatchObject({
    error: { code: 'unauthorized' },
  })
})

test('messages, faults, calls and the clock of a world are not those of another', async () => {
  const sandbox = await open({ clock: 'still' })
  const { control } = sandbox
  const [one, two] = [await control.addWorld(), await control.addWorld({ clock: 'still' })]
  const [inOne, inTwo] = [createControlClient(one.controlUrl), createControlClient(two.controlUrl)]
  const chatId = one.chats[0]?.id ?? 0
  await inOne.write({ userId: one.people[0]?.id ?? 0, chatId, text: 'hello' })
  await inOne.fault({ name: 'error', route: 'getChat', code: 'internal' })
  await inTwo.advance({ ms: 1000 })
  expect(await call(one, 'GET /updates')).toMatchObject({
    result: [{ message: { text: 'hello' } }],
  })
  expect(await call(two, 'GET /updates')).toMatchObject({ result: [] })
  expect(await call(one, `GET /chats/${chatId}`)).toMatchObject({ error: { code: 'internal' } })
  expect(await call(two, `GET /chats/${chatId}`)).toMatchObject({ ok: true })
  const paths = async (on: typeof inOne) => {
    const calls = await on.transcript({})
    return calls.filter(({ by }) => by === 'api').map(({ path }) => path)
  }
  expect(await paths(inOne)).toEqual(['/bot/v1/updates', `/bot/v1/chats/${chatId}`])
  expect(await paths(inTwo)).toEqual(['/bot/v1/updates', `/bot/v1/chats/${chatId}`])
  expect(await paths(control)).toEqual([])
  const { now } = await control.now()
  await inTwo.advance({ ms: 1000 })
  expect((await control.now()).now).toBe(now)
})

test('a full call window of one world leaves the other worlds free', async () => {
  const { control } = await open({ clock: 'still' })
  const [full, other] = [
    await control.addWorld({ clock: 'still' }),
    await control.addWorld({ clock: 'still' }),
  ]
  for (let n = 0; n < 600; n++) await call(full, 'GET /me')
  expect(await call(full, 'GET /me')).toMatchObject({ error: { code: 'rate_limited' } })
  expect(await call(other, 'GET /me')).toMatchObject({ ok: true })
})

test('`reset` and snapshots of a world leave the other worlds unchanged', async () => {
  const { control } = await open()
  const [one, two] = [await control.addWorld(), await control.addWorld()]
  const [inOne, inTwo] = [createControlClient(one.controlUrl), createControlClient(two.controlUrl)]
  for (const on of [inOne, inTwo]) await on.addPerson({ username: 'carol' })
  await inOne.reset()
  expect(await inOne.people()).toMatchObject(one.people)
  expect(await inTwo.people()).toHaveLength(3)
  await inTwo.snapshot({ name: 'a' })
  await expect(inOne.restore({ name: 'a' })).rejects.toThrow('there is no snapshot a')
})

test('`addWorld` accepts an empty world, a seed, and its own clock, rates and webhooks', async () => {
  const { control } = await open()
  const seed = {
    clock: { at: '2031-05-06T07:08:09Z', mode: 'still' },
    people: { zoe: { key: 'none' } },
    bots: { news_bot: {} },
    chats: { dm: { kind: 'private', person: 'zoe', bot: 'news_bot' } },
  }
  const world = await control.addWorld({ seed })
  expect(world.people.map(({ username }) => username)).toEqual(['zoe'])
  const { now } = await createControlClient(world.controlUrl).now()
  expect(now).toBe(Date.parse('2031-05-06T07:08:09Z'))
  expect(await control.addWorld({ world: 'empty' })).toMatchObject({ bots: [], people: [] })
  const free = await control.addWorld({ rates: 'off', webhooks: 'local' })
  await using receiver = await createReceiver()
  expect(await call(free, 'POST /webhook', { url: receiver.url })).toMatchObject({ ok: true })
})

test('`addWorld` refuses a used or malformed name and a bad seed, and creates nothing', async () => {
  const { control } = await open()
  await control.addWorld({ name: 'one' })
  await expect(control.addWorld({ name: 'one' })).rejects.toThrow('there is a world one already')
  await expect(control.addWorld({ name: 'main' })).rejects.toThrow('already')
  for (const name of ['', '../x', 'a/b', '-a', 'ä', 'x'.repeat(65)]) {
    await expect(control.addWorld({ name }), name).rejects.toThrow('1 to 64 of')
  }
  await expect(control.addWorld({ world: 'home', seed: {} })).rejects.toThrow('not both')
  await expect(control.addWorld({ name: 'two', seed: { peple: {} } })).rejects.toThrow(
    'peple: no such field',
  )
  expect((await control.worlds()).map(({ name }) => name)).toEqual(['main', 'one'])
  expect(await control.addWorld({ name: 'two' })).toMatchObject({ name: 'two' })
})

test('two concurrent `addWorld` calls with one name create one world', async () => {
  const { control } = await open()
  const made = await Promise.allSettled([1, 2].map(() => control.addWorld({ name: 'one' })))
  expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('a removed world ends its polls, and its addresses are 404', async () => {
  const { control } = await open()
  const world = await control.addWorld({ name: 'one' })
  const poll = call(world, 'GET /updates?timeout=50')
  const inWorld = createControlClient(world.controlUrl)
  await expect.poll(async () => (await inWorld.transcript({})).length).toBe(1)
  await control.removeWorld({ name: 'one' })
  expect(await poll).toMatchObject({ ok: true, result: [] })
  expect(await call(world, 'GET /me')).toMatchObject({
    error: { code: 'not_found', message: expect.stringContaining('no such world') },
  })
  await expect(inWorld.now()).rejects.toThrow('no such world')
  for (const path of ['/', '/healthz', '/events', '/openapi.json']) {
    const answer = await fetch(world.controlUrl + path)
    expect(answer.status, path).toBe(404)
    expect(await answer.text(), path).toContain('no such world')
  }
  await expect(control.removeWorld({ name: 'one' })).rejects.toThrow('there is no world one')
  await expect(control.removeWorld({ name: 'main' })).rejects.toThrow('ends with the sandbox')
})

test('the main world is also served below `/worlds/main`', async () => {
  const { url, controlUrl, bots, control } = await open()
  expect(await call({ url: `${url}/worlds/main`, bots }, 'GET /me')).toMatchObject({ ok: true })
  expect(await createControlClient(`${controlUrl}/worlds/main`).people()).toEqual(
    await control.people(),
  )
})

test('a file is served at the root and below its own world, not below another', async () => {
  const { control, url } = await open()
  const [one, two] = [await control.addWorld(), await control.addWorld()]
  const { url: path } = await createControlClient(one.controlUrl).addMedia({ base64: 'AAEC' })
  const bytes = async (base: string) => {
    const answer = await fetch(base + path)
    return [answer.status, (await answer.arrayBuffer()).byteLength]
  }
  expect(await bytes(url)).toEqual([200, 3])
  expect(await bytes(one.url)).toEqual([200, 3])
  expect((await bytes(two.url))[0]).toBe(404)
  await createControlClient(one.controlUrl).reset()
  expect((await bytes(url))[0]).toBe(404)
})

test.each(['/worlds/none/bot/v1/me', '/worlds/', '/worlds', '/worlds//bot/v1/me', '/worlds/%2e'])(
  'the path %s of no world is 404',
  async (path) => {
    const { url, token } = await open()
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
    const error = { status: 404, code: 'not_found' }
    expect([answer.status, await answer.json()]).toMatchObject([404, { error }])
  },
)
