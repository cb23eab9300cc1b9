import { request } from 'undici'
import { answerCalls } from './node-calls.mjs'

await answerCalls(async (method, url, body, headers) => {
  const json = body !== undefined && {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  const answer = await request(url, { method, headers, ...json })
  return [answer.statusCode, answer.headers['content-type'], await answer.body.text()]
})
