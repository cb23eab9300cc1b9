import { revokeToken as revoke } from '../rules/bots.ts'
import type { Handler } from './call.ts'

/** POST /token/revoke: burns the token in use; the owner is told. */
export const revokeToken: Handler = ({ world, bot }) => {
  revoke(world, bot)
  return { result: { revoked: true } }
}
