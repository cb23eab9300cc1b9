import type { FaultStrike } from '../faults/faults.ts'
import type { WorldEvent } from '../state.ts'
import type { TranscriptEvent } from '../transcript.ts'
import type { World } from '../world.ts'
import type { EventBody } from './event.ts'
import type { EventLog } from './log.ts'

/** Records in a log what happens in a world, from now on until it is closed. */
export function recordEvents(world: World, log: EventLog): void {
  const append = (body: EventBody): void => {
    if (!world.closing.signal.aborted) log.append(world.clock.now(), body)
  }
  world.onEvent((event) => append(ofWorld(event)))
  world.transcript.onCall((event) => append(ofCall(event)))
  world.faults.onStrike((strike) => append(ofStrike(strike)))
}

function ofCall({ phase, call }: TranscriptEvent): EventBody {
  const { n, by, method, path, status } = call
  return { kind: 'call', phase, n, by, method, path, status }
}

function ofStrike({ fault, route, botId }: FaultStrike): EventBody {
  const { id: faultId, name } = fault
  return { kind: 'fault', faultId, name, route: route ?? null, botId: botId ?? null }
}

function ofWorld(event: WorldEvent): EventBody {
  switch (event.kind) {
    case 'message': {
      const { id: messageId, fromId, kind: notice } = event.message
      const chatId = event.chat.id
      return {
        kind: 'message',
        chatId,
        messageId,
        fromId,
        notice: notice === 'user' ? null : notice,
      }
    }
    case 'edited': {
      const { kind, chat, message } = event
      return { kind, chatId: chat.id, messageId: message.id, fromId: message.fromId }
    }
    case 'deleted':
      return { kind: 'deleted', chatId: event.chat.id, messageId: event.messageId }
    case 'typing': {
      const { kind, chat, botId, typing } = event
      return { kind, chatId: chat.id, botId, typing }
    }
    case 'answer': {
      const { id: callbackId, botId, userId, chatId, messageId } = event.press
      return { kind: 'answer', callbackId, botId, userId, chatId, messageId, ...event.answer }
    }
    case 'key':
      return { kind: 'key', userId: event.userId, fingerprint: event.key?.fingerprint ?? null }
    case 'queued': {
      const { kind, botId, update } = event
      return { kind, botId, updateId: update.updateId, updateKind: update.kind }
    }
    case 'notice':
      return { kind: 'notice', botId: event.botId, notice: event.notice.kind }
    case 'delivered':
    case 'failed':
    case 'clock':
    case 'step':
      break
  }
  return event
}
