/** A bare proxy by the usual plugin; `startHttpProxy` runs it. */
import httpProxy from '@fastify/http-proxy'
import { fastify } from 'fastify'

const [, , port, upstream = ''] = process.argv
const app = fastify()
await app.register(httpProxy, { upstream })
await app.listen({ port: Number(port), host: '127.0.0.1' })
