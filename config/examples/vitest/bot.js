/** A bot that counts votes. Needs nothing but Node. */
import { readFileSync } from 'node:fs'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'

export class Bot {
  offset = 0
  votes = {}

  constructor(baseUrl, token) {
    this.api = `${baseUrl}/bot/v1`
    this.headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  }

  async call(path, body) {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(this.api + path, { headers: this.headers, ...init })
    const { ok, result, error } = await response.json()
    if (!ok) throw Object.assign(new Error(error.message), error)
    return result
  }

  /** Waits for updates and handles them. */
  async poll(timeout = 50) {
    const updates = await this.call(`/updates?timeout=${timeout}&offset=${this.offset}`)
    for (const update of updates) {
      if (update.updateId < this.offset) continue // an update may come more than once
      await this.handle(update)
      this.offset = update.updateId + 1
    }
  }

  async handle({ message, callbackQuery }) {
    if (message !== undefined) await this.onMessage(message)
    else if (callbackQuery !== undefined) await this.onPress(callbackQuery)
  }

  async onMessage({ chat, text }) {
    if (text === '/vote') {
      const buttons = ['yes', 'no'].map((word) => ({ text: word, callbackData: word }))
      const markup = { inlineKeyboard: [buttons] }
      await this.call('/messages', { chatId: chat.id, text: 'Shall we?', markup })
    } else if (text) {
      await this.call('/messages', { chatId: chat.id, text: 'Write /vote to vote.' })
    }
  }

  async onPress({ id, data }) {
    this.votes[data] = (this.votes[data] ?? 0) + 1
    const answer = { text: `${data}: ${this.votes[data]}` }
    await this.call(`/callbacks/${id}/answer`, answer).catch((error) => {
      // too late to answer: the vote counts all the same
      if (error.code !== 'callback_expired') throw error
    })
  }
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const token = readFileSync(process.env.BOT_TOKEN_FILE, 'utf8').trim()
  const bot = new Bot(process.env.BASE_URL ?? 'http://127.0.0.1:8700', token)
  for (;;) await bot.poll() // ../bots/echo.mjs goes on in trouble, too
}
