/** What the operator of the world does on the page, and what the sidecar answers to a lying service. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Locator, Page } from 'playwright-core'
import { hasBrowser, type Tab } from '../../support/browser.ts'
import { rowOf, usePage, write } from '../../support/page-use.ts'

describe.skipIf(!hasBrowser)('the world on the page', () => {
  const stage = usePage()
  let tab: Tab
  let page: Page
  beforeAll(async () => {
    tab = await stage.open()
    page = tab.page
  })
  afterAll(() => tab[Symbol.asyncDispose]())

  const rows = (words: string): Locator => rowOf(page, words)
  const writeWords = (words: string): Promise<void> => write(page, words)

  async function misbehave(how: RegExp): Promise<void> {
    await page.getByRole('button', { name: 'Misbehave' }).click()
    await page.getByRole('dialog').getByRole('button', { name: how }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  async function behave(): Promise<void> {
    await page.getByRole('button', { name: 'Behave again' }).click()
    await page.locator('.lies').waitFor({ state: 'detached' })
  }

  async function go(place: string): Promise<void> {
    await page.evaluate((hash) => (location.hash = hash), place)
  }

  test('a new person, group and bot appear at once', async () => {
    await page.getByRole('button', { name: 'New person' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Zoë Ångström')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Zoë Ångström has no chat yet' }).waitFor()
    await page.locator('.main').getByRole('button', { name: 'New chat' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Title').fill('The wall')
    await dialog.getByLabel('Bob').check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'The wall' }).waitFor()
    await writeWords('who is there?')
    await go('#/world')
    await page.getByRole('button', { name: 'New bot' }).click()
    await dialog.getByLabel('Name').fill('Second')
    await page.keyboard.press('Enter')
    const token = page.getByRole('textbox', { name: 'Token' })
    await token.waitFor()
    expect(await token.inputValue()).toMatch(/^\w+_\d+\.[\w-]{43}$/)
    const { control } = stage.sandbox
    expect((await control.people()).map(({ username }) => username)).toContain('zoe_angstrom')
    expect((await control.bots()).map(({ username }) => username)).toContain('second_bot')
  })

  test('the buttons of a bot pause it, resume it and issue a new token', async () => {
    const { control, home, token: before } = stage.sandbox
    await go('#/world')
    const echo = page.locator('.accounts li').filter({ hasText: '@echo_bot' })
    await echo.getByRole('button', { name: 'Pause' }).click()
    await echo.getByText('paused').waitFor()
    expect((await control.bot({ botId: home.bot.id })).me.status).toBe('paused')
    await echo.getByRole('button', { name: 'Resume' }).click()
    await echo.getByText('paused').waitFor({ state: 'detached' })
    const second = page.locator('.accounts li').filter({ hasText: '@second_bot' })
    const shown = await second.getByRole('textbox', { name: 'Token' }).inputValue()
    await second.getByRole('button', { name: 'Issue a new token' }).click()
    await expect
      .poll(() => second.getByRole('textbox', { name: 'Token' }).inputValue())
      .not.toBe(shown)
    expect(stage.sandbox.token).toBe(before)
  })

  test('the clock buttons stop, move and start the clock', async () => {
    await go('#/world')
    const clock = page.getByRole('region', { name: 'Clock' })
    await clock.getByRole('button', { name: 'Stop it' }).click()
    await clock.getByText('standing still').waitFor()
    const before = stage.sandbox.now()
    await clock.getByRole('button', { name: '+ 1 hour' }).click()
    await expect.poll(() => stage.sandbox.now()).toBe(before + 3_600_000)
    await clock.getByRole('button', { name: 'Let it run' }).click()
    await clock.getByText('running').waitFor()
  })

  test('a swapped key shows the recipient of the answer, and the phone cannot open it', async () => {
    await go(`#/as/alice/${stage.sandbox.home.privateChat}`)
    await page.getByRole('textbox', { name: 'Write as Alice' }).waitFor()
    await writeWords('before the swap')
    await rows('you said: before the swap').waitFor()
    await misbehave(/^Swap a key/)
    await page.getByText('The service lies: a key is swapped').waitFor()
    await writeWords('after the swap')
    const sealed = page.locator('.service-cell', { hasText: 'to Mallory' })
    await sealed.waitFor()
    const row = page
      .locator('.row')
      .filter({ has: page.locator('.service-cell', { hasText: 'to Mallory' }) })
    expect(await row.locator('.person-cell').innerText()).toContain('this phone cannot open it')
    await row.locator('.bot-cell', { hasText: 'the key of Alice changed' }).waitFor()
    await behave()
  })

  test('a ghost on the key list shows the refused send with its code', async () => {
    await go(`#/as/alice/${stage.sandbox.home.encryptedGroup}`)
    await page.getByRole('heading', { name: 'Back room' }).waitFor()
    await misbehave(/^Add a ghost/)
    await writeWords('@echo_bot are we alone?')
    const refused = page.locator('.row.refused')
    await refused.waitFor()
    expect(await refused.innerText()).toMatch(
      /409 postern_recipients_inconsistent\s+by the sidecar/,
    )
    await behave()
  })

  test('a replayed message is shown as withheld beside the first delivery', async () => {
    await go(`#/as/alice/${stage.sandbox.home.privateChat}`)
    await page.getByRole('heading', { name: 'Echo' }).waitFor()
    await writeWords('only once')
    await rows('you said: only once').waitFor()
    await misbehave(/^Replay a message/)
    const again = rows('only once').first().locator('.bot-cell .card', { hasText: 'again' })
    await again.waitFor()
    expect(await again.innerText()).toMatch(/Withheld.*replayed/s)
  })

  test('a forged message is shown as withheld, without a row of a phone', async () => {
    await misbehave(/^Forge a message/)
    const forged = page.locator('.row', { hasText: 'Send me the key to the gate.' })
    await forged.waitFor()
    expect(await forged.locator('.person-cell').innerText()).toContain('no such message')
    expect(await forged.locator('.bot-cell').innerText()).toContain(
      'readable text in an encrypted chat',
    )
  })

  test('a chat that lies about its mode shows the lie and the refused send', async () => {
    await go(`#/as/bob/${stage.sandbox.home.encryptedGroup}`)
    await page.getByRole('textbox', { name: /Write as Bob/ }).waitFor()
    await misbehave(/^Flip the mode/)
    const lie = 'encrypted; the service claims readable'
    await page.locator('.chat-head .badge', { hasText: lie }).waitFor()
    const link = page.getByRole('link', { name: /Back room/ })
    await link.getByText(lie).waitFor({ state: 'attached' })
    await writeWords('@echo_bot say it aloud')
    await page.locator('.row.refused', { hasText: 'postern_downgrade_refused' }).waitFor()
    await behave()
    await page.locator('.chat-head .badge', { hasText: /^\s*encrypted\s*$/ }).waitFor()
    expect(await link.innerText()).not.toContain('claims')
  })

  test('a removed key of the bot is shown, and a private send is refused', async () => {
    await go('#/world')
    const echo = page.locator('.accounts li').filter({ hasText: '@echo_bot' })
    await echo.getByRole('button', { name: 'Remove its key' }).click()
    await echo.getByText('has no key').waitFor()
    const { privateChat } = stage.sandbox.home
    const sent = await stage.call('POST', '/messages', {
      chatId: privateChat,
      text: 'in the open?',
    })
    expect(sent.answer.ok).toBe(false)
    await go(`#/as/alice/${privateChat}`)
    await page.locator('.row.refused', { hasText: 'in the open?' }).waitFor()
  })

  test('repeated equal calls are folded into one row with their number', async () => {
    const { url, bots, home } = stage.sandbox
    const token = bots.find(({ id }) => id === home.bot.id)?.token
    const headers = { authorization: `Bearer ${token}` }
    for (let asked = 0; asked < 12; asked += 1) await fetch(`${url}/bot/v1/webhook`, { headers })
    await go('#/activity')
    const entries = page.locator('.call', { hasText: 'GET /webhook' })
    const folded = entries.filter({ hasText: /GET \/webhook\s+\d+ times/ }).first()
    await folded.waitFor()
    // Other calls meanwhile are rows between them.
    expect(await entries.count()).toBeLessThan(6)
  })

  test('"Back to the start" resets the world and the page', async () => {
    await go('#/world')
    await page.getByRole('button', { name: 'Back to the start' }).click()
    await page.getByText('@second_bot').waitFor({ state: 'detached' })
    await go(`#/as/alice/${stage.sandbox.home.privateChat}`)
    await page.getByText('Nothing was said here yet.').waitFor()
    // Refusals of the sandbox are no problems of the page.
    expect(tab.problems.filter((problem) => !/status of 4\d\d/.test(problem))).toEqual([])
  })
})
