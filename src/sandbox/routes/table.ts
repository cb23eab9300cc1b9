import type { EndpointName } from '../../api/endpoints.ts'
import type { Handler } from './call.ts'
import { answerCallback } from './callbacks.ts'
import { getChat, getChatKeys, leaveChat } from './chats.ts'
import { deleteCommands, getCommands, putCommands } from './commands.ts'
import { deleteMessage } from './delete.ts'
import { editMessage } from './edit.ts'
import { putKey } from './key.ts'
import { getMe } from './me.ts'
import { getMember, getMembers } from './members.ts'
import { resolve } from './resolve.ts'
import { sendMessage } from './send.ts'
import { revokeToken } from './token.ts'
import { sendTyping } from './typing.ts'
import { getUpdates } from './updates.ts'
import { getUserKey } from './users.ts'
import { deleteWebhook, getWebhook, setWebhook } from './webhook.ts'

/** Every endpoint of the spec; the type sees to it that none is missing. */
export const HANDLERS: Record<EndpointName, Handler> = {
  getMe,
  getUpdates,
  getWebhook,
  setWebhook,
  deleteWebhook,
  putKey,
  getCommands,
  putCommands,
  deleteCommands,
  sendMessage,
  editMessage,
  deleteMessage,
  answerCallback,
  getChat,
  getChatKeys,
  getMembers,
  getMember,
  leaveChat,
  sendTyping,
  resolve,
  getUserKey,
  revokeToken,
}
