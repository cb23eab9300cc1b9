import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import { ERROR_STATUS } from '../../src/api/error-codes.ts'
import { OPERATIONS } from '../../src/sandbox/control/table.ts'
import { botDocument } from '../../src/sandbox/openapi/bot.ts'
import { controlDocument } from '../../src/sandbox/openapi/control.ts'
import { still } from './support.ts'

interface Operation {
  operationId: string
  requestBody: { required: boolean }
  responses: Record<string, { description: string; headers?: Record<string, object> }>
}
interface Document {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
}

const bot = botDocument('http://service.example') as Document
const { paths } = controlDocument('http://control.example') as Document
const operations = Object.values(bot.paths).flatMap((item) =>
  Object.values(item).filter((one) => 'operationId' in one),
)

test('the bot’s OpenAPI document has every endpoint, and `/media/{id}` outside the prefix', () => {
  const names = [...ENDPOINTS.map(({ name }) => name), 'getMedia']
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(names.toSorted())
  expect(bot.servers).toEqual([{ url: 'http://service.example/bot/v1' }])
  expect(bot.paths['/media/{id}']).toMatchObject({ servers: [{ url: 'http://service.example' }] })
})

test('the bot’s OpenAPI document has every error code under its status', () => {
  const named = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, { description }]) =>
      Array.from(description.matchAll(/`(\w+)`/g), ([, code]) => [code, status]),
    ),
  )
  // `not_found` is the answer to a path that is none.
  const codes = Object.entries(ERROR_STATUS).filter(([code]) => code !== 'not_found')
  const expected = codes.map(([code, status]) => [code, String(status)])
  expect(new Set(named.map(String))).toEqual(new Set(expected.map(String)))
})

test('every endpoint of the bot’s OpenAPI document has a 429 with Retry-After', () => {
  for (const { operationId, responses } of operations) {
    if (operationId === 'getMedia') continue
    expect(responses['429']?.headers, operationId).toHaveProperty('Retry-After')
  }
})

test('the control’s OpenAPI document has every operation', () => {
  expect(paths['/events']).toMatchObject({ get: { operationId: 'streamEvents' } })
  expect(Object.keys(paths)).toEqual(Object.keys(OPERATIONS).map((name) => `/${name}`))
})

test('the control’s OpenAPI document requires a body where a field is required', () => {
  expect(paths['/advance']?.['post']?.requestBody.required).toBe(true)
  expect(paths['/clearFaults']?.['post']?.requestBody.required).toBe(false)
})

test('each world serves both OpenAPI documents with its own addresses', async () => {
  await using sandbox = await still()
  const world = await sandbox.control.addWorld({ name: 'beside' })
  for (const { url, controlUrl } of [sandbox, world]) {
    for (const [path, made] of [
      ['/openapi.json', controlDocument(controlUrl)],
      ['/bot-openapi.json', botDocument(url)],
    ] as const) {
      const answer = await fetch(controlUrl + path)
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
      expect(await answer.json()).toEqual(JSON.parse(JSON.stringify(made)))
    }
  }
})
