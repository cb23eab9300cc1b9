import { PutKey } from '../../api/user-key.ts'
import { publishBotKey } from '../rules/keys.ts'
import { read, type Handler } from './call.ts'

/** PUT /key: the fingerprint is taken as given (spec). */
export const putKey: Handler = ({ world, bot, body }) => {
  const { publicKey, fingerprint } = read(PutKey, body)
  publishBotKey(world, bot, { publicKey, fingerprint })
  return { result: { fingerprint, mode: 'protected' } }
}
