/** Calls as the two OpenAPI documents describe them, whose inputs and results fit their schemas. */
import { expect, test } from 'vitest'
import { z } from 'zod'
import { useSandbox } from './support.ts'

type Schema = Parameters<typeof z.fromJSONSchema>[0]
type Fields = Record<string, unknown>

interface Operation {
  operationId: string
  parameters?: { name: string; in: 'path' | 'query' }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

interface OpenApiDocument {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Calls operations by their ids. */
async function clientOf(documentUrl: string, token?: string) {
  const text = await (await fetch(documentUrl)).text()
  // the place of definitions in a schema of its own
  const { servers, paths, components } = JSON.parse(
    text.replaceAll('#/components/schemas/', '#/$defs/'),
  ) as OpenApiDocument
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, item, method, operation })),
  )
  const parse = (schema: Schema, value: unknown): Fields => {
    const whole = { ...(schema as object), $defs: components.schemas } as Schema
    return z.fromJSONSchema(whole).parse(value) as Fields
  }
  return async (id: string, given: Fields = {}): Promise<Fields> => {
    const found = operations.find(({ operation }) => operation.operationId === id)
    if (found === undefined) throw new Error(`no operation ${id}`)
    const { item, method, operation } = found
    const own = (item as { servers?: typeof servers }).servers ?? servers
    const url = new URL(`${own[0]?.url ?? ''}${found.path}`)
    const body = { ...given }
    for (const { name, in: place } of operation.parameters ?? []) {
      if (place === 'query' && name in given) url.searchParams.set(name, String(given[name]))
      url.href = url.href.replace(`%7B${name}%7D`, encodeURIComponent(String(given[name])))
      delete body[name]
    }
    const schema = operation.requestBody?.content['application/json'].schema
    if (schema !== undefined) parse(schema, body)
    const answer = await fetch(url, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(schema !== undefined && { 'content-type': 'application/json' }),
      },
      ...(schema !== undefined && { body: JSON.stringify(body) }),
    })
    const answers = operation.responses[answer.status]?.content?.['application/json']
    if (answers === undefined && answer.ok) return { file: await answer.text() }
    const { ok, result, error } = (await answer.json()) as Fields & { error: Fields }
    if (answers !== undefined) parse(answers.schema, ok === true ? { ok, result } : { ok, error })
    return ok === true ? (result as Fields) : { refused: [answer.status, error['code']] }
  }
}

const sandbox = await useSandbox({ clock: 'running' })

test('a client of the two OpenAPI documents works, and inputs and results fit the schemas', async () => {
  const control = await clientOf(`${sandbox.controlUrl}/openapi.json`)
  const made = await control('addBot', { username: 'typed_bot' })
  const person = await control('addPerson', { username: 'typed_person', firstName: 'Tia' })
  const [userId, botId] = [person['id'], made['id']]
  const { id: chatId } = await control('addPrivateChat', { userId, botId })
  await control('givePhone', { userId })
  await control('write', { userId, chatId, text: 'hello' })

  const address = `${sandbox.controlUrl}/bot-openapi.json`
  const bot = await clientOf(address, String(made['token']))
  const [update] = (await bot('getUpdates', { limit: 10 })) as unknown as { message: Fields }[]
  expect(update?.message).toMatchObject({ text: 'hello' })
  const markup = { inlineKeyboard: [[{ text: 'Go', callbackData: 'go' }]] }
  const sent = await bot('sendMessage', {
    chatId,
    text: 'hi',
    replyTo: update?.message['id'],
    markup,
  })
  const { callbackId } = await control('press', { userId, chatId, messageId: sent['id'] })
  await bot('answerCallback', { callbackId, text: 'went' })
  const { mediaId } = await control('addMedia', { base64: 'aGVsbG8=' })
  expect(await bot('getMedia', { id: mediaId })).toEqual({ file: 'hello' })
  expect(await bot('getMe')).toMatchObject({ username: 'typed_bot' })
  expect(await control('inbox', { userId })).toMatchObject({
    inbox: [{ text: 'hi' }],
    answers: [{ text: 'went' }],
  })

  const stranger = await clientOf(address, 'wrong')
  const refusals = [await bot('getChat', { chatId: 999_999 }), await stranger('getMe')]
  expect(refusals).toEqual([
    { refused: [404, 'chat_not_found'] },
    { refused: [401, 'unauthorized'] },
  ])
  const text = { userId, chatId }
  await expect(control('write', text)).rejects.toThrow('expected string')
  await expect(control('addRoom', { kind: 'club', members: [] })).rejects.toThrow('kind')
})
