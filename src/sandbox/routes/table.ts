import type { EndpointName } from '../../api/endpoints.ts'
import * as bot from './bot.ts'
import type { RouteHandler } from './call.ts'
import * as chats from './chats.ts'
import * as commands from './commands.ts'
import * as messages from './messages.ts'
import * as people from './people.ts'
import * as updates from './updates.ts'

/** The handler of every endpoint of the spec. Each file exports those of its subject by their names. */
export const HANDLERS: Record<EndpointName, RouteHandler> = {
  ...bot,
  ...chats,
  ...commands,
  ...messages,
  ...people,
  ...updates,
}
