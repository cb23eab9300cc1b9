import { expect, test } from 'vitest'
import { createControlClient } from '../../src/sandbox/control/table.ts'
import { createSandbox } from '../../src/sandbox/create.ts'
import { ask, still } from './support.ts'

test('the same operations run over the control listener', async () => {
  await using sandbox = await still({ world: 'empty' })
  const control = createControlClient(sandbox.controlUrl)
  const person = await control.addPerson({ username: 'carol' })
  const bot = await control.addBot({ username: 'carols_bot' })
  const chat = await control.addPrivateChat({ userId: person.id, botId: bot.id })
  await control.post({ userId: person.id, chatId: chat.id, text: 'hello' })
  expect((await ask(sandbox, 'GET /updates', { token: bot.token })).result).toHaveLength(1)
  expect(sandbox.people).toEqual([person])
  expect(sandbox.chats).toEqual([{ id: chat.id, kind: 'private', mode: 'open' }])
  const { now } = await control.advance({ ms: 1000 })
  expect(now).toBe(sandbox.now())
})

test('it lists every operation with the schema of its input', async () => {
  await using sandbox = await still()
  const answer = await fetch(sandbox.controlUrl)
  const { result } = (await answer.json()) as { result: Record<string, object> }
  expect(Object.keys(result)).toEqual(Object.keys(sandbox.control))
  expect(result['advance']).toMatchObject({ type: 'object', required: ['ms'] })
})

test('a wrong input is refused with what is wrong', async () => {
  await using sandbox = await still()
  const call = async (path: string, body: string) => {
    const answer = await fetch(`${sandbox.controlUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    return { status: answer.status, ...error }
  }
  const extra = await call('/advance', '{"ms":1,"hours":2}')
  expect(extra).toMatchObject({ status: 400, code: 'bad_control' })
  expect(extra.message).toContain('hours')
  expect((await call('/advance', '{}')).message).toContain('ms')
  expect(await call('/advance', '{"ms":"1"}')).toMatchObject({ status: 400 })
  expect(await call('/advance', '{"ms":-1}')).toMatchObject({ status: 400, code: 'bad_control' })
  const beyond = await call('/advance', '{"ms":9007199254740991}')
  expect(beyond).toMatchObject({ status: 400, code: 'bad_control' })
  expect(await call('/advance', '{')).toMatchObject({ status: 400, code: 'bad_request' })
  expect(await call('/fly', '{}')).toMatchObject({ status: 404, code: 'not_found' })
  expect(await call('/block', '{"userId":1,"botId":2}')).toMatchObject({ status: 400 })
})

test('what cannot be is refused', async () => {
  await using sandbox = await still()
  const { alice, bot, privateChat, readableGroup } = sandbox.home
  const { control } = sandbox
  const stranger = await control.addPerson({ username: 'stranger' })
  const message = { chatId: readableGroup, text: 'x' }
  await expect(control.post({ userId: stranger.id, ...message })).rejects.toThrow('is not in')
  await expect(control.join({ chatId: privateChat, userId: stranger.id })).rejects.toThrow(
    'private',
  )
  await control.block({ userId: alice.id, botId: bot.id })
  const blocked = control.post({ userId: alice.id, chatId: privateChat, text: 'x' })
  await expect(blocked).rejects.toThrow('cannot write')
  await expect(control.addPerson({ username: 'x' })).rejects.toThrow('shape')
})

test('an empty world has no home', async () => {
  await using sandbox = await createSandbox({ world: 'empty' })
  expect(() => sandbox.home).toThrow('no home')
  expect([sandbox.bots, sandbox.people, sandbox.chats]).toEqual([[], [], []])
})

test('two sandboxes do not know of each other, and a taken port is an error', async () => {
  await using one = await createSandbox()
  await using two = await createSandbox()
  expect((await ask(one, 'GET /me', { token: two.token })).status).toBe(401)
  const port = Number(new URL(one.url).port)
  await expect(createSandbox({ port })).rejects.toThrow('EADDRINUSE')
  await expect(createSandbox({ controlPort: port })).rejects.toThrow('EADDRINUSE')
})

test('what is no operation, or is not called with POST, is told what to do', async () => {
  await using sandbox = await still()
  const message = async (method: string, path: string) => {
    const answer = await fetch(sandbox.controlUrl + path, { method })
    const { error } = (await answer.json()) as { error: { message: string } }
    return [answer.status, error.message]
  }
  const unknown = [404, 'no such operation; `GET /` lists them']
  expect(await message('POST', '/lunch')).toEqual(unknown)
  expect(await message('GET', '/lunch')).toEqual(unknown)
  expect(await message('GET', '/now')).toEqual([404, 'call now with POST'])
})
