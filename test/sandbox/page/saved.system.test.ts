/** A chat saved as a scenario passes unchanged, and differs if the bot answers otherwise. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox } from '../../../src/sandbox/create.ts'
import { playScenario } from '../../../src/sandbox/scenario/play.ts'
import type { SeedInput } from '../../../src/sandbox/seed/schema.ts'
import { hasBrowser, TestBrowser, type Tab } from '../../support/browser.ts'
import { startPageStage, type PageStage } from '../../support/page-stage.ts'
import { write } from '../../support/page-use.ts'
import { png } from '../../support/png.ts'

interface Update {
  updateId: number
  message?: { id: number; text?: string; media?: unknown[]; chat: { id: number } }
  callbackQuery?: { id: string }
}

describe.skipIf(!hasBrowser)('a chat saved as a test', () => {
  const parts = new AsyncDisposableStack()
  const stop = new AbortController()
  let stage: PageStage
  let tab: Tab
  let greeting = 'you said: '
  let scenario: SeedInput
  let seed = ''

  beforeAll(async () => {
    stage = parts.use(await startPageStage())
    const bot = answerAll().catch(() => undefined)
    parts.defer(async () => {
      stop.abort()
      await bot
    })
    const browser = parts.use(await TestBrowser.start())
    const { home } = stage.sandbox
    tab = parts.use(await browser.open(`${stage.url}/#/as/alice/${home.privateChat}`))
  }, 60_000)
  afterAll(() => parts.disposeAsync())

  /** A bot that repeats what it reads, with a button below, and answers to it. */
  async function answerAll(): Promise<void> {
    for (let offset = 0; !stop.signal.aborted;) {
      const { answer } = await stage.call('GET', `/updates?timeout=1&offset=${offset}`)
      const { result } = answer as unknown as { result: Update[] }
      for (const { updateId, message, callbackQuery } of result) {
        offset = updateId + 1
        if (callbackQuery !== undefined) {
          await stage.call('POST', `/callbacks/${callbackQuery.id}/answer`, {
            text: 'It "creaks".',
          })
        } else if (message !== undefined) {
          const { chat, text = '', media = [] } = message
          const words = media.length > 0 ? `${text} (a file)` : text
          const markup = { inlineKeyboard: [[{ text: 'Open', callbackData: 'open-it' }]] }
          const said = { chatId: chat.id, text: greeting + words, markup }
          await stage.call('POST', '/messages', said)
        }
      }
    }
  }

  /** What the page saves of the chat in a form. */
  async function saved(form: string, file: string): Promise<string> {
    const { page } = tab
    await page.getByRole('button', { name: 'Save as a test' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: form, exact: true }).click()
    const text = dialog.getByRole('textbox', { name: file })
    await expect.poll(() => text.inputValue()).toContain('you said')
    const written = await text.inputValue()
    const link = await dialog.getByRole('link', { name: `Save ${file}` }).getAttribute('href')
    expect(decodeURIComponent(link ?? '').endsWith(written)).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    return written
  }

  test('a saved chat contains messages, files, presses, faults and clock steps, and no token', async () => {
    const { page } = tab
    await write(page, `it's "5 $HOME" \\ \`date\`, naïve 🗝`)
    await page.locator('.row', { hasText: "you said: it's" }).waitFor()
    await page.evaluate(() => (location.hash = '#/world'))
    await page.getByRole('button', { name: '+ 1 minute' }).click()
    await page.goBack()
    await page.getByRole('button', { name: 'Misbehave' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Lose an answer/ })
      .click()
    await page.locator('.lies').waitFor()
    await write(page, '-- after a minute\nin two lines')
    await page.locator('.row', { hasText: 'you said: -- after a minute' }).waitFor()
    await page.locator('.lies').waitFor({ state: 'detached' })
    const button = page.getByRole('button', { name: 'Open', exact: true }).last()
    await button.click()
    await page.getByText('answered: It "creaks".').first().waitFor()
    const picture = { name: 'a.png', mimeType: 'image/png', buffer: png(4, 4) }
    await page.getByLabel('Attach a file').setInputFiles(picture)
    await write(page, 'a picture')
    await page.locator('.row', { hasText: 'you said: a picture (a file)' }).waitFor()
    const text = await saved('Scenario', 'scenario.json')
    scenario = JSON.parse(text) as SeedInput
    seed = await saved('Seed', 'seed.json')
    const fault = expect.objectContaining({ name: 'lost-answer' })
    const answer = 'It "creaks".'
    for (const step of [
      { advance: { ms: 60_000 } },
      { fault },
      { press: expect.objectContaining({ userId: 'alice', data: 'open-it', answer }) },
      { sendMedia: expect.objectContaining({ text: 'a picture' }) },
    ]) {
      expect(scenario.steps).toContainEqual(step)
    }
    expect(text).not.toContain(stage.sandbox.token)
  })

  test('a saved chat passes as a scenario, and differs if the bot answers otherwise', async () => {
    const { control } = stage.sandbox
    await playScenario(control, scenario)
    greeting = 'you wrote: '
    const played = playScenario(control, scenario, { withinMs: 3000 })
    await expect(played).rejects.toThrow(/text: expected "you said: it's .*, got "you wrote: it's/)
    greeting = 'you said: '
  })

  test('a saved seed creates a world with the same messages', async () => {
    await using other = await createSandbox({ world: JSON.parse(seed) as object })
    const [chat] = await other.control.chats()
    const messages = await other.control.messages({ chatId: chat?.id ?? 0 })
    expect(messages.map(({ text }) => text)).toContain('you said: -- after a minute\nin two lines')
    expect(messages.at(0)?.text).toContain('naïve 🗝')
  })

  test('a test saved from Activity contains only the marked calls', async () => {
    const { page } = tab
    await page.evaluate(() => (location.hash = '#/activity'))
    await page.getByRole('searchbox').fill('in two lines')
    const rows = page.locator('.call', { hasText: /POST \/messages|GET \/updates/ })
    await rows.first().waitFor()
    for (const pick of await page.locator('.call .pick').all()) await pick.click()
    await page.getByRole('button', { name: /^Save \d+ marked as a test/ }).click()
    const text = page.getByRole('dialog').getByRole('textbox')
    await expect.poll(() => text.inputValue()).toContain('after a minute')
    expect(await text.inputValue()).not.toContain('a picture')
  })
})
