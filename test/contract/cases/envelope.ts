import assert from 'node:assert/strict'
import { casesOf, inGroup } from '../case.ts'
import { fields, no, ok } from '../expect.ts'

const KIB = 1024

/** A JSON body of exactly so many bytes, for an unknown chat. */
function bodyOf(bytes: number): string {
  const empty = JSON.stringify({ chatId: 1, text: '' })
  return JSON.stringify({ chatId: 1, text: 'x'.repeat(bytes - empty.length) })
}

export const ENVELOPE = [
  ...casesOf('What the service does', {
    'a success is {ok: true, result} in JSON, under the path prefix /bot/v1': {
      proves: ['base-path', 'version-prefix', 'success-envelope'],
      run: async ({ bot, way }) => {
        const answer = await bot.get('/me')
        assert.match(answer.statusLine, /^HTTP\/1\.1 200\b/)
        assert.deepEqual(Object.keys(fields(answer.json)), ['ok', 'result'])
        ok(answer)
        if (way === 'live') return
        const elsewhere = await bot.get('/me', { outside: true })
        assert.equal(elsewhere.status, 404)
      },
    },
    'a failure is {ok: false, error} with the same status on the HTTP line': {
      proves: ['failure-envelope', 'error-status', 'error-object', 'error-envelope-always'],
      run: async ({ bot }) => {
        const answer = await bot.get('/chats/1')
        const error = no(answer, 'chat_not_found')
        assert.match(answer.statusLine, /^HTTP\/1\.1 404\b/)
        assert.deepEqual(Object.keys(fields(answer.json)), ['ok', 'error'])
        assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'status'])
      },
    },
  }),
  ...casesOf('Errors', {
    'an unknown path answers not_found': {
      proves: ['error not_found'],
      run: async (stage) => {
        no(await stage.bot.get('/nothing/here'), 'not_found')
        no(await stage.bot.get('/chats'), 'not_found')
        // The sidecar cannot check the body of an unknown endpoint.
        const unknown = stage.per({
          service: 'not_found' as const,
          protected: 'postern_route_refused' as const,
          open: 'postern_route_refused' as const,
        })
        no(await stage.bot.post('/nothing/here', {}), unknown)
        no(await stage.bot.delete('/me'), 'not_found')
      },
    },
    'a server failure answers internal': {
      proves: ['error internal'],
      needs: ['rooms'],
      run: inGroup(async (stage, chatId) => {
        await stage.breakNext('getMembers')
        no(await stage.bot.get(`/chats/${chatId}/members`), 'internal')
        ok(await stage.bot.get(`/chats/${chatId}/members`))
      }),
    },
    'a request body over 256 KiB answers too_large on every path, and one of 256 KiB is read': {
      proves: ['error too_large', 'limit requestBytes'],
      run: async ({ bot }) => {
        const raw = bodyOf(256 * KIB + 1)
        no(await bot.post('/messages', undefined, { raw }), 'too_large')
        no(await bot.post('/messages', undefined, { raw: bodyOf(256 * KIB) }), [
          'bad_request',
          'chat_not_found',
        ])
        for (const path of ['/me', '/nothing/here']) no(await bot.get(path, { raw }), 'too_large')
        no(await bot.delete('/commands', undefined, { raw }), 'too_large')
        no(await bot.get('/me', { raw, token: null }), 'unauthorized')
      },
    },
  }),
  ...casesOf('Endpoints', {
    'a body that is not JSON or no object, or of another media type, is a bad request': {
      proves: ['json-bodies', 'error bad_request'],
      run: async ({ bot }) => {
        for (const raw of ['{', 'words', '[]', '"text"', '7', 'null', '{"chatId":1}x']) {
          no(await bot.post('/messages', undefined, { raw }), 'bad_request')
        }
        const read = { 'content-type': 'application/json; charset=utf-8' }
        const body = { chatId: 1, text: 'hi' }
        no(await bot.post('/messages', body, { headers: read }), 'chat_not_found')
        for (const type of ['text/plain', 'nonsense', 'application/octet-stream', 'text/json']) {
          const headers = { 'content-type': type }
          no(await bot.post('/messages', body, { headers }), 'bad_request')
          // an empty body has no type
          no(await bot.post('/callbacks/none/answer', undefined, { headers }), 'callback_not_found')
        }
      },
    },
  }),
]
