/** The least that a proxy can be: node:http before undici, nothing looked at; `startBareProxy` runs it. */
import { createServer } from 'node:http'
import { Pool } from 'undici'
import { Pieces } from '../../src/service/pieces.ts'

const [, , port, upstream = ''] = process.argv
const pool = new Pool(upstream, { connections: 64, pipelining: 1 })

createServer(({ url = '/', headers: { authorization = '' } }, response) => {
  const pieces = new Pieces(1 << 20, 200)
  let status = 0
  pool.dispatch(
    { origin: upstream, path: url, method: 'GET', headers: { authorization } },
    {
      onRequestStart() {},
      onResponseStart(_controller, code) {
        status = code
      },
      onResponseData(_controller, chunk) {
        pieces.take(chunk)
      },
      onResponseEnd() {
        const body = pieces.joined().toString()
        response.writeHead(status, {
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(body),
        })
        response.end(body)
      },
      onResponseError() {
        response.destroy()
      },
    },
  )
}).listen(Number(port), '127.0.0.1')
