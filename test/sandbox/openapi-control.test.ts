import { expect, test } from 'vitest'
import { OPERATIONS } from '../../src/sandbox/control/table.ts'
import { controlDocument } from '../../src/sandbox/openapi/control.ts'
import { botDocument } from '../../src/sandbox/openapi/bot.ts'
import { still } from './support.ts'

interface Operation {
  operationId: string
  deprecated?: boolean
  requestBody: { required: boolean }
}

const document = controlDocument('http://control.example') as {
  paths: Record<string, { post: Operation }>
}

test('the control’s OpenAPI document has every operation, and marks former names as deprecated', () => {
  expect(document.paths['/events']).toMatchObject({ get: { operationId: 'streamEvents' } })
  expect(Object.keys(document.paths)).toEqual(Object.keys(OPERATIONS).map((name) => `/${name}`))
  const former = Object.values(document.paths).filter(({ post }) => post.deprecated)
  expect(former.map(({ post }) => post.operationId).toSorted()).toEqual(['setSeat', 'story'])
})

test('the control’s OpenAPI document requires a body where a field is required', () => {
  expect(document.paths['/advance']?.post.requestBody.required).toBe(true)
  expect(document.paths['/clearFaults']?.post.requestBody.required).toBe(false)
})

test('the control listener serves both OpenAPI documents with the addresses of the sandbox', async () => {
  await using sandbox = await still()
  const served = async (path: string): Promise<unknown> => {
    const answer = await fetch(sandbox.controlUrl + path)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    return await answer.json()
  }
  const asServed = (made: object): unknown => JSON.parse(JSON.stringify(made))
  expect(await served('/openapi.json')).toEqual(asServed(controlDocument(sandbox.controlUrl)))
  expect(await served('/bot-openapi.json')).toEqual(asServed(botDocument(sandbox.url)))
})

test('a second world serves both OpenAPI documents with its own addresses', async () => {
  await using sandbox = await still()
  const { url, controlUrl } = await sandbox.control.addWorld({ name: 'beside' })
  const servers = async (path: string): Promise<unknown> => {
    const answer = await fetch(controlUrl + path)
    return ((await answer.json()) as { servers: unknown }).servers
  }
  expect(await servers('/openapi.json')).toEqual([{ url: controlUrl }])
  expect(await servers('/bot-openapi.json')).toEqual([{ url: `${url}/bot/v1` }])
  const nowhere = await fetch(`${sandbox.controlUrl}/worlds/nowhere/openapi.json`)
  expect(nowhere.status).toBe(404)
})
