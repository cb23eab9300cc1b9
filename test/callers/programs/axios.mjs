import axios from 'axios'
import { answerCalls } from './node-calls.mjs'

const client = axios.create({ validateStatus: () => true, transformResponse: (text) => text })

await answerCalls(async (method, url, data, headers) => {
  const name = method.toLowerCase()
  const answer = name.startsWith('p')
    ? await client[name](url, data, { headers })
    : await client[name](url, { headers, data })
  return [answer.status, answer.headers['content-type'], answer.data]
})
