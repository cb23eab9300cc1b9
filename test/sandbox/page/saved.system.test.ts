/** A chat saved as a test passes unchanged, and fails if the bot answers otherwise. */
import { execFile, works } from '../../support/programs.ts'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox } from '../../../src/sandbox/create.ts'
import { hasBrowser, TestBrowser, type Tab } from '../../support/browser.ts'
import { GO_CACHE, hasGo } from '../../support/go-bot.ts'
import { startPageStage, type PageStage } from '../../support/page-stage.ts'
import { write } from '../../support/page-use.ts'
import { png } from '../../support/png.ts'

const REPOSITORY = join(import.meta.dirname, '../../..')
const hasPytest = works('pytest is not installed', 'python3', '-m', 'pytest', '--version')

interface Update {
  updateId: number
  message?: { id: number; text?: string; media?: unknown[]; chat: { id: number } }
  callbackQuery?: { id: string }
}

describe.skipIf(!hasBrowser)('a chat saved as a test', () => {
  const parts = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'postern-saved-'))
  const stop = new AbortController()
  let stage: PageStage
  let tab: Tab
  let greeting = 'you said: '
  let seed = ''

  beforeAll(async () => {
    symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'))
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
  afterAll(async () => {
    await parts.disposeAsync()
    rmSync(folder, { recursive: true, force: true })
  })

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

  /** Runs a program beside the bot, which lives in this process. */
  const run = (program: string, args: string[], env: NodeJS.ProcessEnv = {}) =>
    new Promise<{ code: number; output: string }>((resolve) => {
      const options = { cwd: folder, env: { ...process.env, ...env }, timeout: 100_000 }
      execFile(program, args, options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, output: stdout + stderr })
      })
    })

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
    writeFileSync(join(folder, file), written)
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
    const text = await saved('Vitest', 'saved.test.js')
    // Before any of them runs, and writes into the chat itself.
    await saved('pytest', 'test_saved.py')
    await saved('Go', 'saved_test.go')
    await saved('Shell', 'saved.sh')
    seed = await saved('Seed', 'saved.json')
    expect(text).toMatch(/await call\('advance', \{ ms: 60000 \}\)/)
    expect(text).toMatch(/await fault\(\{.*name: "lost-answer"/)
    expect(text).toMatch(/await press\(id_alice, chat\d+, "open-it", "It \\"creaks\\"."\)/)
    expect(text).toContain('await attach(')
    expect(text).not.toContain(stage.sandbox.token)
  })

  const vitest = (): ReturnType<typeof run> =>
    run(process.execPath, [
      join(REPOSITORY, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      folder,
    ])

  test(
    'a saved chat passes with Vitest, and fails if the bot answers otherwise',
    { timeout: 200_000 },
    async () => {
      const { code, output } = await vitest()
      expect([code, output]).toEqual([0, expect.stringContaining('1 passed')])
      greeting = 'you wrote: '
      const failed = await vitest()
      greeting = 'you said: '
      expect(failed.code).toBe(1)
      expect(failed.output).toMatch(/you wrote: it's/)
    },
  )

  test.skipIf(!hasPytest)('a saved chat passes with pytest', { timeout: 120_000 }, async () => {
    const { code, output } = await run('python3', ['-m', 'pytest', '-q', 'test_saved.py'])
    expect([code, output]).toEqual([0, expect.stringContaining('1 passed')])
  })

  test.skipIf(!hasGo)('a saved chat passes with Go', { timeout: 240_000 }, async () => {
    const env = { GOCACHE: GO_CACHE, GOPROXY: 'off', CGO_ENABLED: '0', GOFLAGS: '' }
    const { code, output } = await run('go', ['test', './saved_test.go'], env)
    expect([code, output]).toEqual([0, expect.stringContaining('ok')])
  })

  test('a saved chat passes as a shell script', { timeout: 120_000 }, async () => {
    const env = { POSTERN: `${process.execPath} ${join(REPOSITORY, 'bin/postern.cjs')}` }
    const { code, output } = await run('sh', ['saved.sh'], env)
    expect([code, output]).toEqual([0, expect.stringContaining('passed')])
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
