import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { Refusal } from '../../src/errors.ts'
import { mediaRoute } from '../../src/http/routes/media.ts'
import { OWN_CALL } from '../../src/clients/may-client.ts'
import type { DoorTools } from '../../src/http/server.ts'
import type { Attachments } from '../../src/attachments/attachments.ts'

test.each([
  ['was removed while the file was opened', true, ''],
  ['is removed while the file is read', false, 'abc'],
])('a client that %s receives no more of it', async (_what, isEarly, part) => {
  const ending = new AbortController()
  let isOver = isEarly
  const ask = async () => {
    if (isOver) throw new Refusal('unauthorized')
  }
  const stillMay = { ...OWN_CALL, ask, ended: ending.signal }
  async function* read() {
    yield Buffer.from('abc')
    isOver = true
    ending.abort()
    yield Buffer.from('def')
  }
  const value = { file: { bytes: 6, read }, contentType: 'image/png', tag: 't', verdict: null }
  const named = async () => ({ value, release: () => {} })
  const app = fastify()
  app.decorateRequest('stillMay', null)
  app.addHook('onRequest', async (request) => void (request.stillMay = stillMay))
  onTestFinished(() => app.close())
  const tools = { authorize: () => {} } as unknown as DoorTools
  mediaRoute({ byUrl: async () => null, named } as unknown as Attachments)(app, tools)
  const given = await app.inject(`/media/${'m'.repeat(22)}`).catch(() => null)
  expect(given?.body ?? part).not.toContain('def')
  expect(given?.statusCode).toBe(isEarly ? 401 : undefined)
})

test('a served attachment is released once its answer is closed', async () => {
  let released = 0
  const file = { bytes: 3, read: () => [Buffer.from('abc')] }
  const value = { file, contentType: 'image/png', tag: 'tag', verdict: null }
  const byUrl = async () => ({ value, release: () => void released++ })
  const app = fastify()
  app.decorateRequest('stillMay', null)
  onTestFinished(() => app.close())
  mediaRoute({ byUrl } as unknown as Attachments)(app, {} as DoorTools)
  expect((await app.inject(`/media/${'m'.repeat(22)}?c=right`)).body).toBe('abc')
  expect(released).toBe(1)
})
