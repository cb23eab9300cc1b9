/** Connections of a door beyond its limit, on sockets that are played. */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { Connections } from '../../src/http/connections.ts'

class PlayedSocket extends EventEmitter {
  readonly ended: string[] = []
  writableLength = 0
  destroy(): void {
    this.ended.push('destroyed')
  }
}

function played() {
  const connections = new Connections({ connections: 2, requestsPerConnection: 3 })
  return {
    accept: () => {
      const socket = new PlayedSocket()
      connections.accept(socket as unknown as Socket)
      return socket
    },
    /** @returns what closes the answer to a request */
    begin: (socket: PlayedSocket) => {
      const response = new EventEmitter() as ServerResponse
      connections.begin({ socket } as unknown as IncomingMessage, response)
      return () => response.emit('close')
    },
  }
}

test('a connection beyond the limit is accepted and ends the one idle for longest', () => {
  const { accept, begin } = played()
  const [first, second] = [accept(), accept()]
  begin(first)()
  const third = accept()
  expect([first.ended, second.ended, third.ended]).toEqual([[], ['destroyed'], []])
  const fourth = accept()
  expect([first.ended, third.ended, fourth.ended]).toEqual([['destroyed'], [], []])
})

test('a connection beyond the limit is closed while all others are busy or still sending', () => {
  const { accept, begin } = played()
  const [first, second] = [accept(), accept()]
  const close = begin(first)
  second.writableLength = 1
  const third = accept()
  expect([first.ended, second.ended, third.ended]).toEqual([[], [], ['destroyed']])
  close()
  const fourth = accept()
  expect([first.ended, second.ended, fourth.ended]).toEqual([['destroyed'], [], []])
})

test('a closed connection makes room for another and is not closed again', () => {
  const { accept } = played()
  const [first, second] = [accept(), accept()]
  first.emit('close')
  accept()
  expect([first.ended, second.ended]).toEqual([[], []])
})
