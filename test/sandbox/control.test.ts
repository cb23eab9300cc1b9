import { expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/create.ts'
import { ask, still } from './support.ts'

test('`GET /` of the control listener lists every operation with the schema of its input', async () => {
  await using sandbox = await still()
  const answer = await fetch(sandbox.controlUrl)
  const { result } = (await answer.json()) as { result: Record<string, object> }
  expect(Object.keys(result)).toEqual(Object.keys(sandbox.control))
  expect(result['advance']).toMatchObject({ type: 'object', required: ['ms'] })
})

test('the control listener refuses wrong input with 400, a code and the name of the field', async () => {
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
  const beyond = await call('/advance', '{"ms":9007199254740991}')
  expect(beyond).toMatchObject({ status: 400, code: 'bad_control' })
  expect(await call('/advance', '{')).toMatchObject({ status: 400, code: 'bad_request' })
})

test('two sandboxes share no token, and a third on a port in use fails with EADDRINUSE', async () => {
  await using one = await createSandbox()
  await using two = await createSandbox()
  expect((await ask(one, 'GET /me', { token: two.token })).status).toBe(401)
  const port = Number(new URL(one.url).port)
  await expect(createSandbox({ port })).rejects.toThrow('EADDRINUSE')
  await expect(createSandbox({ controlPort: port })).rejects.toThrow('EADDRINUSE')
})

test('an unknown control path, and an operation without POST, are 404 with a hint', async () => {
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
