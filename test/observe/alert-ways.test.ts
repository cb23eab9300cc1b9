import { expect, test } from 'vitest'
import { byUrl } from '../../src/observe/alert-ways.ts'
import { rawService } from '../service/support.ts'

type Alert = Parameters<ReturnType<typeof byUrl>['send']>[0]
const ALERT = { alert: 'key-conflict' } as unknown as Alert

/** Sends an alert to a receiver that answers with these bytes. Gives all requests, and the outcome. */
async function sentTo(bytes: string) {
  const requests: string[] = []
  const { url } = await rawService((socket, _nth, request) => {
    requests.push(request)
    if (request.endsWith('}')) socket.end(bytes)
  })
  const way = byUrl({ reveal: () => `${url}/hook?key=1` })
  const outcome = await way.send(ALERT, new AbortController().signal).then(
    () => 'sent',
    (error: Error) => error.name,
  )
  return { request: requests.join(''), outcome }
}

test('an alert is POSTed as JSON', async () => {
  const { request } = await sentTo('HTTP/1.1 204 No Content\r\n\r\n')
  expect(request).toMatch(
    /^POST \/hook\?key=1 HTTP\/1\.1\r\n[^]*\r\n\r\n\{"alert":"key-conflict"\}$/,
  )
  expect(request).toMatch(/content-type: application\/json/i)
})

test.each([
  ['204 No Content', 'HTTP/1.1 204 No Content\r\n\r\n', 'sent'],
  ['an endless body', 'HTTP/1.1 200 OK\r\n\r\nmore and', 'sent'],
  ['100 Continue before', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'sent'],
  ['a redirect', 'HTTP/1.1 307 Elsewhere\r\nlocation: /x\r\n\r\n', 'AlertRefusedError'],
  ['a failure', 'HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n', 'AlertRefusedError'],
  ['no HTTP', 'SSH-2.0\r\n', 'Error'],
  ['nothing', '', 'Error'],
])('the outcome of an alert after %s (%j) is %s', async (_what, bytes, outcome) => {
  expect((await sentTo(bytes)).outcome).toBe(outcome)
})
