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

test('two sandboxes share no token, and a third on a port in use fails with EADDRINUSE', async () => {
  await using one = await createSandbox()
  await using two = await createSandbox()
  expect((await ask(one, 'GET /me', { token: two.token })).status).toBe(401)
  const port = Number(new URL(one.url).port)
  await expect(createSandbox({ port })).rejects.toThrow('EADDRINUSE')
  await expect(createSandbox({ controlPort: port })).rejects.toThrow('EADDRINUSE')
})

test('the control listener refuses wrong input, an unknown path and a `GET` with code and hint', async () => {
  await using sandbox = await still()
  const refusal = async (path: string, body?: string) => {
    const answer = await fetch(sandbox.controlUrl + path, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: { 'content-type': 'application/json' },
    })
    const { error } = (await answer.json()) as { error: { code: string; message: string } }
    return `${answer.status} ${error.code}: ${error.message}`
  }
  expect(await refusal('/advance', '{"ms":1,"hours":2}')).toMatch(/^400 bad_control: hours/)
  expect(await refusal('/advance', '{"ms":9007199254740991}')).toMatch(/^400 bad_control: /)
  expect(await refusal('/advance', '{')).toMatch(/^400 bad_request: /)
  const unknown = '404 not_found: no such operation; `GET /` lists them'
  expect([await refusal('/lunch', '{}'), await refusal('/lunch')]).toEqual([unknown, unknown])
  expect(await refusal('/now')).toBe('404 not_found: call now with POST')
})
