/** Fastify and undici and nothing else: what every sidecar made of them takes. */
import { fastify } from 'fastify'
import { Pool } from 'undici'

const [, , port, upstream = ''] = process.argv
const pool = new Pool(upstream)
const app = fastify()
app.get('/readyz', () => 'ok')
app.all('/bot/*', async ({ url, method, headers, body }, reply) => {
  const { authorization = '' } = headers
  const answer = await pool.request({
    path: url,
    method,
    headers: { authorization, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return reply.code(answer.statusCode).send(await answer.body.text())
})
await app.listen({ host: '127.0.0.1', port: Number(port) })
