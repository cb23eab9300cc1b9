import type { Case } from '../case.ts'
import { AUTHENTICATION } from './authentication.ts'
import { BOT_KEY } from './bot-key.ts'
import { CALLBACKS, PRESSES } from './callbacks.ts'
import { CHAT_KEYS } from './chat-keys.ts'
import { CHAT } from './chat.ts'
import { DELETE_COMMANDS, GET_COMMANDS, PUT_COMMANDS, SCOPES } from './commands.ts'
import { DELETE } from './delete.ts'
import { EDIT } from './edit.ts'
import { ENVELOPE } from './envelope.ts'
import { LEAVE } from './leave.ts'
import { MARKUP } from './markup.ts'
import { ME } from './me.ts'
import { MEDIA } from './media.ts'
import { MEMBER, MEMBERS } from './members.ts'
import { MESSAGE } from './message.ts'
import { MODES } from './modes.ts'
import { OWNER } from './owner.ts'
import { PEOPLE_EDITS } from './people-edits.ts'
import { PRIVACY } from './privacy.ts'
import { RATES } from './rates.ts'
import { READINGS } from './readings.ts'
import { RESOLVE } from './resolve.ts'
import { SEND, SEND_ID } from './send.ts'
import { SEND_TEXT } from './send-text.ts'
import { TYPING } from './typing.ts'
import { QUEUE, UPDATES } from './updates.ts'
import { USER_KEY } from './user-key.ts'
import { WEBHOOK } from './webhook.ts'
import { WEBHOOK_DELIVERY } from './webhook-delivery.ts'

/** Every case, in the order in which they are played. */
export const ALL_CASES: readonly Case[] = [
  ...ENVELOPE,
  ...AUTHENTICATION,
  ...ME,
  ...MODES,
  ...PRIVACY,
  ...MESSAGE,
  ...PEOPLE_EDITS,
  ...MEDIA,
  ...UPDATES,
  ...QUEUE,
  ...WEBHOOK,
  ...WEBHOOK_DELIVERY,
  ...BOT_KEY,
  ...GET_COMMANDS,
  ...PUT_COMMANDS,
  ...SCOPES,
  ...DELETE_COMMANDS,
  ...SEND,
  ...SEND_ID,
  ...SEND_TEXT,
  ...MARKUP,
  ...EDIT,
  ...DELETE,
  ...PRESSES,
  ...CALLBACKS,
  ...CHAT,
  ...LEAVE,
  ...CHAT_KEYS,
  ...USER_KEY,
  ...MEMBERS,
  ...MEMBER,
  ...TYPING,
  ...RESOLVE,
  ...OWNER,
  ...RATES,
  ...READINGS,
]
