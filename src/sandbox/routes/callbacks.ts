import { CallbackAnswer } from '../../api/callback.ts'
import { LIMITS } from '../../api/limits.ts'
import { no } from '../failure.ts'
import { read, type Handler } from './call.ts'

/** POST /callbacks/{callbackId}/answer: once, within 60 seconds of the press. */
export const answerCallback: Handler = ({ world, bot, params, body }) => {
  const { text, alert, url } = read(CallbackAnswer, body === undefined ? {} : body)
  const press = bot.presses.get(params['callbackId'] ?? '')
  if (press === undefined) throw no('callback_not_found', 'no such press for this bot')
  if (press.answer !== null) throw no('callback_answered', 'already answered')
  if (world.clock.now() - press.pressedAt > LIMITS.callbackWindowMs) {
    throw no('callback_expired', 'more than 60 seconds since the press')
  }
  press.answer = { text: text ?? null, alert, url: url ?? null }
  world.emit({ kind: 'answer', press, answer: press.answer })
  return { result: { answered: true } }
}
