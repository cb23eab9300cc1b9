import got from 'got'
import { answerCalls } from './node-calls.mjs'

await answerCalls(async (method, url, json, headers) => {
  const allowGetBody = method === 'GET'
  const body = json !== undefined && { json, allowGetBody }
  const answer = await got(url, { method, headers, ...body, throwHttpErrors: false })
  return [answer.statusCode, answer.headers['content-type'], answer.body]
})
