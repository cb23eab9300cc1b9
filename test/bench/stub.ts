/** Answers everything with a bot of some 250 bytes; `startStub` runs it. */
import { createServer } from 'node:http'

const bot = { id: 1, username: 'bench_bot', mode: 'open', fingerprint: null, status: 'active' }
const result = { ...bot, description: 'the same few words, again and again'.repeat(4) }
const BODY = Buffer.from(JSON.stringify({ ok: true, result }))

createServer((_request, response) => {
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': BODY.length,
  })
  response.end(BODY)
}).listen(Number(process.argv[2]), '127.0.0.1')
