/** Connections of a door and answers that are not finished, played by hand. */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Connections, PendingResponses } from '../../src/http/connections.ts'

class PlayedSocket extends EventEmitter {
  readonly ended: string[] = []
  writableLength = 0
  destroy(): void {
    this.ended.push('destroyed')
  }
  destroySoon(): void {
    this.ended.push('destroyed soon')
  }
}

function played(o: { connections?: number; requestsPerConnection?: number } = {}) {
  const connections = new Connections({ connections: 2, requestsPerConnection: 3, ...o })
  return {
    connections,
    accept: () => {
      const socket = new PlayedSocket()
      connections.accept(socket as unknown as Socket)
      return socket
    },
    /** A request, whose `headers` are those set on its answer. */
    begin: (socket: PlayedSocket) => {
      const headers: string[] = []
      const response = Object.assign(new EventEmitter(), {
        headersSent: false,
        setHeader: (name: string, value: string) => headers.push(`${name}: ${value}`),
      })
      const request = { socket } as unknown as IncomingMessage
      connections.begin(request, response as unknown as ServerResponse)
      return { headers, response, close: () => response.emit('close') }
    },
  }
}
const last = ['connection: close']

test('one too many ends the connection that is idle for longest, and is taken', () => {
  const { accept, begin } = played()
  const [first, second] = [accept(), accept()]
  begin(first).close()
  const third = accept()
  expect([first.ended, second.ended, third.ended]).toEqual([[], ['destroyed'], []])
  const fourth = accept()
  expect([first.ended, third.ended, fourth.ended]).toEqual([['destroyed'], [], []])
})

test('one too many is closed while all others are busy or still sending', () => {
  const { accept, begin } = played()
  const [first, second] = [accept(), accept()]
  const { close } = begin(first)
  second.writableLength = 1
  const third = accept()
  expect([first.ended, second.ended, third.ended]).toEqual([[], [], ['destroyed']])
  close()
  const fourth = accept()
  expect([first.ended, second.ended, fourth.ended]).toEqual([['destroyed'], [], []])
})

test('one that closed makes room, and is not closed again', () => {
  const { accept } = played()
  const [first, second] = [accept(), accept()]
  first.emit('close')
  accept()
  expect([first.ended, second.ended]).toEqual([[], []])
})

test('the answer to the last request of a connection closes it, and no earlier one', () => {
  const { accept, begin } = played()
  const socket = accept()
  expect([1, 2, 3].map(() => begin(socket).headers)).toEqual([[], [], last])
})

test('requests are under way until their answers have closed, oldest first', () => {
  const { connections, accept, begin } = played()
  const socket = accept()
  const [first, second] = [begin(socket), begin(socket)]
  const underWay = () =>
    connections.underWay(socket as unknown as Socket).map((one) => one.response)
  expect(underWay()).toEqual([first.response, second.response])
  first.close()
  expect(underWay()).toEqual([second.response])
  second.close()
  expect(underWay()).toEqual([])
  begin(new PlayedSocket()).close()
})

test('a door that stops closes idle connections, and busy ones with their answers', async () => {
  const { connections, accept, begin } = played({ connections: 9 })
  const [idle, busy] = [accept(), accept()]
  const answers = [begin(busy), begin(busy)]
  answers[1]!.response.headersSent = true
  connections.stop()
  const late = accept()
  expect([idle.ended, busy.ended, late.ended]).toEqual([['destroyed soon'], [], ['destroyed']])
  expect(answers.map(({ headers }) => headers)).toEqual([last, []])
  expect(begin(busy).headers).toEqual(last)
  let isClosed = false
  void connections.allClosed().then(() => (isClosed = true))
  for (const answer of answers) answer.close()
  expect(busy.ended).toEqual([])
  const other = begin(busy)
  connections.closeAll()
  expect([idle.ended, busy.ended]).toEqual([['destroyed soon', 'destroyed'], ['destroyed']])
  idle.emit('close')
  await immediate()
  expect(isClosed).toBe(false)
  busy.emit('close')
  await immediate()
  expect(isClosed).toBe(true)
  other.close()
  expect(busy.ended).toEqual(['destroyed'])
})

test('a busy connection closes once the last of its answers has', async () => {
  const { connections, accept, begin } = played()
  await connections.allClosed()
  const socket = accept()
  const answers = [begin(socket), begin(socket)]
  connections.stop()
  answers[0]!.close()
  expect(socket.ended).toEqual([])
  answers[1]!.close()
  expect(socket.ended).toEqual(['destroyed soon'])
})

test('a bot’s answers are waited for, and cut off after their time', async () => {
  const pending = new PendingResponses()
  await pending.allEnded(60_000)
  const [first, second] = [0, 1].map(() => {
    const response = Object.assign(new EventEmitter(), { isCut: false })
    return Object.assign(response, { destroy: () => (response.isCut = true) })
  }) as unknown as [EventEmitter & { isCut: boolean }, EventEmitter & { isCut: boolean }]
  for (const one of [first, second]) pending.add(one as unknown as ServerResponse)
  let isOver = false
  const ended = pending.allEnded(60_000).then(() => (isOver = true))
  first.emit('close')
  await immediate()
  expect(isOver).toBe(false)
  second.emit('close')
  await ended
  pending.add(second as unknown as ServerResponse)
  await pending.allEnded(1)
  expect([first.isCut, second.isCut]).toEqual([false, true])
})
