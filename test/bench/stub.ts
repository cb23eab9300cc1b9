/** Answers everything with a bot of some 250 bytes; `startStub` runs it. */
import { createServer } from 'node:http'

const BODY = Buffer.from(
  JSON.stringify({
    ok: true,
    result: {
      id: 1,
      username: 'bench_bot',
      name: 'Bench',
      about: null,
      description: 'answers whatever it is asked with the same few words, again and again',
      mode: 'open',
      fingerprint: null,
      privacyMode: true,
      allowGroups: true,
      status: 'active',
    },
  }),
)

createServer((_request, response) => {
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': BODY.length,
  })
  response.end(BODY)
}).listen(Number(process.argv[2]), '127.0.0.1')
