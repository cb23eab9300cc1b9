/** The bytes that the HttpClient of .NET sends: `PostAsync(url, null)`, and `PostAsJsonAsync`, which is chunked. */
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { answerCalls } from './node-calls.mjs'

await answerCalls(async (method, url, value, { Authorization }) => {
  const { hostname, port, host, pathname, search } = new URL(url)
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, `Host: ${host}`]
  lines.push(`Authorization: ${Authorization}`)
  let body = ''
  if (value !== undefined) {
    lines.push('Transfer-Encoding: chunked', 'Content-Type: application/json; charset=utf-8')
    const json = JSON.stringify(value)
    body = `${Buffer.byteLength(json).toString(16)}\r\n${json}\r\n0\r\n\r\n`
  } else if (method.startsWith('P')) lines.push('Content-Length: 0')
  const socket = connect(Number(port), hostname)
  // HttpClient keeps its connections; this one is closed to find the end of the answer
  socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n${body}`)
  const [head, ...rest] = (await text(socket)).split('\r\n\r\n')
  const [, type] = /^content-type: (.*)$/im.exec(head) ?? []
  return [Number(head.split(' ')[1]), type, rest.join('\r\n\r\n')]
})
