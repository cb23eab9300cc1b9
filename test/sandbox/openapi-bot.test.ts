import { expect, test } from 'vitest'
import { ENDPOINTS, type EndpointName } from '../../src/api/endpoints.ts'
import { ERROR_STATUS, type ErrorCode } from '../../src/api/error-codes.ts'
import { DESCRIBED } from '../../src/sandbox/openapi/bot-endpoints.ts'
import { botDocument } from '../../src/sandbox/openapi/bot.ts'
import { SchemaCollector } from '../../src/sandbox/openapi/schemas.ts'
import type { Sandbox } from '../../src/sandbox/create.ts'
import { undeclaredFields } from './declared.ts'
import { A_KEY, ask, still } from './support.ts'

interface Operation {
  operationId: string
  responses: Record<
    string,
    {
      headers?: Record<string, object>
      content: Record<string, { examples?: Record<string, { value: unknown }> }>
    }
  >
}
interface Document {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
}

const document = botDocument('http://service.example') as Document
const operations = Object.values(document.paths).flatMap((item) =>
  Object.values(item).filter((one) => 'operationId' in one),
)

test('it has every endpoint, and the files beside the prefix', () => {
  const names = [...ENDPOINTS.map(({ name }) => name), 'getMedia']
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(names.toSorted())
  expect(document.servers).toEqual([{ url: 'http://service.example/bot/v1' }])
  expect(document.paths['/media/{id}']).toMatchObject({
    servers: [{ url: 'http://service.example' }],
  })
})

test('it names every error code under its status, and some endpoint for each', () => {
  const named = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, { content }]) =>
      Object.keys(content['application/json']?.examples ?? {}).map((code) => [code, status]),
    ),
  )
  // `not_found` is the answer to a path that is none.
  const codes = Object.entries(ERROR_STATUS).filter(([code]) => code !== 'not_found')
  const expected = codes.map(([code, status]) => [code, String(status)])
  expect(new Set(named.map(String))).toEqual(new Set(expected.map(String)))
})

test('every 429 carries Retry-After, and every endpoint can answer one', () => {
  for (const { operationId, responses } of operations) {
    if (operationId === 'getMedia') continue
    expect(responses['429']?.headers, operationId).toHaveProperty('Retry-After')
  }
})

/** A call of each endpoint that succeeds. */
async function callEverything(
  sandbox: Sandbox,
  call: (name: EndpointName, path?: string, body?: object) => Promise<Record<string, unknown>>,
): Promise<void> {
  const { alice, bob, privateChat, readableGroup, encryptedGroup } = sandbox.home
  const { control } = sandbox
  const dm = { userId: alice.id, chatId: privateChat }
  await control.publishKey({ userId: alice.id, ...A_KEY })
  await call('setWebhook', '', { url: 'https://hooks.example.org/' })
  await call('getWebhook')
  await call('deleteWebhook')
  await call('putCommands', '', { commands: [{ command: 'a', description: 'b' }] })
  await call('getCommands')
  await call('getCommands', '?scope=default')
  await call('deleteCommands')
  const markup = { inlineKeyboard: [[{ text: 'Go', callbackData: 'go' }]] }
  const sent = await call('sendMessage', '', { chatId: privateChat, text: 'hello', markup })
  await call('editMessage', `/messages/${String(sent['id'])}`, {
    chatId: privateChat,
    text: 'edited',
  })
  const { mediaId } = await control.addMedia({ base64: 'AAAA' })
  const { messageId } = await control.post({ ...dm, text: 'hi', mediaIds: [mediaId] })
  await control.post({ ...dm, text: 'hi', replyTo: messageId })
  const { callbackId } = await control.press({ ...dm, messageId: Number(sent['id']) })
  await call('getUpdates')
  await call('answerCallback', `/callbacks/${callbackId}/answer`, {})
  await call('deleteMessage', `/messages/${String(sent['id'])}?chatId=${privateChat}`)
  await call('getMe')
  await call('getChat', `/chats/${privateChat}`)
  await call('getChat', `/chats/${readableGroup}`)
  await call('getChatKeys', `/chats/${encryptedGroup}/keys`)
  await call('getMembers', `/chats/${readableGroup}/members`)
  await call('getMember', `/chats/${readableGroup}/members/${bob.id}`)
  await call('sendTyping', `/chats/${privateChat}/typing`, {})
  await call('resolve', '/resolve/alice')
  await call('getUserKey', `/users/${alice.id}/key`)
  await call('leaveChat', `/chats/${readableGroup}/leave`)
  await call('putKey', '', A_KEY)
  await call('revokeToken')
}

test('every endpoint gives what is described, and nothing beside', async () => {
  await using sandbox = await still({ resolveHost: () => Promise.resolve(['93.184.215.14']) })
  const called = new Set<EndpointName>()
  await callEverything(sandbox, async (name, path, body) => {
    called.add(name)
    const endpoint = ENDPOINTS.find((one) => one.name === name)
    const url = path?.startsWith('/') === true ? path : `${endpoint?.path}${path ?? ''}`
    const { status, result } = await ask<Record<string, unknown>>(
      sandbox,
      `${endpoint?.method} ${url}`,
      body === undefined ? {} : { body },
    )
    const described = DESCRIBED[name]
    expect(status, name).toBe(described.created === true ? 201 : 200)
    expect(described.result.safeParse(result).error, name).toBe(undefined)
    const collector = new SchemaCollector()
    const schema = collector.of(described.result)
    const root = { components: { schemas: collector.components } }
    expect(undeclaredFields(schema, result, { root }), name).toEqual([])
    return result
  })
  expect(ENDPOINTS.filter(({ name }) => !called.has(name))).toEqual([])
})

test('an error that is an example has the status of its answer', () => {
  for (const { responses } of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      const examples = content['application/json']?.examples ?? {}
      for (const [code, { value }] of Object.entries(examples)) {
        const expected = { status: ERROR_STATUS[code as ErrorCode], code }
        expect(value).toMatchObject({ ok: false, error: expected })
        expect(String(expected.status)).toBe(status)
      }
    }
  }
})
