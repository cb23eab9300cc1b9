/** Servers of a test, which end with it. */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Listens on a free port until the test ends. Gives the URL. */
export async function listening(server: Server, scheme = 'http'): Promise<string> {
  return `${scheme}://127.0.0.1:${(await listen(server)).port}`
}

/** Listens until the test ends, or until it is closed with all of its connections. */
export async function listen(
  server: Server,
  { port = 0, host = '127.0.0.1' }: { port?: number; host?: string } = {},
): Promise<{ port: number; close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => void server.listen(port, host, resolve))
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  onTestFinished(close)
  return { port: (server.address() as AddressInfo).port, close }
}
