import { expect, test } from 'vitest'
import { ENDPOINTS } from '../../src/api/endpoints.ts'
import { ERROR_STATUS } from '../../src/api/error-codes.ts'
import { botDocument } from '../../src/sandbox/openapi/bot.ts'

interface Operation {
  operationId: string
  responses: Record<string, { description: string; headers?: Record<string, object> }>
}
interface Document {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
}

const document = botDocument('http://service.example') as Document
const operations = Object.values(document.paths).flatMap((item) =>
  Object.values(item).filter((one) => 'operationId' in one),
)

test('the bot’s OpenAPI document has every endpoint, and `/media/{id}` outside the prefix', () => {
  const names = [...ENDPOINTS.map(({ name }) => name), 'getMedia']
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(names.toSorted())
  expect(document.servers).toEqual([{ url: 'http://service.example/bot/v1' }])
  expect(document.paths['/media/{id}']).toMatchObject({
    servers: [{ url: 'http://service.example' }],
  })
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
