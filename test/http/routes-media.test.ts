import { fastify } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { mediaRoute } from '../../src/http/routes/media.ts'
import type { DoorTools } from '../../src/http/server.ts'
import type { Attachments } from '../../src/translate/attachments.ts'

test('a served attachment is released once its answer is closed', async () => {
  let released = 0
  const file = { bytes: 3, read: () => [Buffer.from('abc')] }
  const value = { file, contentType: 'image/png', tag: 'tag', verdict: null }
  const byUrl = async () => ({ value, release: () => void released++ })
  const app = fastify()
  onTestFinished(() => app.close())
  mediaRoute({ byUrl } as unknown as Attachments)(app, {} as DoorTools)
  expect((await app.inject(`/media/${'m'.repeat(22)}?c=right`)).body).toBe('abc')
  expect(released).toBe(1)
})
