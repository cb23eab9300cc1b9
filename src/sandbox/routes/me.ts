import { botView } from '../views/bot.ts'
import type { Handler } from './call.ts'

/** GET /me */
export const getMe: Handler = ({ bot }) => ({ result: botView(bot) })
